"""When to stop asking questions: a confidence sequence over the questions in the order of the line."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq import DataError, load_plugins, structures
from harness_uq.stats.looks.confidence_sequence import ConfidenceSequence, Scope, confidence_sequence, paired_sequence
from harness_uq_inspect.live.reference import reference_of, watched
from harness_uq_inspect.live.stopping import Decision, Rule
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Json, Sample
from harness_uq_inspect.read.task_log import task_log_of

_LOOKS: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The questions planned, in the order in which they were put in line.

    Attributes
    ----------
    metric : whose scores these are
    scores : (n,); NaN where there is none yet
    keys : identity of each question in a logged run
    clusters : (n,) or None
    bounds : smallest and largest possible score
    """

    metric: str
    scores: NDArray[np.float64]
    keys: tuple[str, ...]
    clusters: NDArray[np.int64] | None
    bounds: tuple[float, float]

    @property
    def n_ready(self) -> int:
        """Questions scored before the first that is not: of the later ones the easy may end first."""
        unscored = np.flatnonzero(np.isnan(self.scores))
        return int(unscored[0]) if len(unscored) else len(self.scores)

    def only(self, known: Mapping[str, float]) -> "_Line":
        """The questions that the other run holds, too."""
        kept = np.flatnonzero([key in known for key in self.keys])
        clusters = None if self.clusters is None else self.clusters[kept]
        keys = tuple(key for key in self.keys if key in known)
        return replace(self, scores=self.scores[kept], keys=keys, clusters=clusters)


@dataclass(frozen=True, slots=True)
class _LoggedClusters:
    """Field and numbers of the planned questions' clusters."""

    key: str | None
    codes: list[int]


class AnytimeWatch:
    """The scores of a task under way, each question counting once.

    Parameters
    ----------
    log : without samples
    documents : one sample of each question in the order in which they are asked, without scores
    rule : when to stop

    Raises
    ------
    LogError : if the run to compare with cannot be read, or holds no such task
    """

    def __init__(self, log: Log, documents: Mapping[str, Sample], rule: Rule) -> None:
        self._log, self._rule = log, rule
        self._log.documents = dict(documents)
        self._plugins = load_plugins()
        self._reference = None if rule.compare_to is None else reference_of(rule.compare_to, log.header.eval.task)
        self._step = max(1, len(documents) // _LOOKS)
        self._clusters: _LoggedClusters | None = None
        self.n_looks = 0
        self.why_not = "no question was scored"

    @property
    def n_trials(self) -> int:
        """Questions scored so far."""
        return len(self._log.cells)

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        return self.n_trials % self._step == 0 or self.n_trials == len(self._log.documents)

    @property
    def clusters(self) -> Json:
        """Field and numbers of the planned questions' clusters, in the order of the line, for the log."""
        found = self._clusters
        return {} if found is None else {"cluster": found.key, "clusters": found.codes}

    def add(self, trial: Sample) -> None:
        """Take in a scored trial; those after a question's first say nothing of new questions."""
        if trial.epoch == 1:
            self._log.cells[str(trial.id), 1] = trial

    def look(self) -> Decision | None:
        """Whether the rule is met."""
        self.n_looks += 1
        line = self._line()
        if line.n_ready == 0:
            self.why_not = "the first question has no score yet"
            return None
        return self._by_width(line) or self._by_comparison(line)

    def _line(self) -> _Line:
        """Scores of all questions planned.

        Raises
        ------
        DataError : if the range of the scores is not known
        """
        documents = self._log.documents
        cells = {(question, 1): sample for question, sample in documents.items()} | dict(self._log.cells)
        task = task_log_of(Log(self._log.header, cells, documents), "live")
        data = watched(task, self._rule.metric)
        found = structures(task, self._rule.options.structure, plugins=self._plugins)[0]
        structure = found.metrics[data.metric, data.filter]
        if structure.bounds is None:
            raise DataError(f"{data.metric} has no known range, which an interval valid at any moment needs")
        row_of = {question: row for row, question in enumerate(task.questions.ids)}
        rows = np.array([row_of[question] for question in documents])
        keys = task.questions.hashes or task.questions.ids
        codes = found.clusters.codes
        if codes is not None:
            self._clusters = _LoggedClusters(
                found.clusters.key, np.unique(codes[rows], return_inverse=True)[1].tolist()
            )
        return _Line(
            data.metric,
            data.values[rows, 0],
            tuple(keys[row] for row in rows),
            None if codes is None else codes[rows],
            structure.bounds,
        )

    def _by_width(self, line: _Line) -> Decision | None:
        target = self._rule.width
        if target is None:
            return None
        n = line.n_ready
        sequence = confidence_sequence(
            line.scores[:n],
            clusters=line.clusters,
            level=self._rule.level,
            bounds=line.bounds,
            planned=len(line.scores),
            scope=cast(Scope, self._rule.scope),
        )
        found = f"{self._rule.scope} interval {_text(sequence)}, valid at any moment, after {n} questions"
        if sequence.width[-1] > target:
            self.why_not = f"{found} is still wider than {target:g}"
            return None
        return self._decision("width", f"{found} is at most {target:g} wide", sequence)

    def _by_comparison(self, line: _Line) -> Decision | None:
        if self._reference is None:
            return None
        theirs = self._reference.means(line.metric)
        shared = line.only(theirs)
        n = shared.n_ready
        if n == 0:
            self.why_not = f"no question shared with {self._reference.name} has a score yet"
            return None
        other = np.array([theirs[key] for key in shared.keys[:n]])
        sequence = paired_sequence(
            shared.scores[:n],
            other,
            clusters=shared.clusters,
            level=self._rule.level,
            bounds=shared.bounds,
            planned=len(shared.scores),
        )
        what = f"difference from {self._reference.name} {_text(sequence)}, valid at any moment, after {n} questions"
        if sequence.low[-1] <= 0 <= sequence.high[-1]:
            self.why_not = f"{what}: still undecided"
            return None
        verdict = "better" if sequence.low[-1] > 0 else "worse"
        return self._decision("comparison", f"{what}: this system is {verdict}", sequence)

    def _decision(self, kind: Literal["width", "comparison"], reason: str, sequence: ConfidenceSequence) -> Decision:
        low, high = float(sequence.low[-1]), float(sequence.high[-1])
        facts = {"low": low, "high": high, "width": high - low, "n_questions": float(sequence.n_questions[-1])}
        return Decision(kind, reason, self.n_trials, facts)


def _text(sequence: ConfidenceSequence) -> str:
    return f"[{sequence.low[-1]:.4f}, {sequence.high[-1]:.4f}]"
