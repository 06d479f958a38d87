"""Save the results of a run so that a full disk leaves no truncated file.

lm-eval writes its files in place, reports a failure in its log only, and ends with exit code 0. Within a live session
it writes into a temporary folder beside the results, whose complete files are then moved to their place. If that fails,
the results are saved without the uncertainty, which takes most of the space in a run of many metrics.
"""

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, cast

from harness_uq.plugin_api import Message
from harness_uq_lm_eval.messages import RESULTS_NOT_SAVED, SAMPLES_NOT_SAVED, UNCERTAINTY_NOT_SAVED
from harness_uq_lm_eval.results_block import BLOCK, Results, without_block

_logger = logging.getLogger("harness_uq")


class Tracker(Protocol):
    """The part of lm-eval's `EvaluationTracker` that is used here."""

    output_path: str | None


def wrap_tracker(original: type, report: Callable[[Message], None]) -> type:
    """lm-eval's class that saves results; `report` receives the message if they are not saved, or only in part."""
    save_in_place: Callable[..., None] = original.save_results_aggregated  # type: ignore[attr-defined]
    save_samples_in_place: Callable[..., None] = original.save_results_samples  # type: ignore[attr-defined]
    fail = _once(report)

    class EvaluationTracker(original):  # type: ignore[misc]
        def save_results_aggregated(self, results: Results, samples: object = None) -> None:
            if not self.output_path or BLOCK not in results:
                save_in_place(self, results=results, samples=samples)
                return
            tracker = cast("Tracker", self)

            def save(content: Results) -> bool:
                return _save_completely(tracker, lambda: save_in_place(self, results=content, samples=samples))

            if not save(results):
                kind = UNCERTAINTY_NOT_SAVED if save(without_block(results)) else RESULTS_NOT_SAVED
                fail(kind(path=str(self.output_path)))

        def save_results_samples(self, task_name: str, samples: Sequence[object]) -> None:
            def save() -> None:
                save_samples_in_place(self, task_name=task_name, samples=samples)

            if not self.output_path or self.push_samples_to_hub:
                save()
            elif not _save_completely(cast("Tracker", self), save, lambda path: _n_lines(path) == len(samples)):
                fail(SAMPLES_NOT_SAVED(path=str(self.output_path)))

    EvaluationTracker.__qualname__ = original.__qualname__
    return EvaluationTracker


def _once(report: Callable[[Message], None]) -> Callable[[Message], None]:
    """Log and report a message, but only once if it concerns several tasks."""
    known: set[str] = set()

    def fail(message: Message) -> None:
        if message.text not in known:
            known.add(message.text)
            _logger.error("harness-uq: error: %s", message.text)
            report(message)

    return fail


def _save_completely(
    tracker: Tracker, save: Callable[[], None], is_complete: Callable[[Path], bool] | None = None
) -> bool:
    """Save into a temporary folder and move the files to the output path, if they are complete.

    Returns whether the files are in their place.
    """
    output = Path(str(tracker.output_path))
    is_file = output.suffix == ".json"
    root = output.parent if is_file else output
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root, prefix=".harness-uq-") as folder:
            tracker.output_path = str(Path(folder) / output.name) if is_file else folder
            try:
                save()
            finally:
                tracker.output_path = str(output)
            files = [path for path in Path(folder).rglob("*") if path.is_file()]
            if not files or not all(map(is_complete or _is_json, files)):
                return False
            for path in files:
                destination = root / path.relative_to(folder)
                destination.parent.mkdir(parents=True, exist_ok=True)
                path.replace(destination)
    except OSError as error:
        _logger.debug("the results cannot be saved: %s", error)
        return False
    return True


def _n_lines(path: Path) -> int:
    """Number of complete lines of a file."""
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True
