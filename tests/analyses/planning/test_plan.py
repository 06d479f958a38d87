"""Plans: Miller's published examples, limits, costs, and what pilots predict."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_uq.analyses.compare import compare
from harness_uq.analyses.estimate import estimate_scores
from harness_uq.analyses.pilot_variances import Components
from harness_uq.analyses.plan import answer_of, plan
from harness_uq.commands.main import main
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import TaskLog
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Options
from harness_uq.output.table_notes import first_sentence
from harness_uq.results.plan import Plan, PlanRow
from tests.data.toy import task_log
from tests.message_checks import has, raises_message
from tests.output.rendering import render


def one(components: Components, **options: object) -> Plan:
    return plan(components=components, options=Options(**options))[0]


MILLER = Components(difference=1 / 9, within=1 / 6)


# ---------------------------------------------------------------- published examples


def test_971_questions_find_3_points() -> None:
    """Miller (2024), section 5: omega^2 = 1/9, no trial noise, delta = .03, power .8, alpha .05, 969 questions with a
    known variance; with an estimated one, the noncentral t distribution needs 971.
    """
    found = one(Components(difference=1 / 9), difference=0.03)
    assert (found.recommended.n_questions, found.recommended.n_trials) == (971, 1)
    assert "ask 971 questions once each" in found.answer


@pytest.mark.parametrize(("n_trials", "published"), [(1, 0.133), (10, 0.076)])
def test_198_questions_find_what_was_published(n_trials: int, published: float) -> None:
    """Miller (2024), section 5: n = 198, sigma^2 = 1/6 for each model: 13.3 % at K = 1, 7.6 % at K = 10."""
    row = one(MILLER, questions=198, trials=n_trials).recommended
    assert row.detectable == pytest.approx(published, abs=5e-4)


# ---------------------------------------------------------------- limits and searches


def test_trials_for_a_fixed_number_of_questions_are_the_fewest_that_suffice() -> None:
    found = one(MILLER, difference=0.08, questions=198)
    k = found.recommended.n_trials
    assert found.recommended.detectable <= 0.08 < one(MILLER, questions=198, trials=k - 1).recommended.detectable


def test_where_questions_differ_too_much_no_number_of_trials_suffices() -> None:
    found = one(MILLER, difference=0.05, questions=198)
    assert found.recommended is None
    assert "Ask more questions" in found.answer


def test_without_prices_one_trial_a_question_is_best() -> None:
    assert one(MILLER, difference=0.03).recommended.n_trials == 1


def test_dear_questions_are_tried_more_often() -> None:
    """Cochran's optimum sqrt(sigma^2 / omega^2 c_q / c_t) = sqrt(3 · 10.67) = 5.7 of the designs 1, 2, 4, 8."""
    found = one(MILLER, difference=0.05, cost_per_question=32 / 3, cost_per_trial=1)
    assert found.recommended.n_trials in (4, 8)
    assert found.recommended.cost == pytest.approx(
        found.recommended.n_questions * (32 / 3 + found.recommended.n_trials)
    )


def test_a_budget_buys_the_design_that_tells_most() -> None:
    found = one(MILLER, cost_per_question=8, cost_per_trial=1, budget=1200)
    assert found.recommended.cost <= 1200
    rows = [one(MILLER, cost_per_question=8, cost_per_trial=1, budget=1200, trials=k).recommended for k in (1, 2, 4, 8)]
    assert found.recommended.detectable == min(row.detectable for row in rows)


def test_a_budget_that_is_too_small_for_the_target_is_said() -> None:
    found = one(MILLER, difference=0.01, cost_per_trial=1, budget=100)
    assert found.recommended is None
    assert "The budget of 100 is too small" in found.answer


def test_width_of_numbers_is_the_normal_one() -> None:
    row = one(Components(between=0.21), questions=400).recommended
    assert row.expected_width == pytest.approx(2 * 1.959964 * math.sqrt(0.21 / 400), rel=1e-6)
    assert row.detectable is None


def test_a_design_effect_multiplies_the_questions() -> None:
    plain = one(Components(difference=0.2), difference=0.05).recommended.n_questions
    clustered = one(Components(difference=0.2, design_effect_difference=3.0), difference=0.05).recommended.n_questions
    assert clustered == pytest.approx(3 * plain, abs=6)


