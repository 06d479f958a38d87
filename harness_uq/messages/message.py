"""Messages with stable codes: what harness_uq reports about a result, a log or a command."""

import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

from harness_uq.messages.control_characters import escape_control, visible
from harness_uq.messages.redaction import redact
from harness_uq.messages.similar_names import did_you_mean, suggestion

Severity = Literal["note", "warning", "refusal", "error"]
Status = Literal["ok", "not_estimable", "failed"]
Scalar: TypeAlias = str | int | float | bool | None
Param: TypeAlias = Scalar | tuple[Scalar, ...]
_NO_ACTION = "No action is required."


@dataclass(frozen=True, slots=True)
class Message:
    """One message, complete in itself: it can be pickled, stored and printed without the catalogue that defines it.

    Attributes
    ----------
    code : stable identifier such as `UQ104`
    name : short name such as `few-clusters`, which `--ignore` accepts as well
    severity : `note` (a fact), `warning` (something to act on), `refusal` (why there is no result) or `error`
    text : the sentence with its parameters filled in
    params : the numbers and names in the text
    is_ignored : True if the user asked not to see it; only notes and warnings can be ignored
    """

    code: str
    name: str
    severity: Severity
    text: str
    params: Mapping[str, Param] = field(default_factory=dict, hash=False)
    is_ignored: bool = False

    def __post_init__(self) -> None:
        """Names and texts of logs get visible escapes for control characters."""
        object.__setattr__(self, "text", escape_control(self.text))
        object.__setattr__(self, "params", {name: _without_control(value) for name, value in self.params.items()})

    def __str__(self) -> str:
        return self.text

    def at(self, path: str) -> "Message":
        """The message about a file, whose path opens its text."""
        path = redact(path)
        return replace(self, text=f"{path}: {self.text}", params={**self.params, "path": path})

    def of(self, systems: str) -> "Message":
        """The message about some of several systems, whose names open its text."""
        return replace(self, text=f"{systems}: {self.text}", params={**self.params, "systems": systems})

    def of_group(self, task: str, field: str, group: str) -> "Message":
        """The message about one group of the questions of a task, whose name opens its text."""
        return replace(self, text=f"{task}, {field} {group}: {self.text}", params={**self.params, "group": group})

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form; NaN and infinite parameters become None."""
        params = {name: _json_value(value) for name, value in self.params.items()}
        document = {"code": self.code, "name": self.name, "severity": self.severity, "text": self.text}
        return {**document, "params": params, **({"ignored": True} if self.is_ignored else {})}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Message":
        """The message that `to_dict` wrote."""
        params = {name: _plain_value(value) for name, value in document["params"].items()}
        is_ignored = bool(document.get("ignored", False))
        return cls(document["code"], document["name"], document["severity"], document["text"], params, is_ignored)


@dataclass(frozen=True, slots=True)
class MessageType:
    """A kind of message: its code, its template and its documentation. Calling it makes a `Message`.

    Attributes
    ----------
    code : prefix of the catalogue and three digits
    severity : of its messages
    template : format string with named fields, which `MessageFormatter` fills in
    meaning : what the message means and why it matters
    action : what the reader can do
    name : words joined by hyphens; by default those of its variable, see `message_types_in`
    is_prominent : whether it changes how a number is read, so that its first sentence is printed where other messages
        are only named

    Examples
    --------
    >>> few = MessageType.warning("UQ000", "Only {n:count cluster}.", "Meaning.", "Action.")
    >>> few(n=3).text
    'Only 3 clusters.'
    """

    code: str
    severity: Severity
    template: str
    meaning: str
    action: str = _NO_ACTION
    name: str = ""
    is_prominent: bool = False

    @classmethod
    def note(cls, code: str, template: str, meaning: str, action: str = _NO_ACTION, name: str = "") -> Self:
        """A type of messages that state a fact."""
        return cls(code, "note", template, meaning, action, name)

    @classmethod
    def warning(
        cls, code: str, template: str, meaning: str, action: str, name: str = "", *, is_prominent: bool = False
    ) -> Self:
        """A type of messages that the reader should act on."""
        return cls(code, "warning", template, meaning, action, name, is_prominent)

    @classmethod
    def refusal(cls, code: str, template: str, meaning: str, action: str, name: str = "") -> Self:
        """A type of messages that state why there is no result."""
        return cls(code, "refusal", template, meaning, action, name, is_prominent=True)

    @classmethod
    def error(cls, code: str, template: str, meaning: str, action: str, name: str = "") -> Self:
        """A type of messages about a failure."""
        return cls(code, "error", template, meaning, action, name, is_prominent=True)

    @property
    def fields(self) -> frozenset[str]:
        """Names of the parameters in the template."""
        return frozenset(_fields_of(self.template))

    def __call__(self, **params: object) -> Message:
        """A message with these parameters.

        Raises
        ------
        TypeError : if a parameter of the template is missing, or one is given that the template does not have
        """
        if params.keys() != self.fields:
            problems = {"missing": self.fields - params.keys(), "unexpected": params.keys() - self.fields}
            listed = "; ".join(f"{problem} {', '.join(sorted(names))}" for problem, names in problems.items() if names)
            raise TypeError(f"{self.code} {self.name}: {listed}")
        values = {name: _plain_value(value) for name, value in params.items()}
        text = MessageFormatter().vformat(self.template, (), values)
        return Message(self.code, self.name, self.severity, text, values)

    def summarize(self, messages: Sequence[Message]) -> str:
        """One text for several messages of this type, which differ in numbers only: numbers become ranges.

        Examples
        --------
        >>> few = MessageType.warning("UQ000", "Only {n:count cluster}.", "Meaning.", "Action.")
        >>> few.summarize([few(n=5), few(n=2), few(n=3)])
        'Only 2 to 5 clusters.'
        """
        values = {name: _range_of([message.params[name] for message in messages]) for name in self.fields}
        return MessageFormatter().vformat(self.template, (), values)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The smallest and the largest of several numbers."""

    low: float
    high: float


