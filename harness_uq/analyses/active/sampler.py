"""Choose the questions for a new system as its scores become known, and estimate its score on all questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from harness_uq.analyses.active.history import ActiveHistory
from harness_uq.analyses.active.state import VERSION, RoundState, SamplerState, is_consistent, read_state, write_state
from harness_uq.data.task_log import Source
from harness_uq.inference.subset import ACTIVE, ACTIVE_INFO
from harness_uq.messages import Message
from harness_uq.messages.catalogue.planning import (
    EFFECTIVE_SUBSET,
    INTERVAL_ALLOWS_STOPPING,
    SUBSET_WITH_REFERENCE_RUNS,
)
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.redaction import redact
from harness_uq.results.comparison import Difference
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.active.predictor import Answers
from harness_uq.stats.active.repeated_looks import simultaneous_level
from harness_uq.stats.active.rounds import (
    Draw,
    Knowledge,
    RoundEstimate,
    combine_differences,
    combine_rounds,
    draw_round,
    estimate_round,
    round_sizes,
)
from harness_uq.stats.common.validate_arrays import as_floats, check_level
from harness_uq.stats.common.validate_scalars import check_whole
from harness_uq.stats.subsets.estimate import SubsetEstimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.io.readers import Reading, Runs

Self = TypeVar("Self", bound="ActiveSampler")


class _Round:
    """A draw of questions, of which the first `n_asked` were asked, with the scores by position in the draw."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.n_asked = 0
        self.scores: dict[int, tuple[float, ...]] = {}

    @property
    def is_complete(self) -> bool:
        return len(self.scores) == len(self.draw.questions)

    def estimates(self, history: ActiveHistory, known: Sequence[Knowledge]) -> list[RoundEstimate]:
        """Estimates of each system from the answers so far.

        They are a random part of the draw, since questions are asked in random order.
        """
        positions = np.array(sorted(self.scores))
        scores = np.array([self.scores[i] for i in positions])
        probabilities = self.draw.probabilities[positions] * (len(positions) / len(self.draw.questions))
        questions = self.draw.questions[positions]
        return [
            estimate_round(history.predictor, each, Answers(questions, column), probabilities)
            for each, column in zip(known, scores.T, strict=True)
        ]


