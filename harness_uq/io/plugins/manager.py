"""The plugins at hand: what they provide, and which were skipped.

Plugins are loaded one by one: what fails, breaks its contract or has a name that is taken is skipped and recorded.
Installing a plugin never changes a number: a plugin cannot replace a built-in method or reader, and of two plugins that
provide the same name neither is used.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import pluggy

from harness_uq._version import __version__
from harness_uq.data.estimands import MethodInfo
from harness_uq.io.plugins import hookspecs
from harness_uq.io.plugins.hookspecs import PROJECT
from harness_uq.io.plugins.protocols import Estimator, Format, Reader, Runner
from harness_uq.messages import Message
from harness_uq.messages.catalogue.plugins import PLUGIN_HOOK_FAILED, PLUGIN_SKIPPED
from harness_uq.messages.errors import PluginError, error_summary, unknown_name

if TYPE_CHECKING:
    from harness_uq.data.catalogue import Catalogue

_DISTRIBUTION = "harness-uq"
_RESERVED = {"bayes": "the name of the default methods"}


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name."""


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plugin, what it provides and what of it was skipped."""

    name: str  # of the entry point
    module: str  # that the entry point names
    distribution: str | None = None  # name and version of the package that installs it; None if it is unknown
    is_built_in: bool = False
    provides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names by plural, such as `methods`
    problems: tuple[str, ...] = ()  # why the plugin, or a part of it, was skipped

    @property
    def address(self) -> str:
        """Module and distribution, for messages."""
        return f"{self.module}, {self.distribution or 'not from a package'}"

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form."""
        provides = {
            plural: list(self.provides.get(plural, ())) for plural in ("methods", "readers", "output formats", "hooks")
        }
        return {**asdict(self), "provides": provides, "problems": list(self.problems), "is_skipped": self.is_skipped}

    @property
    def is_core(self) -> bool:
        """Whether it is a module of harness_uq, whose errors are ours."""
        return self.module.startswith("harness_uq.")

    @property
    def is_skipped(self) -> bool:
        """Whether nothing of it is used."""
        return bool(self.problems) and not self.provides


@dataclass(frozen=True, slots=True)
class Contract:
    """What a plugin must provide under one hook."""

    noun: str  # what messages call it, such as `method`; its plural adds an s
    hook: str  # that returns it
    required: Mapping[str, type | None]  # types of attributes by name; None for methods
    optional: Mapping[str, type | None] = field(default_factory=dict)

    def violation(self, thing: object) -> str | None:
        """Why an object does not fulfil the contract; None if it does."""
        if isinstance(thing, type):
            return f"{thing.__name__} is a class; return an instance of it"
        for name, required_type in (*self.required.items(), *self.optional.items()):
            try:
                value = getattr(thing, name)
            except AttributeError:
                if name in self.required:
                    return f"attribute {name!r} is missing"
            except Exception as error:
                return f"attribute {name!r} raised {error_summary(error)}"
            else:
                if reason := _wrong_value(value, required_type):
                    return f"attribute {name!r} {reason}"
        return None

    def label(self, thing: object) -> str:
        """What messages call an object that may lack everything, such as "method 'beta'"."""
        try:
            name = getattr(thing, "name", None)
        except Exception:
            name = None
        return f"{self.noun} {name!r}" if isinstance(name, str) else f"{self.noun} of type {type(thing).__name__}"


METHOD = Contract(
    "method",
    "harness_uq_estimators",
    required={"name": str, "info": MethodInfo, "why_unsupported": None, "estimate": None},
)
READER = Contract(
    "reader",
    "harness_uq_harnesses",
    required={"name": str, "find": None, "read": None},
    optional={
        "reads_stores": bool,
        "version": str,
        "objects": tuple,
        **dict.fromkeys(("accepts_object", "catalogue", "main", "parts", "read_object", "read_running", "restore")),
        **dict.fromkeys(("why_not", "write")),
    },
)
FORMAT = Contract(
    "output format",
    "harness_uq_formats",
    required={"name": str, "suffix": str, "accepts": object, "has_errors": bool, "needs_logs": bool, "render": None},
)


