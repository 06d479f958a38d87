"""The samples of a log by the cheapest route that tells enough.

Summaries hold every score, and metadata shortened to about 1,000 characters. Whole samples are read where there are
no summaries, where a sample was invalidated (summaries do not say so), and, one epoch a question, where the summaries
lack metadata or shortened it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness_uq import LogError
from harness_uq.logs.places import name_of
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.content import content_of, reading
from harness_uq_inspect.read.repeated import may_repeat, repeated_name
from harness_uq_inspect.read.schema import Header, JsonLog, Raw, Reduction, Sample, decode

HEADER: Final = "header.json"
START: Final = "_journal/start.json"
_SUMMARIES: Final = "summaries.json"
_REDUCTIONS: Final = "reductions.json"
_JOURNAL: Final = "_journal/summaries/"
_SAMPLES: Final = "samples/"
_REMOVED: Final = "Key removed from summary (> 1k)"
_CUT: Final = "..."


@dataclass(slots=True)
class Log:
    """What was read of one log file.

    Attributes
    ----------
    cells : sample of each (question, epoch); where one was logged twice, the later
    documents : one sample of each question, whose input and metadata stand for the question
    reductions : scores with their epochs reduced
    n_repeated : samples dropped because a later one has the same question and epoch
    damaged : members that could not be read
    oddities : what is wrong with the form of the file, a sentence each
    """

    header: Header
    cells: dict[tuple[str, int], Sample] = field(default_factory=dict)
    documents: dict[str, Sample] = field(default_factory=dict)
    reductions: list[Reduction] = field(default_factory=list)
    n_repeated: int = 0
    damaged: list[str] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)

    def add(self, samples: Iterable[Sample]) -> None:
        """Take in samples; only the first of a question keeps its document."""
        for sample in samples:
            question = str(sample.id)
            if self.documents.setdefault(question, sample) is not sample:
                sample.input = sample.metadata = None
            self.n_repeated += (question, sample.epoch) in self.cells
            self.cells[question, sample.epoch] = sample


@reading()
def read_log(path: str) -> Log:
    """Header, samples and reductions of a `.eval` or `.json` log.

    Raises
    ------
    LogError : if the file is no log that can be read
    """
    return _read_eval(path) if name_of(path).endswith(".eval") else _read_json(path)


def read_header(archive: Archive) -> Header:
    """Header of a `.eval` log; of one that was never finished, what was written at its start.

    Raises
    ------
    LogError : if the archive is no log
    """
    for name in (HEADER, START):
        if name in archive:
            return decode(archive.read(name), Header, whose=name)
    raise LogError(f"a zip without {HEADER} or {START}, so no Inspect AI log")


def _read_json(path: str) -> Log:
    with content_of(path) as content:
        decoded = decode(content, JsonLog, whose="the file")
        log = Log(decoded, reductions=decoded.reductions or [])
        _look_for_repeats("the file", content, log)
    log.add(decoded.samples or ())
    decoded.samples = None
    return log


def _read_eval(path: str) -> Log:
    with Archive(path) as archive:
        log = Log(read_header(archive), oddities=list(_oddities(archive)))
        if HEADER in archive:
            _look_for_repeats(HEADER, archive.read(HEADER), log)
        names = archive.names(_SAMPLES)
        summaries = _summaries(archive, log)
        if len(summaries) > len(names) > 0:
            log.oddities.append(f"{len(summaries)} summaries for {len(names)} samples in the log; the summaries count")
        if log.header.invalidated or len(summaries) < len(names):
            log.add(_whole(archive, archive.fetched(names), log))
        else:
            log.add(summaries)
            _complete_documents(archive, log)
        if _REDUCTIONS in archive:
            log.reductions = _reductions(archive, log)
    return log


def _oddities(archive: Archive) -> Iterator[str]:
    if archive.repeated:
        yield f"{len(archive.repeated)} member(s) stand in the zip twice, first {archive.repeated[0]}; the last counts"
    if archive.misplaced:
        yield f"{len(archive.misplaced)} member(s) are named like paths out of the zip, first {archive.misplaced[0]!r}"


def _look_for_repeats(whose: str, content: Raw, log: Log) -> None:
    if (name := repeated_name(content)) is not None:
        log.oddities.append(f"{whose}: {name!r} stands twice in one object; the last counts")


def _reductions(archive: Archive, log: Log) -> list[Reduction]:
    """Logged reductions; damaged ones are left out where the trials tell the same."""
    try:
        content = archive.read(_REDUCTIONS)
        found = decode(content, list[Reduction], whose=_REDUCTIONS)
    except LogError:
        if not log.cells:
            raise
        log.damaged.append(_REDUCTIONS)
        return []
    _look_for_repeats(_REDUCTIONS, content, log)
    return found


def _summaries(archive: Archive, log: Log) -> list[Sample]:
    """Summaries of a finished log, else those journalled so far; none where they are damaged."""
    names = [_SUMMARIES] if _SUMMARIES in archive else sorted(archive.names(_JOURNAL), key=_journal_position)
    try:
        return [sample for name in names for sample in _summaries_in(archive, name, log)]
    except LogError:
        log.damaged.append(names[0])
        return []


def _summaries_in(archive: Archive, name: str, log: Log) -> list[Sample]:
    content = archive.read(name)
    found = decode(content, list[Sample], whose=name)
    if may_repeat(content, found):
        _look_for_repeats(name, content, log)
    return found


def _journal_position(name: str) -> tuple[int, str]:
    number = Path(name).stem
    return (len(number), number)


def _whole(archive: Archive, names: Iterable[str], log: Log) -> Iterator[Sample]:
    for name in names:
        try:
            yield decode(archive.read(name), Sample, whose=name)
        except LogError:
            log.damaged.append(name)


def _complete_documents(archive: Archive, log: Log) -> None:
    """Read the metadata that summaries lack or shortened from one whole sample of each question."""
    shortened = [sample for sample in log.documents.values() if _is_shortened(sample)]
    names = {f"{_SAMPLES}{sample.id}_epoch_{sample.epoch}.json": sample for sample in shortened}
    present = [name for name in names if name in archive]
    for name in archive.fetched(present):
        for whole in _whole(archive, [name], log):
            names[name].metadata = whole.metadata


def _is_shortened(summary: Sample) -> bool:
    if summary.metadata is None:
        return True
    return any(isinstance(v, str) and (v == _REMOVED or v.endswith(_CUT)) for v in summary.metadata.values())