class MessageFormatter(string.Formatter):
    """Format strings with counts, lists and percentages.

    ====================  =========================  ====================
    specification         value                      text
    ====================  =========================  ====================
    `count question`      1, 1319                    1 question, 1,319 questions
    `count entry|entries` 2                          2 entries
    `count {unit}`        2, with `unit="task"`      2 tasks
    `plural has|have`     1, 2                       has, have
    `join`, `join or`     ("a", "b", "c")            a, b and c; a, b or c
    `quote`               ("a", "b")                 'a' and 'b'
    `percent`             0.95, 0.005                95 %, 1 %
    `percent.1`           0.005                      0.5 %
    `sentence`, `clause`  "It is empty"              It is empty. (with and without its full stop)
    `nearest {name}`      ("wilson", "bayes")        ` Did you mean 'wilson'?`, with `name="wilsn"`
    `nearest {name}|them` ("wilson", "bayes")        the same with ` Available them: wilson, bayes.`
    `count question`      NumberRange(20, 50)        20 to 50 questions; numbers in other formats likewise
    anything else         as in `format`
    ====================  =========================  ====================
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """The value in words, or as `format` gives it."""
        kind, _, argument = format_spec.partition(" ")
        if isinstance(value, NumberRange):
            low, high = (self.format_field(number, format_spec) for number in (value.low, value.high))
            return high if low == high or kind == "plural" else f"{low.partition(' ')[0]} to {high}"
        if kind in ("count", "plural"):
            singular, _, plural = argument.partition("|")
            word = singular if value == 1 else plural or f"{singular}s"
            return word if kind == "plural" else f"{value:,} {word}"
        if kind == "join":
            return join_words(value, argument or "and")
        if kind == "quote":
            return join_words([repr(item) for item in value], argument or "and")
        if kind in ("sentence", "clause"):
            return str(value).rstrip(". ") + ("." if kind == "sentence" else "")
        if kind == "nearest":
            name, has_plural, plural = argument.rpartition("|")
            return suggestion(name, value, plural) if has_plural else did_you_mean(argument, value)
        if kind.startswith("percent"):
            digits = int(kind.partition(".")[2] or 0)
            return f"{round(100 * value, digits) + 0.0:.{digits}f} %"
        return str(super().format_field(value, format_spec))


def join_words(words: Iterable[object], conjunction: str = "and") -> str:
    """The words as a list in a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


@dataclass(frozen=True, slots=True)
class MessageCatalogue:
    """The message types of one package.

    Attributes
    ----------
    prefix : letters that open each code, such as `UQ`
    title : heading of the documentation page
    types : each code and each name occurs once
    """

    prefix: str
    title: str
    types: tuple[MessageType, ...]

    def __post_init__(self) -> None:
        seen = set[str]()
        for kind in self.types:
            digits = kind.code.removeprefix(self.prefix)
            if not (kind.code.startswith(self.prefix) and digits.isdecimal() and len(digits) == 3):
                raise ValueError(f"code {kind.code!r} is not {self.prefix} and three digits")
            if kind.severity not in get_args(Severity):
                raise ValueError(f"{kind.code}: unknown severity {kind.severity!r}")
            for label in (kind.code, kind.name):
                if label in seen:
                    raise ValueError(f"{label!r} occurs twice in the catalogue {self.title!r}")
                seen.add(label)