class PluginLoader:
    """Registers plugins with the pluggy manager, which calls the hooks, and collects what they provide."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(hookspecs.Hooks)
        self._plugins: dict[str, InstalledPlugin] = {}
        self._provides: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._problems: defaultdict[str, list[str]] = defaultdict(list)

    @property
    def plugins(self) -> tuple[InstalledPlugin, ...]:
        """Every plugin, with what it provides and its problems so far."""
        plugins = []
        for key, plugin in self._plugins.items():
            provides = {plural: tuple(sorted(names)) for plural, names in sorted(self._provides[key].items()) if names}
            plugins.append(replace(plugin, provides=provides, problems=tuple(self._problems[key])))
        return tuple(plugins)

    def register_installed(self) -> None:
        """Import and register the plugins of all installed distributions, sorted by name."""
        for described, entry in installed_plugins():
            key = self._add(described)
            try:
                plugin = entry.load()
            except (Exception, SystemExit) as error:
                self.add_problem(key, error_summary(error))
            else:
                self._register(key, plugin)

    def register(self, described: InstalledPlugin, plugin: object) -> None:
        """Register a plugin that has been imported."""
        self._register(self._add(described), plugin)

    def collect(self, contract: Contract) -> dict[str, T]:
        """By name, everything that fulfils the contract and whose name no other plugin uses."""
        offers: list[tuple[str, T]] = []
        for implementation in getattr(self.manager.hook, contract.hook).get_hookimpls():
            key = implementation.plugin_name
            offers += [(key, thing) for thing in self._call(key, implementation.function, contract)]
        owners: defaultdict[str, list[str]] = defaultdict(list)
        for key, thing in offers:
            owners[thing.name].append(key)
        accepted: dict[str, T] = {}
        for key, thing in offers:
            if reason := self._name_conflict(key, thing.name, contract, owners[thing.name]):
                self.add_problem(key, f"{contract.noun} {thing.name!r} has {reason}")
            else:
                accepted[thing.name] = thing
                self._provides[key][f"{contract.noun}s"].append(thing.name)
        return accepted

    def owner_of(self, contract: Contract, name: str) -> str:
        """Key of the plugin that provides this name."""
        return next(key for key in self._plugins if name in self._provides[key][f"{contract.noun}s"])

    def add_problem(self, key: str, reason: str) -> None:
        """Record why a plugin, or a part of it, is skipped."""
        if reason not in self._problems[key]:
            self._problems[key].append(reason)

    def _add(self, plugin: InstalledPlugin) -> str:
        key = plugin.name if plugin.name not in self._plugins else f"{plugin.name} ({plugin.address})"
        self._plugins[key] = plugin
        return key

    def _register(self, key: str, plugin: object) -> None:
        """Register the hooks of a plugin; a plugin with wrong hooks is skipped."""
        try:
            self._check_hooks(plugin)
            self.manager.register(plugin, name=key)
            self.manager.check_pending()
        except Exception as error:
            if self.manager.has_plugin(key):
                self.manager.unregister(name=key)
            reason = str(error) if isinstance(error, pluggy.PluginValidationError) else error_summary(error)
            self.add_problem(key, reason)
        if any(hook.plugin_name == key for hook in self.manager.hook.harness_uq_cluster_keys.get_hookimpls()):
            self._provides[key]["hooks"].append("harness_uq_cluster_keys")

    def _check_hooks(self, plugin: object) -> None:
        """Raise PluginError if a plugin implements no hook, or one that does not exist."""
        hooks = [name for name in vars(hookspecs.Hooks) if name.startswith(PROJECT)]
        implemented = [name for name in dir(plugin) if self.manager.parse_hookimpl_opts(plugin, name) is not None]
        for name in implemented:
            if name not in hooks:
                raise PluginError(unknown_name("hook", name, hooks))
        if not implemented:
            raise PluginError(f"no function is marked with @hookimpl. Available hooks: {', '.join(sorted(hooks))}.")

    def _call(self, key: str, hook: Callable[[], Iterable[T]], contract: Contract) -> list[T]:
        try:
            things = list(hook())
        except (Exception, SystemExit) as error:
            if self._plugins[key].is_core:
                raise
            self.add_problem(key, f"{contract.hook} raised {error_summary(error)}")
            return []
        violations = [(thing, contract.violation(thing)) for thing in things]
        for thing, reason in violations:
            if reason:
                self.add_problem(key, f"{contract.label(thing)}: {reason}")
        return [thing for thing, reason in violations if not reason]

    def _name_conflict(self, key: str, name: str, contract: Contract, owners: list[str]) -> str | None:
        """Why a plugin may not use this name; None if it may."""
        if self._plugins[key].is_built_in:
            return None
        if name in _RESERVED:
            return _RESERVED[name]
        if any(self._plugins[owner].is_built_in for owner in owners):
            return f"the name of a built-in {contract.noun}"
        if len(owners) == 1:
            return None
        others = sorted({f"plugin {owner!r}" for owner in owners if owner != key})
        return f"a name that {' and '.join(others) or 'the plugin'} also uses"


def installed_plugins() -> tuple[tuple[InstalledPlugin, EntryPoint], ...]:
    """Descriptions and entry points of all installed plugins; searched for again if a folder of `sys.path` changed."""
    return _search(tuple((folder, _time_of_change(folder)) for folder in sys.path))


@lru_cache(maxsize=1)  # the search reads the metadata of all packages: 15 ms where 280 are installed
def _search(folders: tuple[tuple[str, int], ...]) -> tuple[tuple[InstalledPlugin, EntryPoint], ...]:  # noqa: ARG001
    entries = sorted(entry_points(group=PROJECT), key=lambda entry: (entry.name, entry.value))
    return tuple((_described(entry), entry) for entry in entries)


def _time_of_change(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


def _described(entry: EntryPoint) -> InstalledPlugin:
    if entry.dist is None:
        return InstalledPlugin(entry.name, entry.value)
    metadata = entry.dist.metadata  # parsed at each access
    name = metadata["Name"]
    return InstalledPlugin(entry.name, entry.value, f"{name} {metadata['Version']}", is_built_in=name == _DISTRIBUTION)


def _wrong_value(value: object, required_type: type | None) -> str | None:
    if required_type is None:
        return None if callable(value) else f"must be a method, not {type(value).__name__}"
    if not isinstance(value, required_type):
        return f"must be of type {required_type.__name__}, not {type(value).__name__}"
    return "is empty" if value == "" else None


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the installed plugins provide, by name, and the pluggy manager for hooks that are called later."""

    estimators: dict[str, Estimator]
    harnesses: dict[str, Reader]
    catalogues: "Mapping[str, Catalogue]" = field(default_factory=dict)  # of the readers that have one
    formats: Mapping[str, Format] = field(default_factory=dict)  # without the built-in ones if no plugin adds one
    installed: tuple[InstalledPlugin, ...] = ()  # every plugin, with what it provides and what of it was skipped
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(PROJECT), repr=False)

    @property
    def warnings(self) -> tuple[Message, ...]:
        """One warning per plugin that was skipped, as a whole or in part."""
        return tuple(
            PLUGIN_SKIPPED(
                plugin=plugin.name,
                address=plugin.address,
                extent="" if plugin.is_skipped else " in part",
                reason="; ".join(plugin.problems),
            )
            for plugin in self.installed
            if plugin.problems
        )

    def provider_of(self, method: Estimator) -> str | None:
        """The plugin, or else the module, that provides a method; None for methods of harness_uq."""
        module = type(method).__module__
        if module.partition(".")[0] == "harness_uq":
            return None
        owner = next((one for one in self.installed if method.name in one.provides.get("methods", ())), None)
        return f"module {module}" if owner is None else f"plugin {owner.name!r} ({owner.address})"

    def cluster_keys(self, task: str, metadata: Mapping[str, object]) -> tuple[list[str], tuple[Message, ...]]:
        """Fields that plugins suggest as clusters of a task, best first, and a warning for each plugin that failed."""
        keys: list[str] = []
        warnings: list[Message] = []
        arguments = {"task": task, "metadata": metadata}
        for implementation in reversed(self.manager.hook.harness_uq_cluster_keys.get_hookimpls()):
            try:
                suggested = cast(
                    "str | Iterable[str]", implementation.function(*map(arguments.__getitem__, implementation.argnames))
                )
                keys += [suggested] if isinstance(suggested, str) else list(suggested)
            except Exception as error:
                reason = error_summary(error)
                plugin, hook = implementation.plugin_name, "harness_uq_cluster_keys"
                warnings.append(PLUGIN_HOOK_FAILED(plugin=plugin, hook=hook, reason=reason))
        return keys, tuple(warnings)


