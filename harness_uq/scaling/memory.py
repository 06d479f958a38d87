"""What a scan knows from a store, and what it leaves there."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.estimating.analysis import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.scaling.kept import Keeping
from harness_uq.scaling.keys import key_of, options_text, part_id, software_of
from harness_uq.scaling.parts import Batch, Key, Part
from harness_uq.scaling.runs import RunDone
from harness_uq.scaling.store import Store, drop_replaced
from harness_uq.scaling.work import BatchDone


class Memory:
    """A store in use.

    Parameters
    ----------
    folder : of the store
    plugins : whose versions count
    options : of the estimates wanted; None where none are
    keeps_logs : whole task logs are wanted, so that estimates alone are not enough
    """

    def __init__(self, folder: str, plugins: Plugins, options: Options | None, *, keeps_logs: bool) -> None:
        self._store = Store(folder)
        self._options = None if options is None else options_text(options)
        self._keeps_logs = keeps_logs
        self._held = {entry.key.part for entry in self._store.entries}
        self._replaces = False
        self.keeping = Keeping(software_of(plugins), self._options)

    def split(self, parts: Sequence[Part]) -> tuple[dict[Part, BatchDone], list[Part]]:
        """What the store knows, and the parts that have to be worked on."""
        keys = {part: key_of(part, self.keeping.software) for part in parts}
        kept: dict[Key, list[RunDone]] = {}
        if self._options is not None and not self._keeps_logs:
            kept = self._store.estimates(keys.values(), self._options)
        known = {part: BatchDone(kept[key]) for part, key in keys.items() if key in kept}
        return known, [self._with_place(part, key) for part, key in keys.items() if key not in kept]

    def keep(self, batch: Batch, done: BatchDone) -> None:
        """Write what a batch left for the store."""
        for kind, content in done.files.items():
            self._store.add(kind, content)
        self._replaces |= bool(done.files) and any(part_id(part) in self._held for part in batch)

    def settle(self) -> list[str]:
        """Drop what was replaced; what was wrong with the store, in words."""
        if self._replaces:
            drop_replaced(Store(self._store.folder))
        return [f"store: {place} {message}" for place, message in self._store.trouble]

    def _with_place(self, part: Part, key: Key) -> Part:
        place = self._store.logs_at(key)
        return part if place is None else replace(part, stored=(place, key))