def test_one_system_alone_finds_no_difference() -> None:
    found = one(Components(between=0.2), difference=0.05)
    assert found.recommended is None
    assert "needs a second system" in found.answer


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 0.1, "width": 0.1}, "cannot be combined"),
        ({"difference": -0.1}, "Invalid difference"),
        ({"power": 1.0}, "Invalid power"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        one(MILLER, **options)


def test_nothing_to_plan_from_is_refused() -> None:
    with pytest.raises(DataError, match="needs the variance"):
        Components()
    with pytest.raises(DataError, match="either the logs"):
        plan()
    with raises_message(NotEstimableError, "plan-unavailable"):
        plan(task_log([1]))


# ---------------------------------------------------------------- pilots


def test_components_of_a_pilot_are_recovered() -> None:
    """Expected scores Beta(2, 2) over questions: Var(x) = 1/20, E[sigma^2] = 1/5; the difference of two independent
    systems has omega^2 = 1/10. Standard errors at 4,000 questions are about 2 %.
    """
    rng = np.random.default_rng(0)
    logs = [task_log(rng.random((4000, 3)) < rng.beta(2, 2, 4000)[:, None], system=name) for name in ("a", "b")]
    found = plan(logs)[0]
    assert found.variance_between == pytest.approx(1 / 20, rel=0.1)
    assert found.variance_within == pytest.approx(1 / 5, rel=0.05)
    assert found.variance_difference == pytest.approx(1 / 10, rel=0.1)
    assert found.systems == ("a", "b")


def unequally_tried(n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Systems of 8 and of 2 trials, a tenth of the trials missing; expected scores x ~ U(.2, .8) and x ± .1."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0.2, 0.8, n)
    a = (rng.random((n, 8)) < x[:, None]).astype(float)
    b = (rng.random((n, 2)) < (x + rng.choice([-0.1, 0.1], n))[:, None]).astype(float)
    a[:, 1:][rng.random((n, 7)) < 0.1] = np.nan
    b[:, 1:][rng.random((n, 1)) < 0.1] = np.nan
    return a, b


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_each_system_s_own_trials_are_taken_from_the_variance_of_the_difference(order: tuple[int, int]) -> None:
    """omega^2 = .1^2; the observed differences have .01 + .21 / 8 + .2 / 2 and more, known to .0014 from 20,000."""
    logs = [task_log(values, system=name) for name, values in zip("ab", unequally_tried(), strict=True)]
    found = plan([logs[i] for i in order])[0]
    assert found.variance_difference == pytest.approx(0.01, abs=0.005)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_system_tried_once_beside_one_tried_often_is_planned_for_once(order: tuple[int, int]) -> None:
    """One trial each: omega^2 + E[x (1 - x)] + E[y (1 - y)] = .01 + .22 + .21."""
    a, b = unequally_tried()
    logs = [task_log(a, system="a"), task_log(b[:, :1], system="b")]
    found = plan([logs[i] for i in order], Options(questions=100))[0]
    assert {row.n_trials for row in found.rows} == {1}
    assert found.variance_difference == pytest.approx(0.01 + 0.22 + 0.21, abs=0.02)
    assert found.variance_between == pytest.approx(0.25, abs=0.005)


def test_the_widest_of_the_systems_intervals_is_planned_for() -> None:
    """1.96^2 · 4 p (1 - p) / .1^2: 73 questions at .95, 384 at .5."""
    logs = [task_log([1] * 38 + [0] * 2, system="good"), task_log([1, 0] * 20, system="even")]
    alone = [plan(log, Options(width=0.1))[0].recommended.n_questions for log in logs]
    both = [plan(pair, Options(width=0.1))[0] for pair in (logs, logs[::-1])]
    assert [found.recommended.n_questions for found in both] == [max(alone)] * 2
    assert has(both[0], "pilot-averaged")


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3), st.permutations(range(3)))
def test_the_order_of_the_systems_changes_nothing(seed: int, few: int, many: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    shapes = zip("abc", (0.3, 0.6, 0.9), (few, many, many), strict=True)
    logs = [task_log(rng.random((30, n)) < rng.beta(4 * p, 4 - 4 * p, (30, 1)), system=name) for name, p, n in shapes]
    options = Options(questions=100)
    found, other = (plan(given, options)[0] for given in (logs, [logs[i] for i in order]))
    assert (found.answer, found.notes) == (other.answer, other.notes)
    for row, same in zip(found.rows, other.rows, strict=True):
        assert row.n_trials == same.n_trials
        assert [row.expected_width, row.detectable] == pytest.approx([same.expected_width, same.detectable])


def test_a_pilot_whose_difference_does_not_vary_allows_no_plan_for_a_difference() -> None:
    pilot = [task_log([1.0] * 40, system=name) for name in "ab"]
    with raises_message(NotEstimableError, "plan-unavailable"):
        plan(pilot, difference=0.05)
    (found,) = plan(pilot, width=0.05)
    assert found.recommended is not None
    assert all(row.detectable is None for row in found.rows)


def test_the_legend_of_several_plans_is_printed_once() -> None:
    rng = np.random.default_rng(1)
    pilot = [task_log(rng.integers(0, 2, 40), system=name, task=task) for name in "ab" for task in ("s", "t")]
    text = render(plan(pilot, difference=0.2), "table")
    assert text.count("Questions  Trials") == 1
    assert text.count("MDE: ") == 1
    text = render(plan(pilot, difference=0.2), "table", summarize=False)
    assert text.count("Questions  Trials") == 2
    assert text.count("> marks the recommended design. MDE: ") == 1


def test_a_pilot_of_one_system_gives_a_plan_for_a_difference_under_a_stated_assumption() -> None:
    """Variance p (1 - p) n / (n - 1) of one system; the difference of two has 2 (1 - r) times as much."""
    pilot = task_log([1, 1, 1, 0] * 25)
    cautious, correlated = plan(pilot, difference=0.05)[0], plan(pilot, difference=0.05, correlation=0.5)[0]
    assert cautious.variance_difference == pytest.approx(2 * cautious.variance_between)
    assert correlated.variance_difference == pytest.approx(cautious.variance_between)
    assert has(cautious, "assumed-correlation", correlation=0)
    assert has(correlated, "assumed-correlation", correlation=0.5)
    assert "uncorrelated" in cautious.answer
    assert "a correlation of 0.5" in correlated.answer
    assert cautious.recommended.n_questions == pytest.approx(2 * correlated.recommended.n_questions, rel=0.02)


def test_a_plan_and_a_comparison_state_the_same_detectable_difference() -> None:
    rng = np.random.default_rng(3)
    passages = np.repeat(np.arange(24), 5)
    rates = np.repeat(rng.beta(2, 2, 24), 5)
    right = [task_log(rng.random(120) < rates, system=name, fields={"passage": passages}) for name in "ab"]
    graded = [task_log(np.clip(rates + rng.normal(0, 0.1, 120), 0, 1), system=name) for name in "ab"]
    for pilot, options, precision in (
        (right, {"cluster": "none"}, 1e-9),
        (right, {}, 0.04),
        (graded, {"range": {"acc": (0, 1)}}, 0.04),
    ):
        (planned,), (compared,) = plan(pilot, **options), compare(*pilot, **options)
        assert planned.pilot.detectable == pytest.approx(compared.minimum_detectable_effect, rel=precision)


def test_a_plan_for_clusters_states_their_number() -> None:
    rng = np.random.default_rng(3)
    passages = np.repeat(np.arange(24), 5)
    pilot = [task_log(rng.random(120) < 0.6, system=name, fields={"passage": passages}) for name in "ab"]
    (found,) = plan(pilot, difference=0.3)
    n = found.recommended.n_questions
    assert (
        f"ask {n} questions in {math.ceil(n / 5)} clusters once each. The pilot asked 120 questions in 24 clusters"
        in (found.answer)
    )


def test_several_systems_determine_their_correlation() -> None:
    pilot = [task_log([1, 0] * 20, system=name) for name in "ab"]
    with pytest.raises(DataError, match="one system"):
        plan(pilot, difference=0.05, correlation=0.5)


def test_a_plan_without_a_target_describes_the_pilot() -> None:
    (found,) = plan(task_log([1, 0, 1] * 10))
    assert found.recommended is None
    assert found.answer.startswith("30 questions, 1 trial each: a score's 95 % interval is about ")
    assert found.answer.endswith("Specify a target with --difference, --width or --budget.")


def test_scores_without_a_range_have_normal_widths() -> None:
    logs = [task_log(np.arange(50.0) * scale, system=name, metric="reward") for name, scale in (("a", 1), ("b", 5))]
    row = plan(logs, Options(questions=200))[0].recommended
    assert row.expected_width == pytest.approx(2 * 1.959964 * 5 * np.arange(50).std(ddof=1) / math.sqrt(200))


def test_clusters_of_a_pilot_give_its_design_effect() -> None:
    rng = np.random.default_rng(1)
    share = np.repeat(rng.beta(1, 1, 40), 10)
    passages = np.repeat(np.arange(40), 10)
    log = task_log(rng.random(400) < share, fields={"passage": passages})
    found = plan(log)[0]
    # ICC 1/3: 1 + 9 / 3 = 4, within sampling error
    assert 2.5 < found.design_effect < 5.5
    plain = plan(log, Options(structure=StructureOptions(cluster="none")))[0]
    assert plain.design_effect == 1
    assert found.rows[0].expected_width > 1.3 * plain.rows[0].expected_width


def clustered_pair() -> tuple[list[TaskLog], np.ndarray]:
    """Two systems on 40 passages of 10 questions that know passages by heart or not at all."""
    rng = np.random.default_rng(1)
    passages = np.repeat(np.arange(40), 10)
    shares = rng.beta(0.5, 0.5, (2, 40))[:, passages]
    return [task_log(rng.random(400) < share, system=name) for name, share in zip("ab", shares, strict=True)], passages


def with_clusters(log: TaskLog, clusters: np.ndarray) -> TaskLog:
    return replace(log, data=(replace(log.data[0], clusters=clusters),))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("given", [{0}, {1}, {0, 1}])
def test_clusters_given_with_the_scores_of_either_system_count(given: set[int], order: tuple[int, int]) -> None:
    logs, passages = clustered_pair()
    logs = [with_clusters(log, passages) if i in given else log for i, log in enumerate(logs)]
    named = [replace(log, questions=task_log([0] * 400, fields={"passage": passages}).questions) for log in logs]
    (found,), (expected,) = (plan([pair[i] for i in order]) for pair in (logs, named))
    assert found.design_effect == pytest.approx(expected.design_effect)
    assert found.design_effect_difference == pytest.approx(expected.design_effect_difference)
    assert min(found.design_effect, found.design_effect_difference) > 3
    assert found.rows[0].expected_width == pytest.approx(expected.rows[0].expected_width)


def test_where_the_systems_clusters_disagree_whatever_either_puts_together_counts() -> None:
    logs, passages = clustered_pair()
    halves = [passages, np.where(passages % 2, passages - 1, passages)]
    split = [np.where(passages % 4 < 2, halves[i], np.arange(400) + 100) for i in (0, 1)]
    found = plan([with_clusters(log, codes) for log, codes in zip(logs, split, strict=True)])[0]
    both = plan([with_clusters(log, split[1]) for log in logs])[0]
    assert found.design_effect_difference == pytest.approx(both.design_effect_difference)
    assert found.design_effect_difference > 3


def test_a_field_that_no_log_has_is_warned_of() -> None:
    logs, _ = clustered_pair()
    found = plan(logs, Options(structure=StructureOptions(cluster="paragraph")))[0]
    assert has(found, "unknown-cluster-field", field="paragraph")


def test_a_pilot_is_what_all_its_systems_answered() -> None:
    """A width from 100 common questions is the same whether the system that has it answered 700 others or not."""
    rng = np.random.default_rng(5)
    values, few = rng.random(800) < 0.5, task_log(rng.random(100) < 0.99, system="few")
    widths = [
        plan([few, task_log(values[:n], system="many")], Options(questions=300))[0].recommended.expected_width
        for n in (100, 800)
    ]
    assert widths[0] == pytest.approx(widths[1])


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.1)])
def test_clustered_pilots_can_be_planned_for_a_width(shares: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    share = np.repeat(rng.beta(*shares, 40), 10)
    log = task_log(rng.random(400) < share, fields={"passage": np.repeat(np.arange(40), 10)})
    found = plan(log, Options(width=0.1))[0]
    assert found.recommended.expected_width == pytest.approx(0.1, rel=0.01)


def test_a_width_of_one_effective_question_or_less_is_unknown() -> None:
    """Forty passages all right or all wrong: ten questions are worth one."""
    passages = np.repeat(np.arange(40), 10)
    log = task_log(passages % 2, fields={"passage": passages})
    rows = [plan(log, Options(questions=n))[0].recommended for n in (5, 50)]
    assert rows[0].expected_width is None
    assert rows[1].expected_width > 0.5


def test_single_trials_leave_the_price_of_more_open() -> None:
    found = plan(task_log([1, 0, 1, 1, 0, 1]))[0]
    assert {row.n_trials for row in found.rows} == {1}
    assert has(found, "pilot-one-trial")


def test_a_pilot_and_three_times_it_are_among_the_rows() -> None:
    assert {30, 90} <= {row.n_questions for row in plan(task_log([1, 0, 1] * 10))[0].rows}


def test_json_is_finite() -> None:
    for found in (one(Components(difference=0.2), difference=0.05), plan(task_log([1, 0, 1] * 10))[0]):
        json.dumps(found.to_dict(), allow_nan=False)


# pilots, and the run three times as large that each is compared with, from the same population


def independent(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    return (rng.random(n) < 0.8).astype(float), None


def clustered(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    share = rng.beta(1.4, 0.6, n // 10)
    return (rng.random((n // 10, 10)) < share[:, None]).ravel().astype(float), np.repeat(np.arange(n // 10), 10)


def repeated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    return (rng.random((n, 3)) < rng.beta(2, 1, n)[:, None]).astype(float), None


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "n", "n_pilots"), [(independent, 100, 200), (repeated, 60, 60), (clustered, 400, 60)])
def test_a_pilot_predicts_the_width_of_a_run_three_times_as_large(draw: object, n: int, n_pilots: int) -> None:
    """Median over the pilots of |predicted / actual - 1| at most 10 %."""
    rng = np.random.default_rng(2)
    errors = []
    for _ in range(n_pilots):
        (values, codes), (more, more_codes) = draw(rng, n), draw(rng, 3 * n)
        log = task_log(values, fields=None if codes is None else {"passage": codes})
        wanted = plan(log, Options(questions=3 * n))[0].recommended
        actual = estimate_scores(more, clusters=more_codes).interval.width
        errors.append(abs(wanted.expected_width / actual - 1))
    assert np.median(errors) <= 0.1


def test_a_plan_of_one_question_is_in_the_singular() -> None:
    components = Components(between=0.25, within=0.1)
    row = PlanRow(1, 1, expected_width=0.9, detectable=None)
    text = answer_of(row, components, Options(questions=1), None)
    assert text.startswith("1 question, 1 trial each: ")


def test_the_answer_of_a_plan_stands_before_its_table() -> None:
    (found,) = plan(task_log([0.0, 1.0] * 40), Options(width=0.1))
    assert render([found], "table", width=200).startswith(found.answer)
    assert render([found], "markdown").split("\n\n")[1] == f"**{found.answer}**"


def test_what_a_pilot_cannot_plan_is_named_beside_what_it_can() -> None:
    plans = plan([task_log([0.0, 1.0] * 40, task="many"), task_log([1.0], task="one")])
    assert [(found.task, bool(found.rows)) for found in plans] == [("many", True), ("one", False)]
    assert (plans[1].status, plans[1].reason.name) == ("not_estimable", "pilot-too-small")
    sentence = f"No plan is possible for one (acc): {first_sentence(plans[1].reason.text)}"
    assert sentence in render(plans, "table", width=200)
    assert plans[1].reason.text in render(plans, "table", width=200, detail="notes")
    assert "one, acc" in render(plans, "markdown", summarize=False)


@pytest.mark.parametrize("trials", [2, 8])
def test_trials_that_the_pilot_says_nothing_of_are_refused(trials: int) -> None:
    with raises_message(NotEstimableError, "plan-unavailable"):
        plan(task_log([0.0, 1.0] * 40), Options(width=0.1, trials=trials))
    with raises_message(NotEstimableError, "pilot-without-trials"):
        plan(components=Components(difference=0.1), options=Options(questions=200, trials=trials))
    assert plan(task_log([0.0, 1.0] * 40), Options(width=0.1, trials=1))[0].recommended is not None


@pytest.mark.parametrize(("n_questions", "width"), [(100, 0.00201), (None, 0.000637)])
def test_designs_up_to_the_limits_are_found(n_questions: int | None, width: float) -> None:
    components = Components(between=0.0 if n_questions else 0.16, within=0.25 if n_questions else None)
    best = plan(components=components, options=Options(width=width, questions=n_questions))[0].recommended
    assert best is not None
    assert best.expected_width == pytest.approx(width, rel=1e-3)
    one_less = best.n_questions - (not n_questions), best.n_trials - bool(n_questions)
    assert components.width(*one_less, level=0.95) > width >= best.expected_width


def test_an_answer_about_many_scores_has_at_most_15_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"m,t{t},q{k},{int(k < 5 + t)}" for t in range(30) for k in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["model,task,question,score", *rows]), "utf-8")
    assert main(["plan", str(tmp_path / "a.csv"), "--width", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 15
    assert any(line.startswith("22 other scores: ") for line in lines)