class MessageRegistry:
    """Catalogues by prefix."""

    def __init__(self) -> None:
        self._catalogues: dict[str, MessageCatalogue] = {}
        self._types: dict[str, MessageType] = {}

    def __iter__(self) -> Iterator[MessageCatalogue]:
        return iter(self._catalogues.values())

    def register(self, catalogue: MessageCatalogue) -> MessageCatalogue:
        """Add a catalogue; adding the same one again has no effect. Raises ValueError if the prefix, a code or a name
        belongs to another catalogue.
        """
        if self._catalogues.get(catalogue.prefix) == catalogue:
            return catalogue
        if catalogue.prefix in self._catalogues:
            raise ValueError(f"prefix {catalogue.prefix!r} belongs to {self._catalogues[catalogue.prefix].title!r}")
        labels = {label: kind for kind in catalogue.types for label in (kind.code, kind.name)}
        if taken := sorted(labels.keys() & self._types.keys()):
            raise ValueError(f"{taken[0]!r} belongs to another catalogue")
        self._catalogues[catalogue.prefix] = catalogue
        self._types |= labels
        return catalogue

    def find(self, label: str) -> MessageType | None:
        """The message type with this code or name; None if there is none."""
        return self._types.get(label) or self._types.get(label.upper())

    @property
    def labels(self) -> list[str]:
        """All codes and names, sorted."""
        return sorted(self._types)


class HasMessages:
    """Notes, warnings and the refusal of an object with a tuple of `messages`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def messages(self) -> tuple[Message, ...]:
            """Messages of every severity, in order."""

    @property
    def notes(self) -> tuple[Message, ...]:
        """Facts that the reader may ignore; without the ignored ones."""
        return with_severity(self.messages, "note")

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What the reader should act on; without the ignored ones."""
        return with_severity(self.messages, "warning")

    @property
    def reason(self) -> Message | None:
        """Why there is no result: the first refusal, or else the first error; None if there is neither."""
        return next(iter((*with_severity(self.messages, "refusal"), *self.errors)), None)

    @property
    def errors(self) -> tuple[Message, ...]:
        """Unexpected failures."""
        return with_severity(self.messages, "error")


def status_of(messages: Iterable[Message], *, has_result: bool) -> Status:
    """`ok` with a result; without one `failed` if there was an unexpected error, else `not_estimable`."""
    if has_result:
        return "ok"
    return "failed" if with_severity(messages, "error") else "not_estimable"


def distinct(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages, each once, in order."""
    return tuple(dict.fromkeys(messages))


def message_types_in(namespace: dict[str, Any]) -> tuple[MessageType, ...]:
    """The message types that a module defines, in order; `FEW_CLUSTERS` is named `few-clusters`, unless it has a name.

    Parameters
    ----------
    namespace : the `globals()` of the module, in which types without a name are replaced by types with one
    """
    types = {variable: value for variable, value in namespace.items() if isinstance(value, MessageType)}
    for variable, kind in types.items():
        namespace[variable] = replace(kind, name=kind.name or variable.lower().replace("_", "-"))
    return tuple(map(namespace.__getitem__, types))


def with_severity(messages: Iterable[Message], *severities: Severity) -> tuple[Message, ...]:
    """The messages of these severities that are not ignored."""
    return tuple(one for one in messages if one.severity in severities and not one.is_ignored)


def mark_ignored(messages: Iterable[Message], labels: "frozenset[str]") -> tuple[Message, ...]:
    """The messages, of which notes and warnings with one of these codes or names are marked as ignored."""
    return tuple(
        replace(one, is_ignored=True) if one.severity in ("note", "warning") and {one.code, one.name} & labels else one
        for one in messages
    )


def join_messages(messages: Iterable[Message]) -> str:
    """`CODE name: text` of each, joined by semicolons: one cell of a table."""
    return "; ".join(f"{one.code} {one.name}: {one.text}" for one in messages)


def _fields_of(template: str) -> Iterator[str]:
    """Names of the fields of a format string, those in its specifications included."""
    for _, name, specification, _ in string.Formatter().parse(template):
        if name:
            yield name
            yield from _fields_of(specification or "")


def _range_of(values: Sequence[Param]) -> Param | NumberRange:
    """The range of numbers that differ; otherwise the value that they share."""
    if len(set(values)) == 1:
        return values[0]
    numbers = [value for value in values if isinstance(value, int | float)]
    return NumberRange(min(numbers), max(numbers))


def _plain_value(value: Any) -> Param:
    """A parameter as a plain Python value without secrets: numpy scalars are unpacked, sequences become tuples."""
    if value is None or type(value) in (bool, int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        return redact(str(value))
    if isinstance(value, Sequence | set | frozenset):
        return tuple(_plain_value(item) for item in value)  # type: ignore[misc]
    if callable(item := getattr(value, "item", None)):
        return _plain_value(item())
    return str(value)


def _without_control(value: Param) -> Param:
    if isinstance(value, tuple):
        return tuple(visible(item) if isinstance(item, str) else item for item in value)
    return visible(value) if isinstance(value, str) else value


def _json_value(value: Param) -> object:
    if isinstance(value, tuple):
        return [_json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