class ActiveSampler:
    """Choose questions for a new system, and estimate its score on all questions of a benchmark.

    `ask` returns questions to run, and `tell` records their scores. Questions are drawn in rounds with known
    probabilities; each round prefers questions whose score is uncertain given the earlier rounds. The estimate is valid
    for any history and any new system: a misleading history makes the interval at most slightly wider.

    Parameters
    ----------
    history : ActiveHistory, array_like or runs
        Scores of earlier systems on all questions, as for `ActiveHistory`: an array of shape (n_systems, n_questions)
        with NaN for missing scores, paths of runs, or results in memory.
    n_questions : int
        Number of questions to run, from 2 to the number of questions of the benchmark.
    n_rounds : int, optional
        Number of rounds (default 5). It is reduced if a round would have fewer than five questions.
    seed : int, optional
        Random seed (default 0).
    system : str or sequence of str, optional
        Name of the new system in the estimate; several names if several new systems answer the same questions.
    width : float, optional
        End after the first round in which the interval is at most this wide.
    at_least : float, optional
        End after the first round in which the interval excludes this score, so that it is decided whether the new
        system reaches it. To compare with a system that answered all questions, pass its score.
    level : float, optional
        Nominal coverage of the interval that decides about the end (default 0.95).

    Raises
    ------
    DataError
        If an option is out of range, or as for `ActiveHistory`.

    See Also
    --------
    harness_uq.stats.draw_subset : Draw questions in one round.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 6.3; Wu, Nair and Candès (arXiv
    2601.20251) for active sampling with factor models. The equations are in the docstrings of
    `harness_uq.stats.active`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> difficulty = rng.normal(size=400)
    >>> scores = (rng.normal(size=(21, 1)) + 2 * rng.normal(size=(21, 400)) > 2 * difficulty).astype(float)
    >>> sampler = ActiveSampler(scores[:20], n_questions=80)
    >>> while not sampler.done:
    ...     questions = sampler.ask()
    ...     sampler.tell(questions, scores[20, questions])
    >>> sampler.estimate().n_questions
    80
    """

    def __init__(
        self,
        history: "ActiveHistory | ArrayLike | Reading | Runs",
        *,
        n_questions: int,
        n_rounds: int = 5,
        seed: int = 0,
        system: str | Sequence[str] = "new",
        width: float | None = None,
        at_least: float | None = None,
        level: float = 0.95,
    ) -> None:
        self.history = history if isinstance(history, ActiveHistory) else ActiveHistory(history)
        n_all = len(self.history.ids)
        check_whole(n_questions, "n_questions", 2, n_all)
        check_whole(n_rounds, "n_rounds", 1)
        check_whole(seed, "seed", 0)
        self.n_questions, self.n_rounds, self.seed = n_questions, n_rounds, seed
        self.systems = (system,) if isinstance(system, str) else tuple(system)
        if not self.systems or len(set(self.systems)) < len(self.systems):
            raise DataError(f"system must be one name or different names; got {system!r}")
        self.target = Target(width, at_least, level)
        self.target.check_range(*self.history.range)
        self._sizes = round_sizes(n_questions, n_rounds)
        self._rounds: list[_Round] = []
        self._estimates: list[list[RoundEstimate]] = []  # of complete rounds, one for each system
        self._known = [Knowledge() for _ in self.systems]
        self._position = {identifier: i for i, identifier in enumerate(self.history.ids)}

    @property
    def n_told(self) -> int:
        """Number of questions with a score."""
        return sum(len(each.scores) for each in self._rounds)

    @property
    def done(self) -> bool:
        """Whether all questions have been asked and have a score, or a target has been met."""
        return self.n_told == self.n_questions or self._has_met_target()

    @property
    def pending(self) -> list[int] | list[str]:
        """Questions that were asked and have no score yet, for example because the evaluation was interrupted."""
        return [
            self.history.ids[each.draw.questions[i]]
            for each in self._rounds
            for i in range(each.n_asked)
            if i not in each.scores
        ]

    def draw_of(self, identifier: int | str) -> dict[str, float]:
        """Return how a question that was asked was chosen, from which the estimate can be computed again.

        Returns
        -------
        dict
            The number of the round as ``round``, the number of questions of this round as ``round_size``, and the
            probability with which it was drawn in this round as ``probability``.

        Raises
        ------
        DataError
            If the question was not asked.
        """
        position = self._position.get(identifier, -1)
        for number, each in enumerate(self._rounds):
            found = np.flatnonzero(each.draw.questions[: each.n_asked] == position)
            if len(found):
                probability = float(each.draw.probabilities[found[0]])
                return {"round": number, "round_size": len(each.draw.questions), "probability": probability}
        raise DataError(f"question {identifier!r} was not asked")

    def ask(self, n: int | None = None) -> list[int] | list[str]:
        """Return the next questions to run.

        Parameters
        ----------
        n : int, optional
            Largest number of questions (default: all that remain of the current round).

        Returns
        -------
        list
            Identifiers of at most `n` questions of the current round. The list is empty if all questions of the round
            have been asked, but some have no score yet: the next round depends on them. It is empty, too, if the
            evaluation is done.

        Raises
        ------
        DataError
            If n is not a positive integer.
        """
        if n is not None:
            check_whole(n, "n", 1)
        if self.done:
            return []
        self._learn()
        if len(self._estimates) == len(self._rounds) and len(self._rounds) < len(self._sizes):
            self._rounds.append(self._draw())
        current = self._rounds[-1]
        start, stop = current.n_asked, len(current.draw.questions)
        current.n_asked = stop if n is None else min(stop, start + n)
        return [self.history.ids[i] for i in current.draw.questions[start : current.n_asked]]

    def tell(self, ids: Sequence[int] | Sequence[str], scores: "ArrayLike") -> None:
        """Record the scores of questions that were asked.

        Tell scores in the order of `ask` as far as possible: if an estimate is requested before a round is complete,
        the questions told so far are treated as a random part of it.

        Parameters
        ----------
        ids : sequence
            Questions that `ask` returned, in any order.
        scores : array_like, shape (n,) or (n, n_systems)
            Their scores, within the range of the history; a column for each of several systems.

        Raises
        ------
        DataError
            If a question was not asked or already has a score, or a score is missing or outside the range. Nothing is
            recorded then.
        """
        low, high = self.history.range
        values = as_floats(scores, "scores")
        columns = values[:, None] if values.ndim == 1 else values
        if columns.shape != (len(ids), len(self.systems)):
            raise DataError(f"scores must have shape {(len(ids), len(self.systems))}; got {values.shape}")
        if wrong := [value for value in values.ravel().tolist() if not low <= value <= high]:
            raise DataError(f"scores must be numbers in [{low:g}, {high:g}]; got {wrong[0]:g}")
        if len(set(ids)) < len(ids):
            raise DataError("a question has two scores in one call")
        places = {
            each.draw.questions[i]: (each, i)
            for each in self._rounds
            for i in range(each.n_asked)
            if i not in each.scores
        }
        recorded = [(places.get(self._position.get(identifier, -1)), identifier) for identifier in ids]
        if unknown := [identifier for place, identifier in recorded if place is None]:
            raise DataError(f"question {unknown[0]!r} was not asked, or already has a score")
        for (place, _), row in zip(recorded, ((columns - low) / (high - low)).tolist(), strict=True):
            if place is not None:
                place[0].scores[place[1]] = tuple(row)

    def estimate(self, level: float = 0.95, *, system: str | None = None) -> Estimate:
        """Estimate the mean score on all questions of the benchmark from the scores told so far.

        Parameters
        ----------
        level : float, optional
            Nominal coverage of the interval, between 0 and 1 (default 0.95).
        system : str, optional
            Name of the system, if there are several.

        Returns
        -------
        Estimate
            Estimate of scope ``full``. `effective_questions` is the number of randomly drawn questions whose plain mean
            would be as precise. With a target of `width` or `at_least`, the interval is valid although the evaluation
            may end after any round.

        Raises
        ------
        DataError
            If the level is not between 0 and 1, or the system is unknown or not named.
        NotEstimableError
            If fewer than two questions of the first round have a score, or all questions of the benchmark have one,
            so that the score is known exactly.
        """
        if system is None and len(self.systems) > 1:
            raise DataError(f"name one of the systems: {', '.join(self.systems)}")
        name = self.systems[0] if system is None else system
        low, high = self.history.range
        combined = combine_rounds(self._rounds_of(name), len(self.history.ids), low=low, high=high)
        return make_estimate(combined, self.history, name, level, self._looks)

    def difference(self, first: str, second: str, level: float = 0.95) -> Difference:
        """Estimate the difference of the mean scores of two systems on all questions of the benchmark.

        Parameters
        ----------
        first, second : str
            Names of two of the systems.
        level : float, optional
            Nominal coverage of the interval, between 0 and 1 (default 0.95).

        Returns
        -------
        Difference
            Score of the first system minus that of the second. Both answered the same questions, so that what they
            share does not widen the interval.

        Raises
        ------
        DataError
            If the level is not between 0 and 1, a system is unknown, or both are the same.
        NotEstimableError
            As for `estimate`.
        """
        if first == second:
            raise DataError(f"a difference requires two systems; got {first!r} twice")
        low, high = self.history.range
        rounds, other_rounds = self._rounds_of(first), self._rounds_of(second)
        subset = combine_differences(rounds, other_rounds, len(self.history.ids), low=low, high=high)
        return Difference(subset.mean, subset.posterior.sd, _interval(subset, level, self._looks))

    def save(self, path: str | Path) -> None:
        """Write the state to a JSON file, without the history.

        Call it after `ask` and `tell`, so that an interrupted evaluation can be continued. The file is replaced
        atomically.
        """
        rounds = tuple(
            RoundState(
                tuple(each.draw.questions.tolist()),
                tuple(each.draw.probabilities.tolist()),
                tuple(each.scores.get(i) for i in range(each.n_asked)),
            )
            for each in self._rounds
        )
        target = self.target
        state = SamplerState(
            VERSION,
            self.history.fingerprint,
            self.n_questions,
            self.n_rounds,
            self.seed,
            self.systems,
            target.width,
            target.at_least,
            target.level,
            rounds,
        )
        write_state(state, path)

    @classmethod
    def load(cls: type[Self], path: str | Path, history: "ActiveHistory | ArrayLike | Reading | Runs") -> Self:
        """Continue an evaluation from the file that `save` wrote.

        Questions that were asked and have no score are in `pending`.

        Parameters
        ----------
        path : str or Path
            The file.
        history : ActiveHistory, array_like or runs
            The same history.

        Raises
        ------
        LogError
            If the file cannot be read.
        DataError
            If it is not a state, or belongs to a different history.
        """
        state = read_state(path)
        history = history if isinstance(history, ActiveHistory) else ActiveHistory(history)
        if state.history != history.fingerprint:
            raise DataError("the state belongs to a different history: its questions, scores or range differ")
        sampler = cls(
            history,
            n_questions=state.n_questions,
            n_rounds=state.n_rounds,
            seed=state.seed,
            system=state.system,
            width=state.width,
            at_least=state.at_least,
            level=state.level,
        )
        if not is_consistent(state, len(history.ids)):
            raise DataError(f"{redact(str(path))} is damaged: its questions or scores are impossible")
        for saved in state.rounds:
            current = _Round(Draw(np.array(saved.questions), np.array(saved.probabilities)))
            current.n_asked = len(saved.scores)
            current.scores = {i: score for i, score in enumerate(saved.scores) if score is not None}
            sampler._rounds.append(current)
            sampler._learn()
        return sampler

    def _draw(self) -> _Round:
        """Draw the next round; its generator depends on the seed and the round only."""
        rng = np.random.default_rng([self.seed, len(self._rounds)])
        return _Round(draw_round(self.history.predictor, self._known, self._sizes[len(self._rounds)], rng))

    @property
    def _looks(self) -> tuple[float, ...]:
        """Planned numbers of answers after each round, if the evaluation may end after any of them."""
        return tuple(np.cumsum(self._sizes).tolist()) if self.target.is_set else ()

    def _rounds_of(self, system: str) -> list[RoundEstimate]:
        """Estimates of one system from all rounds with at least two answers.

        Raises
        ------
        DataError
            If the system is unknown.
        NotEstimableError
            If there is no such round.
        """
        if system not in self.systems:
            raise DataError(f"there is no system {system!r}; the systems are {', '.join(self.systems)}")
        self._learn()
        rounds = list(self._estimates)
        if len(rounds) < len(self._rounds) and len(self._rounds[-1].scores) > 1:
            rounds.append(self._rounds[-1].estimates(self.history, self._known))
        if not rounds:
            raise NotEstimableError("fewer than two questions have a score; a standard error needs at least two")
        return [each[self.systems.index(system)] for each in rounds]

    def _has_met_target(self) -> bool:
        """Whether the intervals of all systems after the last complete round meet the target."""
        if not self.target.is_set or not self._rounds or not self._rounds[-1].is_complete:
            return False
        intervals = [self.estimate(self.target.level, system=name).interval for name in self.systems]
        return all(interval is not None and self.target.is_met(interval) for interval in intervals)

    def _learn(self) -> None:
        """Estimate from the last round if it is complete, unless this has been done."""
        if len(self._estimates) < len(self._rounds) and self._rounds[-1].is_complete:
            self._estimates.append(self._rounds[-1].estimates(self.history, self._known))
            self._known = [known.after(own) for known, own in zip(self._known, self._estimates[-1], strict=True)]


