"""The sampler: questions asked and told, estimates during and after the evaluation, and its state on disk."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from harness_uq import ActiveHistory, ActiveSampler, read_table
from harness_uq.messages.catalogue.planning import (
    EFFECTIVE_SUBSET,
    INTERVAL_ALLOWS_STOPPING,
    SUBSET_WITH_REFERENCE_RUNS,
)
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import DataError, LogError, NotEstimableError


def leaderboard(n: int = 200, seed: int = 0) -> np.ndarray:
    """Scores of 21 systems that differ in ability; the last is the new one."""
    rng = np.random.default_rng(seed)
    return (rng.random((21, n)) < special.expit(rng.normal(0, 2, n) + rng.normal(0.5, 1, (21, 1)))).astype(float)


SCORES = leaderboard()
HISTORY, NEW = SCORES[:20], SCORES[20]


def finish(sampler: ActiveSampler, scores: np.ndarray = NEW, n: int | None = None) -> list[int]:
    """Ask until the sampler is done; returns the questions in order."""
    asked: list[int] = []
    while not sampler.done:
        questions = [*sampler.pending, *sampler.ask(n)]
        sampler.tell(questions, scores[questions])
        asked += questions
    return asked


def test_exactly_the_budget_is_asked_without_repetition() -> None:
    for n_questions in (2, 7, 60, 199):
        asked = finish(ActiveSampler(HISTORY, n_questions=n_questions))
        assert len(asked) == len(set(asked)) == n_questions


def test_the_size_of_batches_does_not_change_the_questions_or_the_estimate() -> None:
    at_once, in_parts = ActiveSampler(HISTORY, n_questions=40), ActiveSampler(HISTORY, n_questions=40)
    assert finish(at_once) == finish(in_parts, n=3)
    assert at_once.estimate() == in_parts.estimate()


def test_a_seed_determines_the_questions() -> None:
    first, again, other = (ActiveSampler(HISTORY, n_questions=30, seed=seed).ask() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_next_round_waits_for_the_scores_of_this_one() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=20, n_rounds=2)
    first = sampler.ask()
    assert (len(first), sampler.ask(), sampler.pending) == (10, [], first)
    sampler.tell(first[:9], NEW[first[:9]])
    assert (sampler.ask(), sampler.pending) == ([], first[9:])
    sampler.tell(first[9:], NEW[first[9:]])
    second = sampler.ask()
    sampler.tell(second, NEW[second])
    assert (sampler.n_told, sampler.done, sampler.ask()) == (20, True, [])


def test_the_order_in_which_scores_are_told_does_not_matter_after_a_round() -> None:
    forward, backward = ActiveSampler(HISTORY, n_questions=20), ActiveSampler(HISTORY, n_questions=20)
    while not forward.done:
        questions = forward.ask()
        assert backward.ask() == questions
        forward.tell(questions, NEW[questions])
        backward.tell(questions[::-1], NEW[questions[::-1]])
    assert forward.estimate() == backward.estimate()


@pytest.mark.parametrize(
    ("ids", "scores"),
    [
        ([0, 0], [1.0, 1.0]),
        ([0], [1.0, 0.0]),
        ([0], [float("nan")]),
        ([0], [1.5]),
        ([1], [1.0]),
        ([0, "no question"], [1.0, 1.0]),
    ],
    ids=["twice", "shape", "missing", "range", "not asked", "unknown"],
)
def test_invalid_scores_are_refused_and_nothing_is_recorded(ids: list[object], scores: list[float]) -> None:
    sampler = ActiveSampler(HISTORY, n_questions=20)
    asked = sampler.ask()
    not_asked = next(i for i in range(200) if i not in asked)
    actual = [{0: asked[0], 1: not_asked}.get(i, i) for i in ids]
    with pytest.raises(DataError):
        sampler.tell(actual, scores)
    assert sampler.n_told == 0


def test_a_question_has_one_score() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=20)
    question = sampler.ask(1)
    sampler.tell(question, [1])
    with pytest.raises(DataError, match="already"):
        sampler.tell(question, [0])


@pytest.mark.parametrize("options", [{"n_questions": 1}, {"n_questions": 201}, {"n_questions": 9, "n_rounds": 0}])
def test_invalid_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(DataError):
        ActiveSampler(HISTORY, **options)


def test_the_estimate_is_of_the_whole_benchmark_and_reports_what_it_is_worth() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=60, system="ours")
    finish(sampler)
    estimate = sampler.estimate(0.9)
    assert (estimate.scope, estimate.method, estimate.system, estimate.n_questions) == ("full", "active", "ours", 60)
    assert estimate.interval is not None
    assert (estimate.interval.level, estimate.interval.low < estimate.value < estimate.interval.high) == (0.9, True)
    assert abs(estimate.value - NEW.mean()) < 4 * estimate.std_error
    assert estimate.effective_questions is not None
    assert estimate.effective_questions > 60
    assert [message.code for message in estimate.messages] == [SUBSET_WITH_REFERENCE_RUNS.code, EFFECTIVE_SUBSET.code]
    assert {name: estimate.diagnostics[name] for name in ("n_all", "n_systems")} == {"n_all": 200, "n_systems": 20}


def test_an_estimate_is_possible_in_the_middle_of_a_round() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=40, n_rounds=2)
    with pytest.raises(NotEstimableError):
        sampler.estimate()
    for n, expected in ((12, 12), (8, 20), (1, 20), (1, 22)):  # one answer of a round has no variance
        questions = sampler.ask(n)
        sampler.tell(questions, NEW[questions])
        assert sampler.estimate().n_questions == expected


def test_the_score_on_all_questions_is_known_exactly() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=200)
    finish(sampler)
    with pytest.raises(NotEstimableError, match=f"exactly {NEW.mean():g}"):
        sampler.estimate()


def test_the_interval_has_a_width_if_all_answers_agree_with_the_history() -> None:
    sampler = ActiveSampler(np.ones((10, 300)), n_questions=60)
    finish(sampler, np.ones(300))
    interval = sampler.estimate().interval
    assert interval is not None
    assert interval.high <= 1
    assert 1 - interval.low > 2 / 60  # up to 3 of 60 are wrong with a probability of 0.05: the rule of three


def test_a_level_outside_0_to_1_is_refused() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=20)
    finish(sampler)
    with pytest.raises(DataError):
        sampler.estimate(95)


def test_scores_on_another_scale_give_the_same_questions_and_a_scaled_estimate() -> None:
    unit, percent = (
        ActiveSampler(ActiveHistory(scale * HISTORY, range=(0, scale)), n_questions=40) for scale in (1, 100)
    )
    assert finish(unit) == finish(percent, 100 * NEW)
    one, hundred = unit.estimate(), percent.estimate()
    assert hundred.value == pytest.approx(100 * one.value)
    assert hundred.std_error == pytest.approx(100 * one.std_error)


def test_missing_scores_in_the_history_are_allowed() -> None:
    is_missing = np.random.default_rng(3).random(HISTORY.shape) < 0.9
    is_missing[:, :5] = True
    sampler = ActiveSampler(np.where(is_missing, np.nan, HISTORY), n_questions=40)
    finish(sampler)
    assert sampler.estimate().n_questions == 40


@pytest.mark.parametrize("history", [np.ones(3), np.full((2, 3), np.nan), [[0.0, 2.0]]])
def test_an_invalid_history_is_refused(history: object) -> None:
    with pytest.raises(DataError):
        ActiveHistory(history)


def test_one_history_is_fitted_once_for_several_systems() -> None:
    history = ActiveHistory(HISTORY)
    first, second = (ActiveSampler(history, n_questions=20) for _ in range(2))
    assert first.history.predictor is second.history.predictor


def test_a_state_continues_as_if_nothing_had_happened(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    uninterrupted = ActiveSampler(HISTORY, n_questions=40, seed=4, system="ours")
    asked = finish(uninterrupted)
    sampler = ActiveSampler(HISTORY, n_questions=40, seed=4, system="ours")
    for _ in range(2):
        questions = sampler.ask(6)
        sampler.tell(questions[1:], NEW[questions[1:]])
        sampler.tell(questions[:1], NEW[questions[:1]])
    questions = sampler.ask(6)
    sampler.tell(questions[2:3], NEW[questions[2:3]])
    sampler.save(path)
    continued = ActiveSampler.load(path, HISTORY)
    assert (continued.n_told, continued.pending) == (sampler.n_told, sampler.pending)
    assert continued.estimate() == sampler.estimate()
    assert {*asked[sampler.n_told :]} - {*asked[: sampler.n_told]} | {*sampler.pending} >= {*finish(continued)}
    assert continued.estimate() == uninterrupted.estimate()


def test_a_state_of_another_history_is_refused(tmp_path: Path) -> None:
    ActiveSampler(HISTORY, n_questions=40).save(tmp_path / "state.json")
    with pytest.raises(DataError, match="different history"):
        ActiveSampler.load(tmp_path / "state.json", HISTORY[:19])


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with pytest.raises(LogError) as caught:
        ActiveSampler.load(path, HISTORY)
    assert caught.value.message.code == FILE_UNREADABLE.code
    path.write_text("{}")
    with pytest.raises(DataError, match="not the state"):
        ActiveSampler.load(path, HISTORY)
    ActiveSampler(HISTORY, n_questions=40).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 0}))
    with pytest.raises(DataError, match="version 0"):
        ActiveSampler.load(path, HISTORY)


@pytest.mark.parametrize(
    "damage",
    [{"questions": [9999, 1]}, {"questions": [1, 1]}, {"scores": [[5.0], None]}, {"scores": [[1.0, 0.0], None]}],
)
def test_a_state_with_impossible_questions_or_scores_is_refused(
    tmp_path: Path, damage: dict[str, list[object]]
) -> None:
    path = tmp_path / "state.json"
    ActiveSampler(HISTORY, n_questions=40).save(path)
    one = {"questions": [1, 2], "probabilities": [0.1, 0.1], "scores": [[1.0], None]}
    state = json.loads(path.read_text())
    path.write_text(json.dumps(state | {"rounds": [one]}))
    assert ActiveSampler.load(path, HISTORY).pending == [2]
    path.write_text(json.dumps(state | {"rounds": [one | damage]}))
    with pytest.raises(DataError, match="damaged"):
        ActiveSampler.load(path, HISTORY)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "history.csv"
    rows = [f"system-{s},sums,q{i},{HISTORY[s, i]:g}" for s in range(3) for i in range(50)]
    path.write_text("\n".join(["system,task,id,score", *rows, "system-0,other,x1,1", "system-0,other,x2,0"]))
    return path


def test_runs_of_earlier_systems_are_a_history(table: Path) -> None:
    for runs in (table, str(table), read_table(table)):
        history = ActiveHistory(runs, task="sums")
        assert (history.task, history.ids[0], history.scores.shape) == ("sums", "q0", (3, 50))
        assert np.array_equal(history.scores, HISTORY[:3, :50])
    sampler = ActiveSampler(history, n_questions=10)
    asked = sampler.ask(2)
    sampler.tell(asked, [1, 0])
    assert {type(one) for one in asked} == {str}
    assert (sampler.estimate().task, sampler.estimate().metric) == ("sums", "score")


def test_a_task_is_selected_if_the_runs_have_several(table: Path) -> None:
    with pytest.raises(DataError, match="other, sums"):
        ActiveHistory(table)


def test_runs_without_the_task_are_not_estimable(table: Path) -> None:
    with pytest.raises(NotEstimableError):
        ActiveHistory(table, task="products")


def test_the_evaluation_ends_when_the_interval_is_narrow_enough(tmp_path: Path) -> None:
    sampler = ActiveSampler(HISTORY, n_questions=150, width=0.2)
    finish(sampler)
    estimate = sampler.estimate()
    assert sampler.n_told in (60, 90, 120)
    assert estimate.interval is not None
    assert estimate.interval.width <= 0.2
    assert sampler.ask() == []
    assert INTERVAL_ALLOWS_STOPPING.code in [message.code for message in estimate.messages]
    sampler.save(tmp_path / "state.json")
    assert ActiveSampler.load(tmp_path / "state.json", HISTORY).done


@pytest.mark.parametrize("at_least", [0.1, 0.9])
def test_the_evaluation_ends_when_it_is_decided_whether_a_score_is_reached(at_least: float) -> None:
    sampler = ActiveSampler(HISTORY, n_questions=150, at_least=at_least)
    finish(sampler)
    interval = sampler.estimate().interval
    assert interval is not None
    assert sampler.n_told == 30
    assert not interval.low <= at_least <= interval.high


def test_the_evaluation_uses_all_its_questions_if_nothing_is_decided() -> None:
    fixed = ActiveSampler(HISTORY, n_questions=90)
    finish(fixed)
    sampler = ActiveSampler(HISTORY, n_questions=90, at_least=fixed.estimate().value)
    assert finish(sampler) == finish(ActiveSampler(HISTORY, n_questions=90))


def test_an_interval_of_an_evaluation_that_may_end_early_is_wider() -> None:
    fixed, open_ended = ActiveSampler(HISTORY, n_questions=60), ActiveSampler(HISTORY, n_questions=60, width=0.001)
    finish(fixed)
    finish(open_ended)
    narrow, wide = fixed.estimate().interval, open_ended.estimate().interval
    assert narrow is not None
    assert wide is not None
    assert wide.width / narrow.width == pytest.approx(2.413 / 1.960, rel=0.02)  # Pocock's boundary for five looks


@pytest.mark.parametrize(
    "options",
    [{"width": 0}, {"width": np.inf}, {"width": 1}, {"at_least": np.nan}, {"at_least": 60}, {"level": 95}],
)
def test_an_impossible_target_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(DataError):
        ActiveSampler(HISTORY, n_questions=20, **options)


@pytest.mark.slow
def test_a_history_predicts_the_width_of_the_interval() -> None:
    few, many = ActiveHistory(100 * HISTORY, range=(0, 100)).expected_widths([30, 90], n_systems=5)
    assert (few.n_questions, many.n_questions) == (30, 90)
    assert 5 < many.width < few.width < 50


PAIR = leaderboard(seed=7)[[3, 4]]


def finish_pair(sampler: ActiveSampler, scores: np.ndarray = PAIR) -> list[int]:
    asked: list[int] = []
    while not sampler.done:
        questions = sampler.ask()
        sampler.tell(questions, scores[:, questions].T)
        asked += questions
    return asked


def test_two_systems_answer_the_same_questions_and_each_has_an_estimate(tmp_path: Path) -> None:
    sampler = ActiveSampler(HISTORY, n_questions=60, system=("a", "b"))
    finish_pair(sampler)
    assert [sampler.estimate(system=name).system for name in ("a", "b")] == ["a", "b"]
    difference = sampler.difference("a", "b")
    values = [sampler.estimate(system=name).value for name in ("a", "b")]
    assert difference.value == pytest.approx(values[0] - values[1])
    backward = sampler.difference("b", "a", level=0.95)
    assert (backward.interval.low, backward.interval.high) == pytest.approx(
        (-difference.interval.high, -difference.interval.low)
    )
    sampler.save(tmp_path / "state.json")
    assert ActiveSampler.load(tmp_path / "state.json", HISTORY).difference("a", "b") == difference


def test_without_information_the_difference_is_that_of_paired_scores() -> None:
    scores = (np.random.default_rng(8).random((2, 400)) < [[0.7], [0.6]]).astype(float)
    sampler = ActiveSampler(np.full((3, 400), 0.5), n_questions=100, n_rounds=1, system=("a", "b"))
    asked = finish_pair(sampler, scores)
    drawn = scores[0, asked] - scores[1, asked]
    difference = sampler.difference("a", "b")
    assert difference.value == pytest.approx(drawn.mean(), abs=1e-12)
    standard_error = np.sqrt(drawn.var(ddof=1) / 100 * (1 - 100 / 400))  # Cochran, eq. 2.20
    assert difference.std_error == pytest.approx(standard_error, rel=0.05)


def test_the_difference_of_systems_that_answer_alike_is_small_but_not_exact() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=60, system=("a", "b"))
    finish_pair(sampler, PAIR[[0, 0]])
    difference = sampler.difference("a", "b")
    single = sampler.estimate(system="a").interval
    assert single is not None
    assert difference.value == 0
    assert 0.02 < difference.interval.width < single.width


def test_a_target_must_be_met_by_all_systems() -> None:
    scores = np.array([np.zeros(200), NEW])
    sampler = ActiveSampler(HISTORY, n_questions=150, width=0.15, system=("wrong", "new"))
    finish_pair(sampler, scores)
    alone = ActiveSampler(HISTORY, n_questions=150, width=0.15)
    finish(alone, scores[0])
    assert alone.n_told < sampler.n_told


def test_the_first_system_alone_is_asked_as_before() -> None:
    single, named = ActiveSampler(HISTORY, n_questions=30), ActiveSampler(HISTORY, n_questions=30, system=["only"])
    assert finish(single) == finish(named)


@pytest.mark.parametrize("system", [(), ("a", "a")])
def test_systems_need_different_names(system: tuple[str, ...]) -> None:
    with pytest.raises(DataError):
        ActiveSampler(HISTORY, n_questions=30, system=system)


def test_a_system_must_be_named_and_have_a_score_for_each_question() -> None:
    sampler = ActiveSampler(HISTORY, n_questions=30, system=("a", "b"))
    with pytest.raises(DataError, match="shape"):
        sampler.tell(sampler.ask(2), [1.0, 0.0])
    sampler.tell(sampler.pending, [[1, 0], [0, 1]])
    with pytest.raises(DataError, match="name one"):
        sampler.estimate()
    with pytest.raises(DataError, match="'c'"):
        sampler.difference("a", "c")