def built_in(name: str, module: str) -> InstalledPlugin:
    """The description of a plugin that harness_uq itself provides."""
    return InstalledPlugin(name, module, f"harness-uq {__version__}", is_built_in=True)


TABLES = built_in("tables", "harness_uq.io.tables.reader")


def collect_installed(contract: Contract, *core: InstalledPlugin) -> dict[str, T]:
    """What the installed plugins and some of harness_uq itself provide under one contract, by name."""
    loader = PluginLoader()
    loader.register_installed()
    for plugin in core:
        loader.register(plugin, import_module(plugin.module))
    return loader.collect(contract)


def installed_readers() -> dict[str, Reader]:
    """The readers of the installed plugins and that of tables, by name."""
    return collect_installed(READER, TABLES)


def import_messages_of_plugins() -> None:
    """Import the catalogues of messages of the installed plugins, which registers them: the module `messages` of each
    package, unless there is none or it cannot be imported.
    """
    for package in dict.fromkeys(described.module.partition(".")[0] for described, _ in installed_plugins()):
        with suppress(Exception):
            import_module(package + ".messages")


def runners() -> list[str]:
    """Names of the installed harnesses that `harness-uq NAME` can run, sorted."""
    harnesses: dict[str, Reader] = collect_installed(READER)
    return sorted(name for name, harness in harnesses.items() if isinstance(harness, Runner))


def entry_names() -> list[str]:
    """Names of the installed plugins, without loading any of them."""
    return sorted(entry.name for entry in entry_points(group=PROJECT))
