"""What a scan knows from a store, and what it leaves there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from harness_uq.estimating.analysis import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.scaling.kept import Keeping
from harness_uq.scaling.keys import key_of, options_text, part_id, software_of
from harness_uq.scaling.parts import Batch, Key, Part
from harness_uq.scaling.store import Store, drop_replaced
from harness_uq.scaling.work import BatchDone


class Memory:
    """A store in use.

    Parameters
    ----------
    folder : of the store
    parts : that are asked for
    plugins : whose versions count
    options : of the estimates wanted; None where none are
    keeps_logs : whole task logs are wanted, so that estimates alone are not enough
    """

    def __init__(
        self, folder: str, parts: Iterable[Part], plugins: Plugins, options: Options | None, *, keeps_logs: bool
    ) -> None:
        self._store = Store(folder)
        self._options = None if options is None else options_text(options)
        self._keeps_logs = keeps_logs
        self._replaces = False
        self.keeping = Keeping(software_of(plugins), self._options)
        self._unknown = {key_of(part, self.keeping.software): part for part in parts}

    def known(self) -> Iterator[tuple[Batch, BatchDone]]:
        """What the store knows, some parts at a time."""
        if self._options is None or self._keeps_logs:
            return
        for found in self._store.estimates(list(self._unknown), self._options):
            batch = tuple(self._unknown.pop(key) for key in found)
            yield batch, BatchDone([run for runs in found.values() for run in runs])

    def unknown(self) -> list[Part]:
        """The parts of which `known` did not tell, with the place of their task logs where the store has them."""
        parts, self._unknown = self._unknown, {}
        return [self._with_place(part, key) for key, part in parts.items()]

    def keep(self, batch: Batch, done: BatchDone) -> None:
        """Write what a batch left for the store."""
        for kind, content in done.files.items():
            self._store.add(kind, content)
        self._replaces |= bool(done.files) and any(part_id(part) in self._held for part in batch)

    @cached_property
    def _held(self) -> set[str]:
        return {entry.key.part for entry in self._store.entries}

    def settle(self) -> list[str]:
        """Drop what was replaced; what was wrong with the store, in words."""
        if self._replaces:
            drop_replaced(Store(self._store.folder))
        return [f"store: {place} {message}" for place, message in self._store.trouble]

    def _with_place(self, part: Part, key: Key) -> Part:
        place = self._store.logs_at(key)
        return part if place is None else replace(part, stored=(place, key))
