"""One log file as one `TaskLog`."""

from harness_uq import LogError, Reported, Scores, Source, TaskLog, Totals
from harness_uq_inspect.read.columns import Frame, columns_of, make_frame
from harness_uq_inspect.read.consistency import contradictions
from harness_uq_inspect.read.headline import headline_score
from harness_uq_inspect.read.questions import build_questions, dataset_order
from harness_uq_inspect.read.remarks import is_short, notes_on, warnings_on
from harness_uq_inspect.read.reported import declared_cluster, epochs_of, reported_by
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.scores import MetricKey, data_of, disagreements, printed_scores, totals_alone
from harness_uq_inspect.read.settings import run_facts, system_name
from harness_uq_inspect.read.shards import read_shards

HARNESS = "inspect"
_OLDEST_VERSION = 2


def read_task_log(*paths: str) -> TaskLog:
    """The task of one log file, or of the shards of a log in the making.

    Raises
    ------
    LogError : if the file is no log, or none that can be read
    """
    return task_log_of(read_log(paths[0]) if len(paths) == 1 else read_shards(paths), paths[0])


def task_log_of(log: Log, path: str) -> TaskLog:
    """The task of a log that was read, or whose samples were collected as they ended.

    Raises
    ------
    LogError : if the format is too old
    """
    header = log.header
    if header.version < _OLDEST_VERSION:
        raise LogError(f"log format {header.version} is not read here; `inspect log convert` writes it in a newer one")
    frame = _frame(log)
    data, printed, notes, warnings = _scores(log, frame)
    return TaskLog(
        system=system_name(header),
        task=header.eval.task,
        source=Source(path, HARNESS, (header.eval.packages or {}).get("inspect_ai"), header.eval.created),
        questions=build_questions(log.documents, frame.questions),
        data=tuple(data),
        reported=printed,
        declared=declared_cluster(header),
        facts=run_facts(header, frame.epochs, frame.questions),
        notes=(*notes_on(log, frame), *notes),
        warnings=(*warnings_on(log), *warnings),
    )


def printed_positions(log: Log) -> dict[MetricKey, int]:
    """Place among `results.scores` of what Inspect printed for each metric and filter."""
    scores = log.header.results.scores if log.header.results else []
    frame = _frame(log)
    columns, _ = columns_of(log, frame)
    printed = printed_scores(columns, frame)
    for total, score in totals_alone(columns, frame):
        printed.setdefault((total.metric, total.filter), score)
    place = {id(score): at for at, score in enumerate(scores)}
    return {key: place[id(score)] for key, score in printed.items()}


def _frame(log: Log) -> Frame:
    epochs = epochs_of(log.header, len({epoch for _, epoch in log.cells}))
    return make_frame(log, _question_order(log), epochs)


def _question_order(log: Log) -> list[str]:
    found = dict.fromkeys(question for question, _ in log.cells)
    if not found:
        found = dict.fromkeys(str(sample.sample_id) for reduction in log.reductions for sample in reduction.samples)
    return dataset_order(log.header.eval.dataset.sample_ids, found)


def _scores(log: Log, frame: Frame) -> tuple[list[Scores | Totals], dict[MetricKey, Reported], list[str], list[str]]:
    """Data, Inspect's own numbers, notes and warnings."""
    columns, notes = columns_of(log, frame)
    data = [item for column in columns for item in data_of(column, frame)]
    printed = printed_scores(columns, frame)
    differences = list(disagreements(data, printed, frame))
    for total, score in totals_alone(columns, frame):
        data.append(total)
        printed.setdefault((total.metric, total.filter), score)
    if (headline := headline_score(log.header)) is not None:
        data.sort(key=lambda item: printed.get((item.metric, item.filter)) is not headline)
    notes += [f"{text}; the estimate is of that mean" for is_mean, text in differences if not is_mean]
    warnings = [] if data else ["no scores: the run was not scored, or its log holds none"]
    warnings += contradictions(log, frame, columns)
    if not (is_short(log) or log.header.invalidated or log.damaged):
        warnings += [f"contradictory totals: {text}" for is_mean, text in differences if is_mean]
    reported = {key: reported_by(score, frame.header, frame.epochs) for key, score in printed.items()}
    return data, reported, notes, warnings