@dataclass(frozen=True, slots=True)
class Target:
    """What the interval must achieve for the evaluation to end.

    `width` is the largest width of the interval, and `at_least` a score that it must exclude, so that it is decided
    whether the system reaches it.
    """

    width: float | None = None
    at_least: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.width is not None and not 0 < self.width < float("inf"):
            raise DataError(f"width must be a positive number; got {self.width}")
        if self.at_least is not None and not isfinite(self.at_least):
            raise DataError(f"at_least must be a number; got {self.at_least}")
        check_level(self.level)

    def check_range(self, low: float, high: float) -> None:
        """Raise DataError unless scores from `low` to `high` can miss the target."""
        if self.width is not None and self.width >= high - low:
            raise DataError(f"width must be smaller than the range of the scores, {high - low:g}; got {self.width:g}")
        if self.at_least is not None and not low <= self.at_least <= high:
            raise DataError(f"at_least must be a score in [{low:g}, {high:g}]; got {self.at_least:g}")

    @property
    def is_set(self) -> bool:
        """Whether there is a target."""
        return self.width is not None or self.at_least is not None

    def is_met(self, interval: Interval) -> bool:
        """Whether the interval meets one of the targets."""
        is_narrow = self.width is not None and interval.width <= self.width
        return is_narrow or (self.at_least is not None and not interval.low <= self.at_least <= interval.high)


