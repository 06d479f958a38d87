"""Read a log or its shards: header and samples, from the summaries of these if they are sufficient.

Summaries contain all scores, and metadata truncated to about 1,000 characters. Complete samples are read if there are
no summaries or if a sample was invalidated, which summaries do not record. If the summaries lack metadata or truncate
it, one sample of each question is read. Summaries lack the history of edited scores, too; it is read if people entered
scores under a new name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from typing import Final

import msgspec

from harness_uq.plugin_api import LogError, Message, Run
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect import messages as catalogue
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.bounded_samples import bound_sample, bounded_metadata
from harness_uq_inspect.read.file_bytes import content_of
from harness_uq_inspect.read.schema import Header, JsonLog, Raw, Reduction, Sample, decode, may_repeat, repeated_name

HEADER: Final = "header.json"
START: Final = "_journal/start.json"
_SUMMARIES: Final = "summaries.json"
_REDUCTIONS: Final = "reductions.json"
_JOURNAL: Final = "_journal/summaries/"
_SAMPLES: Final = "samples/"
REMOVED: Final = "Key removed from summary (> 1k)"
_TRUNCATED: Final = "..."


@dataclass(slots=True)
class Log:
    """The content of one log file.

    `cells`: sample of each (question, epoch); the later one if it was logged twice. `documents`: one sample of each
    question, with the input and metadata of the question. `reductions`: scores reduced over epochs. `repeated`: samples
    ignored because a later one has the same question and epoch. `damaged`: members that could not be read. `oddities`:
    a warning for each irregularity of the file format.
    """

    header: Header
    cells: dict[tuple[str, int], Sample] = field(default_factory=dict)
    documents: dict[str, Sample] = field(default_factory=dict)
    reductions: list[Reduction] = field(default_factory=list)
    repeated: list[Sample] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    oddities: list[Message] = field(default_factory=list)

    def add(self, samples: Iterable[Sample]) -> None:
        """Add samples; only the first sample of each question keeps its input and metadata."""
        for sample in samples:
            question = str(sample.id)
            if self.documents.setdefault(question, sample) is not sample:
                sample.input = sample.target = sample.metadata = None
            bound_sample(sample)
            if (earlier := self.cells.get((question, sample.epoch))) is not None:
                self.repeated.append(earlier)
            self.cells[question, sample.epoch] = sample

    def resolve_repeats(self) -> None:
        """After all samples were added, count the records of one question and epoch as one sample, also in the numbers
        that Inspect computed from all records. They are trials if the run had several epochs, but all records have
        the same epoch.
        """
        if not self.repeated:
            return
        n_epochs, records = self.header.eval.config.epochs or 1, dict[str, list[Sample]]()
        for sample in (*self.repeated, *self.cells.values()):
            records.setdefault(str(sample.id), []).append(sample)
        is_numbered = len({epoch for _, epoch in self.cells}) > 1
        if not is_numbered and max(map(len, records.values())) <= n_epochs:
            trials = ((question, pair) for question, samples in records.items() for pair in enumerate(samples, 1))
            self.cells = {(question, epoch): sample for question, (epoch, sample) in trials}
            self.repeated = []
            return
        results, n_cells = self.header.results, len(self.cells)
        n_records = n_cells + len(self.repeated)
        n_listed = len(set(map(str, self.header.eval.dataset.sample_ids or ())))
        if results is None or results.total_samples != n_records or n_listed * n_epochs > n_cells:
            return
        results.total_samples = n_cells
        results.completed_samples = min(results.completed_samples, n_cells)
        for score in results.scores:
            if score.scored_samples is not None and score.scored_samples > len(records):
                n_scored, rest = divmod(score.scored_samples * n_cells, n_records)
                score.scored_samples = None if rest else n_scored


@io_paths.reading()
def read_log(path: str) -> Log:
    """Header, samples and reductions of a `.eval` or `.json` log. Raises LogError if the file is not a log or cannot be
    read.
    """
    log = _read_eval(path) if io_paths.name_of(path).endswith(".eval") else _read_json(path)
    log.resolve_repeats()
    return log


def read_header(archive: Archive) -> Header:
    """Header of an `.eval` log; for an unfinished log, the header written at its start. Raises LogError if the archive
    is not a log.
    """
    for name in (HEADER, START):
        if name in archive:
            return decode(archive.read(name), Header, whose=name)
    raise LogError(f"the zip file contains neither {HEADER} nor {START}, so it is not a log of Inspect AI")


def _read_json(path: str) -> Log:
    with content_of(path) as content:
        decoded = decode(content, JsonLog, whose="the file")
        log = Log(decoded, reductions=decoded.reductions or [])
        _warn_of_repeated_keys("the file", content, log)
    log.add(decoded.samples or ())
    decoded.samples = None
    return log


def _read_eval(path: str) -> Log:
    with Archive(path) as archive:
        log = Log(read_header(archive))
        if HEADER in archive:
            _warn_of_repeated_keys(HEADER, archive.read(HEADER), log)
        names = archive.names(_SAMPLES)
        summaries = _summaries(archive, log)
        n_summaries = len({(str(summary.id), summary.epoch) for summary in summaries})
        if n_summaries > len(names) > 0:
            log.oddities.append(catalogue.SUMMARIES_AND_SAMPLES_DIFFER(n_summaries=n_summaries, n_samples=len(names)))
        if log.header.invalidated or len(summaries) < len(names):
            log.add(_complete_samples(archive, archive.fetched(names), log))
        else:
            log.add(summaries)
            _complete_documents(archive, log)
            _complete_histories(archive, log)
        if _REDUCTIONS in archive:
            log.reductions = _reductions(archive, log)
        log.oddities[:0] = _oddities(archive, log)
    return log


def _oddities(archive: Archive, log: Log) -> Iterator[Message]:
    samples = {f"{_SAMPLES}{sample.id}_epoch_{sample.epoch}.json" for sample in log.repeated}
    if repeated := [name for name in archive.repeated if name not in samples]:
        yield catalogue.REPEATED_MEMBERS(n_members=len(repeated), first=repeated[0])
    if archive.misplaced:
        yield catalogue.MISPLACED_MEMBERS(n_members=len(archive.misplaced), first=archive.misplaced[0])


def _warn_of_repeated_keys(whose: str, content: Raw, log: Log) -> None:
    if (name := repeated_name(content)) is not None:
        log.oddities.append(catalogue.REPEATED_JSON_KEY(key=name, file=whose))


def _reductions(archive: Archive, log: Log) -> list[Reduction]:
    """Logged reductions; if they are damaged, none, unless the log has no other scores."""
    try:
        content = archive.read(_REDUCTIONS)
        reductions = decode(content, list[Reduction], whose=_REDUCTIONS)
    except LogError:
        if not log.cells:
            raise
        log.damaged.append(_REDUCTIONS)
        return []
    _warn_of_repeated_keys(_REDUCTIONS, content, log)
    return reductions


def summary_names(archive: Archive) -> list[str]:
    """Members with the summaries of a finished log, else those in the journal, in the order of their writing."""
    return [_SUMMARIES] if _SUMMARIES in archive else sorted(archive.names(_JOURNAL), key=_journal_position)


def _summaries(archive: Archive, log: Log) -> list[Sample]:
    """Summaries of a finished log, else those in the journal; none if they are damaged."""
    names, samples = summary_names(archive), list[Sample]()
    archive.check_total(names)
    try:
        for name in names:
            samples += _summaries_in(archive, name, log)
    except LogError:
        log.damaged.append(names[0])
        return []
    return samples


def _summaries_in(archive: Archive, name: str, log: Log) -> list[Sample]:
    content = archive.read(name)
    summaries = decode(content, list[Sample], whose=name)
    if may_repeat(content, summaries):
        _warn_of_repeated_keys(name, content, log)
    return summaries


def _journal_position(name: str) -> tuple[int, str]:
    number = Path(name).stem
    return (len(number), number)


def _complete_samples(archive: Archive, names: Iterable[str], log: Log) -> Iterator[Sample]:
    for name in names:
        try:
            yield decode(archive.read(name), Sample, whose=name)
        except LogError:
            log.damaged.append(name)


def _complete_documents(archive: Archive, log: Log) -> None:
    """Read the metadata that summaries lack or truncate from one complete sample of each question."""
    truncated = [sample for sample in log.documents.values() if _is_truncated(sample)]
    summary_of = {f"{_SAMPLES}{sample.id}_epoch_{sample.epoch}.json": sample for sample in truncated}
    present = [name for name in summary_of if name in archive]
    for name in archive.fetched(present):
        for sample in _complete_samples(archive, [name], log):
            summary_of[name].metadata = bounded_metadata(sample.metadata)


def _complete_histories(archive: Archive, log: Log) -> None:
    """Read who entered scores, which summaries lack, if there are scores that no scorer of the task gave."""
    own = {str(scorer.name).rpartition("/")[2] for scorer in log.header.eval.scorers or ()}
    entered = {
        f"{_SAMPLES}{cell.id}_epoch_{cell.epoch}.json": cell
        for cell in log.cells.values()
        if own and any(name.rpartition("/")[2] not in own for name in cell.scores or ())
    }
    present = [name for name in entered if name in archive]
    for name in archive.fetched(present):
        for sample in _complete_samples(archive, [name], log):
            for scorer, score in (entered[name].scores or {}).items():
                complete = (sample.scores or {}).get(scorer)
                score.history = None if complete is None else complete.history


def _is_truncated(summary: Sample) -> bool:
    if summary.metadata is None:
        return True
    return any(isinstance(v, str) and (v == REMOVED or v.endswith(_TRUNCATED)) for v in summary.metadata.values())


def read_shards(paths: Sequence[str]) -> Log:
    """The shards as one log; for a trial that is in several shards, the last one counts. Raises LogError if none of the
    shards can be read.
    """
    logs, oddities = [], []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            oddities.append(catalogue.SHARD_UNREADABLE(path=path, reason=str(error)))
    if not logs:
        raise LogError(" ".join(warning.text for warning in oddities))
    joined = Log(_joined_header(logs), oddities=[catalogue.SHARDS_UNMERGED(n_shards=len(paths)), *oddities])
    for log in logs:
        joined.documents = log.documents | joined.documents
        joined.add(log.cells.values())
        joined.damaged += log.damaged
        joined.oddities += log.oddities
    joined.repeated = [sample for log in logs for sample in log.repeated]
    return joined


def _joined_header(logs: Sequence[Log]) -> Header:
    """The first header with the questions of all shards, and without results, which cover only one shard."""
    first = logs[0].header
    ids = dict.fromkeys(one for log in logs for one in log.header.eval.dataset.sample_ids or ())
    dataset = msgspec.structs.replace(first.eval.dataset, sample_ids=list(ids) or None)
    statuses = {log.header.status for log in logs}
    return msgspec.structs.replace(
        first,
        eval=msgspec.structs.replace(first.eval, dataset=dataset),
        status="success" if statuses == {"success"} else min(statuses - {"success"}),
        results=None,
        invalidated=any(log.header.invalidated for log in logs),
    )


class _Created(msgspec.Struct):
    created: str | None = None


class _Outline(msgspec.Struct):
    """Top-level members of every JSON log, which other files such as `logs.json` lack."""

    version: int
    status: str
    eval: _Created


def run_in_archive(path: str) -> Run:
    """The run of an `.eval` file. Raises LogError if the file is not a log."""
    with Archive(path) as archive:
        return Run(path, (path,), read_header(archive).eval.created)


def is_finished(path: str) -> bool:
    """Whether the run of an `.eval` file ended without an error. Raises LogError if the file is not a log."""
    with Archive(path) as archive:
        return read_header(archive).status == "success"


def run_in_json(path: str) -> Run | None:
    """The run of a JSON file; None if the file is not a log. Raises LogError if the file is a damaged log."""
    with content_of(path) as content:
        try:
            outline = decode(content, _Outline, whose="the file")
        except LogError:
            if _is_other_json(content):
                return None
            raise
        return Run(path, (path,), outline.eval.created)


def _is_other_json(content: mmap | bytes) -> bool:
    """Whether the content is JSON of another type, and not a damaged log."""
    try:
        return not {"version", "status", "eval"} <= msgspec.json.decode(content, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
