"""Convert a log file to a `TaskLog`."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.plugin_api import AggregateScore, HarnessResult, LogError, Message, Scores, Source, TaskLog
from harness_uq_inspect.messages import FORMAT_TOO_OLD, UNSCORED_RUN
from harness_uq_inspect.read.harness_results import declared_cluster, epochs_of, headline_score, reported_by
from harness_uq_inspect.read.log_notes import contradictions, endings_of, is_short, notes_on, warnings_on
from harness_uq_inspect.read.questions import build_questions, dataset_order
from harness_uq_inspect.read.samples import Log, read_log, read_shards
from harness_uq_inspect.read.score_columns import Frame, columns_of, make_frame
from harness_uq_inspect.read.scores import (
    MetricKey,
    data_of,
    disagreements,
    printed_scores,
    totals_alone,
    without_other_quantities,
)
from harness_uq_inspect.read.settings import attempt_of, chance_of, run_metadata, system_name

if TYPE_CHECKING:
    from harness_uq.plugin_api import Resources
    from harness_uq_inspect.read.resources import Key, SampleResources

HARNESS = "inspect"
_OLDEST_VERSION = 2


def read_task_log(*paths: str, with_resources: bool = False) -> TaskLog:
    """The task of one log file, or of the shards of a log, on request with the resources of its samples. Raises
    LogError if the file is not a log or cannot be read.
    """
    log = read_log(paths[0]) if len(paths) == 1 else read_shards(paths)
    if not with_resources:
        return task_log_of(log, paths[0])
    from harness_uq_inspect.read.resources import read_sample_resources

    return task_log_of(log, paths[0], read_sample_resources(paths))


def task_log_of(log: Log, path: str, resources: "Mapping[Key, SampleResources] | None" = None) -> TaskLog:
    """The task of a parsed log, or of samples collected during a run.

    `resources`: what the samples used, by question and epoch, if requested. Raises LogError if the format of the log is
    too old.
    """
    header = log.header
    if header.version < _OLDEST_VERSION:
        raise LogError(FORMAT_TOO_OLD(version=header.version))
    frame = _frame(log)
    data, printed, messages = _scores(log, frame)
    return TaskLog(
        system=system_name(header),
        task=header.eval.task,
        source=Source(
            path,
            HARNESS,
            (header.eval.packages or {}).get("inspect_ai"),
            header.eval.created,
            attempt=attempt_of(header, sum(bool(cell.scores) for cell in log.cells.values()), _hash_of(frame, data)),
        ),
        questions=build_questions(log.documents, frame.questions),
        data=tuple(data),
        reported=printed,
        declared=declared_cluster(header),
        facts=replace(run_metadata(header, frame.epochs, frame.questions), chance=chance_of(log.cells.values())),
        messages=(*notes_on(log, frame), *warnings_on(log), *messages),
        resources=None if resources is None else _resources(resources, log, frame),
        ended_by=endings_of(log, frame),
    )


def _resources(samples: "Mapping[Key, SampleResources]", log: Log, frame: Frame) -> "Resources":
    from harness_uq_inspect.read.resources import resources_of

    return resources_of(samples, log.cells, frame, log.header.eval)


def printed_positions(log: Log) -> dict[MetricKey, int]:
    """Index in `results.scores` of the entry for each metric and filter."""
    scores = log.header.results.scores if log.header.results else []
    frame = _frame(log)
    columns, _ = columns_of(log, frame)
    printed = printed_scores(columns, frame)
    for total, score in totals_alone(columns, frame):
        printed.setdefault((total.metric, total.filter), score)
    index_of = {id(score): index for index, score in enumerate(scores)}
    return {key: index_of[id(score)] for key, score in printed.items()}


def _hash_of(frame: Frame, data: Iterable[Scores | AggregateScore]) -> str:
    """Hash of the questions and their scores, which is the same in each copy of a log."""
    content = hashlib.blake2b("\n".join(frame.questions).encode(errors="surrogatepass"), digest_size=16)
    for item in data:
        content.update(repr((item.metric, item.filter)).encode(errors="surrogatepass"))
        content.update(item.values.tobytes() if isinstance(item, Scores) else repr(item.value).encode())
    return content.hexdigest()


def _frame(log: Log) -> Frame:
    epochs = epochs_of(log.header, len({epoch for _, epoch in log.cells}))
    questions = dict.fromkeys(question for question, _ in log.cells)
    if not questions:
        questions = dict.fromkeys(str(sample.sample_id) for reduction in log.reductions for sample in reduction.samples)
    return make_frame(log, dataset_order(log.header.eval.dataset.sample_ids, questions), epochs)


def _scores(
    log: Log, frame: Frame
) -> tuple[list[Scores | AggregateScore], dict[MetricKey, HarnessResult], list[Message]]:
    """Data, Inspect's own numbers, and messages."""
    columns, messages = columns_of(log, frame)
    data = [item for column in columns for item in data_of(column, frame)]
    printed = printed_scores(columns, frame)
    data = list(without_other_quantities(data, printed, frame))
    differences = list(disagreements(data, printed, frame))
    for total, score in totals_alone(columns, frame):
        data.append(total)
        printed.setdefault((total.metric, total.filter), score)
    if (headline := headline_score(log.header)) is not None:
        data.sort(key=lambda item: printed.get((item.metric, item.filter)) is not headline)
    messages += [message for message in differences if message.severity == "note"]
    messages += [] if data else [UNSCORED_RUN()]
    messages += contradictions(log, frame, columns)
    if not (is_short(log) or log.header.invalidated or log.damaged):
        messages += [message for message in differences if message.severity == "warning"]
    reported = {key: reported_by(score, frame.header, frame.epochs) for key, score in printed.items()}
    return data, reported, messages