# ---------------------------------------------------------------- results


def make_estimate(
    subset: SubsetEstimate, history: ActiveHistory, system: str, level: float, looks: tuple[float, ...] = ()
) -> Estimate:
    """Build the estimate of the mean score on all questions.

    If the evaluation may end early, `looks` has the planned numbers of answers after each round. Raises DataError if
    the level is not between 0 and 1; NotEstimableError if all questions of the benchmark have a score.
    """
    posterior, interval = subset.posterior, _interval(subset, level, looks)
    model = history.predictor.model
    diagnostics = {
        "n_all": float(subset.n_all),
        "n_systems": float(len(history.scores)),
        "rank": float(model.rank),
        "std_error_uniform": subset.std_error_uniform,
    }
    return Estimate(
        system=system,
        task=history.task,
        metric=history.metric,
        filter=history.filter,
        estimand="mean",
        scope="full",
        method=ACTIVE,
        value=subset.mean,
        std_error=posterior.sd,
        interval=interval,
        source=Source(system, "array"),
        n_questions=subset.n_questions,
        n_trials=1,
        n_scores=subset.n_questions,
        posterior_mean=posterior.mean,
        effective_questions=subset.effective_questions,
        posterior=posterior,
        diagnostics={name: value for name, value in diagnostics.items() if value is not None},
        messages=_notes(subset, len(history.scores), len(looks)),
        method_reason="the questions were chosen actively",
        info=ACTIVE_INFO,
    )


def _interval(subset: SubsetEstimate, level: float, looks: tuple[float, ...]) -> Interval:
    """Interval with this nominal coverage, for repeated looks if there are any."""
    check_level(level)
    low, high = subset.posterior.interval(simultaneous_level(looks, level) if looks else level)
    return Interval(low, high, level, "quantile")


def _notes(subset: SubsetEstimate, n_systems: int, n_looks: int) -> tuple[Message, ...]:
    notes = (
        SUBSET_WITH_REFERENCE_RUNS(n_questions=subset.n_questions, n_all=subset.n_all, n_systems=n_systems),
        None if subset.effective_questions is None else EFFECTIVE_SUBSET(effective=subset.effective_questions),
        INTERVAL_ALLOWS_STOPPING(n_rounds=n_looks) if n_looks else None,
    )
    return tuple(note for note in notes if note is not None)
