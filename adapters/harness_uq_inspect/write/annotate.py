"""Annotate one log with estimates: assign each estimate to the score in Inspect's results that it belongs to."""

from collections.abc import Mapping, Sequence

from harness_uq.plugin_api import Comparison, Estimate, LogError, Settings, __version__
from harness_uq_inspect.annotated_names import SCHEMA, SCORES_HASH
from harness_uq_inspect.read.harness_uq_metrics import scores_hash
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Json
from harness_uq_inspect.read.task_log import printed_positions
from harness_uq_inspect.write.annotations import Annotations
from harness_uq_inspect.write.writeback import write_annotations


def annotate_log(
    path: str,
    estimates: Sequence[Estimate],
    settings: Settings,
    *,
    target: str | None = None,
    keeps_original: bool = False,
    log: Log | None = None,
    positions: Mapping[tuple[str, str], int] | None = None,
    comparisons: Sequence[Comparison] = (),
    swaps_stderr: bool = True,
) -> Json:
    """Write estimates into a log, or into a copy of it, and return the new header.

    `settings`: settings of the estimation, recorded with the estimates. `target`: file to write; None overwrites the
    log. `keeps_original`: whether the block records the original for `restore`. `log`: the parsed content of `path`, if
    it is already in memory; not modified. `positions`: index in `results.scores` of each (metric, filter), if known.
    `comparisons`: comparisons with another run. `swaps_stderr`: whether the value of Inspect's `stderr` is replaced;
    its own value moves to the metric's metadata. Raises LogError if the log has no results or cannot be written; the
    log is then unchanged.
    """
    content = log or read_log(path)
    if content.header.results is None:
        raise LogError(f"the log has no results to which intervals can be added (status {content.header.status})")
    positions = positions or printed_positions(content)
    annotations = annotations_of(content, estimates, settings, positions, comparisons, swaps_stderr)
    return write_annotations(path, annotations, target=target, keeps_original=keeps_original)


def annotations_of(
    log: Log,
    estimates: Sequence[Estimate],
    settings: Settings,
    positions: Mapping[tuple[str, str], int],
    comparisons: Sequence[Comparison] = (),
    swaps_stderr: bool = True,
) -> Annotations:
    """The annotations of a log, with a hash of its current scores."""
    by_position = {positions[e.metric, e.filter]: e for e in estimates if (e.metric, e.filter) in positions}
    block: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "settings": dict(settings),
        SCORES_HASH: scores_hash(log),
        "estimates": [estimate.to_dict() for estimate in estimates],
    }
    if comparisons:
        block["comparisons"] = [comparison.to_dict() for comparison in comparisons]
    return Annotations(by_position, block, swaps_stderr)
