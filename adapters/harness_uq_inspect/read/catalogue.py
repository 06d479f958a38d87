"""Catalogue of known tasks and metrics of Inspect; the tasks are in `catalogue.json`."""

from functools import cache
from importlib.resources import files

import msgspec

from harness_uq.plugin_api import Catalogue, CatalogueEntry

_RANGES = (
    (r"acc|em|exact_match|exact|f1|contains", (0.0, 1.0)),
    (r"pass@\d+|pass_at_\d+|pass_k_\d+", (0.0, 1.0)),
    (r"brier_score", (0.0, 2.0)),
)
_SHARES = r"acc|exact_match|em|accuracy|match|includes|pattern|choice|answer"
_LOWER = r".*(perplexity|bits_per_byte|brier|error_rate|loss).*|ter|wer|cer|ece|mse|mae|rmse"
_JUDGED = r"(?:.+/)?model_graded_(?:qa|fact).*"
_EVENTS = {r"pass_at_(\d+)": r"pass@\1", r"pass_k_(\d+)": r"pass^\1"}


@cache
def load_catalogue() -> Catalogue:
    """Tasks by name, with or without a package; ranges and directions of Inspect's metrics, and metrics of graders."""
    content = files(__package__).joinpath("catalogue.json").read_bytes()
    entries = msgspec.json.decode(content, type=list[_Entry])
    tasks = tuple(
        CatalogueEntry(rf"(?:.+/)?(?:{e.tasks})", e.cluster_fields, e.strata, e.note, e.verified) for e in entries
    )
    return Catalogue(tasks, _RANGES, _SHARES, _LOWER, _EVENTS, _JUDGED)


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    tasks: str
    cluster_fields: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    note: str = ""
    verified: bool = False
