"""Assessment of graders: agreement with people, differences between graders, and self-preference."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, assess_graders, estimate_scores
from harness_uq.commands.main import main
from harness_uq.data.task_log import Attempt, Scores, Source, TaskLog
from harness_uq.io.human_labels import Label
from harness_uq.stats.labels.judge import judge_corrected_posterior
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.message_checks import has, raises_message

N = 200
RNG = np.random.default_rng(5)
TRUTH = {name: RNG.random(N) < p for name, p in (("own-1", 0.7), ("own-2", 0.5), ("other", 0.6))}
IDS = [f"q{i}" for i in range(N)]


def grades(truth: np.ndarray, lenience: float = 0.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(truth, rng.random(N) < 0.92, rng.random(N) < 0.1 + lenience)


def log_of(system: str, values: np.ndarray, **other: object) -> TaskLog:
    return task_log(values.astype(float), system=system, ids=IDS, metric="grade", **other)


def labels_of(*systems: str, n: int = N) -> list[Label]:
    return [Label(IDS[i], float(TRUTH[name][i]), system=name) for name in systems for i in range(n)]


def measures(row):
    return {one.measure: (one.value, (one.interval.low, one.interval.high)) for one in row.measures}


def test_shares_have_the_default_intervals_of_scores():
    graded = grades(TRUTH["other"])
    (row,) = assess_graders(log_of("other", graded), labels_of("other", n=80)).agreements
    f, h = graded[:80].astype(float), TRUTH["other"][:80].astype(float)
    expected = {"agreement": f == h, "sensitivity": f[h == 1], "specificity": 1 - f[h == 0]}
    for measure, values in expected.items():
        reference = estimate_scores(np.asarray(values, float))
        interval = (reference.interval.low, reference.interval.high)
        assert measures(row)[measure] == (reference.value, interval), measure
    assert (row.n_labels, row.n_questions, row.n_clusters, row.status) == (80, 80, None, "ok")
    assert measures(row)["mean error"][0] == pytest.approx((f - h).mean())


def test_kappa_is_that_of_scikit_learn_and_ac1_that_of_gwet():
    metrics = pytest.importorskip("sklearn.metrics")
    graded = grades(TRUTH["own-1"])
    (row,) = assess_graders(log_of("own-1", graded), labels_of("own-1")).agreements
    found = measures(row)
    assert found["kappa"][0] == pytest.approx(metrics.cohen_kappa_score(TRUTH["own-1"], graded))
    share, equal = np.mean([TRUTH["own-1"].mean(), graded.mean()]), (graded == TRUTH["own-1"]).mean()
    chance = 2 * share * (1 - share)
    assert found["ac1"][0] == pytest.approx((equal - chance) / (1 - chance))
    for value, (low, high) in found.values():
        assert low < value < high


def test_the_answers_of_all_systems_to_a_question_are_one_cluster():
    # the second system gives the same answers, so that its labels add no information
    first = log_of("a", grades(TRUTH["other"]))
    labels = [Label(IDS[i], float(TRUTH["other"][i]), system=name) for name in "ab" for i in range(N)]
    rows = assess_graders([first, replace(first, system="b")], labels).agreements
    pooled, alone = measures(rows[0])["agreement"], measures(rows[1])["agreement"]
    assert [row.system for row in rows] == [None, "a", "b"]
    assert pooled[0] == alone[0]
    width, width_alone = np.diff(pooled[1]), np.diff(alone[1])
    assert width > 0.95 * width_alone


def test_clusters_widen_the_intervals():
    blocks = np.repeat(RNG.random(20) < 0.8, 10)
    graded = np.where(blocks, TRUTH["other"], ~TRUTH["other"])
    by_question = assess_graders(log_of("other", graded), labels_of("other")).agreements[0]
    passages = {"passage": np.repeat(np.arange(20), 10).tolist()}
    log = log_of("other", graded, fields=passages)
    (row,) = assess_graders(log, labels_of("other"), cluster="passage").agreements
    assert row.n_clusters == 20
    for measure, (value, ends) in measures(row).items():
        plain_value, plain_ends = measures(by_question)[measure]
        assert value == plain_value
        assert np.diff(ends) > 1.5 * np.diff(plain_ends) or measure in ("mean error",), measure


def test_graded_scores_have_a_mean_error_and_levels_an_agreement():
    human = np.round(RNG.random(N) * 4) / 4
    graded = np.clip(human + 0.25 * (RNG.random(N) < 0.3), 0, 1)
    labels = [Label(question, float(label)) for question, label in zip(IDS, human, strict=True)]
    (row,) = assess_graders(log_of("m", graded), labels).agreements
    assert set(measures(row)) == {"agreement", "kappa", "ac1", "mean error"}
    assert measures(row)["mean error"][0] == pytest.approx((graded - human).mean())
    (row,) = assess_graders(log_of("m", np.clip(human + RNG.normal(0, 0.01, N), 0, 1)), labels).agreements
    assert set(measures(row)) == {"mean error"}


def test_unequal_probabilities_weight_the_labels():
    graded = grades(TRUTH["other"])
    # grades of 1 were labeled with probability 0.8 and grades of 0 with 0.2
    chance = np.where(graded, 0.8, 0.2)
    chosen = RNG.random(N) < chance
    labels = [Label(IDS[i], float(TRUTH["other"][i]), None, float(chance[i])) for i in np.flatnonzero(chosen)]
    (row,) = assess_graders(log_of("other", graded), labels).agreements
    weights = 1 / chance[chosen]
    equal = (graded == TRUTH["other"])[chosen]
    assert measures(row)["agreement"][0] == pytest.approx(np.average(equal, weights=weights))
    assert np.diff(measures(row)["agreement"][1]) > 0


def test_groups_of_questions_have_agreements_of_their_own():
    kinds = np.array(["short", "long"])[(np.arange(N) % 4 == 0).astype(int)]
    graded = np.where(kinds == "long", RNG.random(N) < 0.5, TRUTH["other"])
    log = log_of("other", graded, fields={"kind": kinds.tolist()})
    rows = assess_graders(log, labels_of("other"), by="kind").agreements
    by_group = {row.group: measures(row)["agreement"][0] for row in rows}
    assert by_group["short"] == 1.0
    assert by_group["long"] < 0.7
    assert by_group[None] == pytest.approx((graded == TRUTH["other"]).mean())


def two_graders(change: float, system: str = "other") -> TaskLog:
    first = grades(TRUTH[system])
    second = first | (np.random.default_rng(9).random(N) < change)
    log = log_of(system, first)
    return replace(log, data=(*log.data, Scores("newer", "none", second.astype(float)[:, None])))


def test_a_grader_that_became_more_lenient_is_found():
    (row,) = assess_graders(two_graders(0.3)).grader_differences
    assert (row.grader_a, row.grader_b, row.verdict, row.n_questions) == ("newer", "grade", "higher", N)
    log = two_graders(0.3)
    old, new = (data.values[:, 0] for data in log.data)
    assert row.value == pytest.approx((new - old).mean())
    assert row.share_different == pytest.approx((new != old).mean())
    assert row.interval.low > 0
    assert row.adjusted_p == row.p_value < 0.05


def test_the_mean_of_several_graders_is_corrected_with_labels():
    log = two_graders(0.3)
    (panel,) = assess_graders(log, labels_of("other", n=80)).panels
    mean, truth = np.mean([data.values[:, 0] for data in log.data], axis=0), TRUTH["other"].astype(float)
    assert (panel.graders, panel.n_questions, panel.n_labels) == (("grade", "newer"), N, 80)
    assert panel.value == pytest.approx(mean.mean())
    human = np.where(np.arange(N) < 80, truth, np.nan)
    expected = judge_corrected_posterior(mean, human).interval(0.95, "hdi")
    assert (panel.corrected_interval.low, panel.corrected_interval.high) == pytest.approx(expected)
    errors = np.array([data.values[:80, 0] - truth[:80] for data in log.data])
    ratio = errors.var(axis=1).mean() / errors.mean(axis=0).var()
    assert panel.effective_graders == pytest.approx(ratio)
    assert panel.effective_interval.low <= ratio <= panel.effective_interval.high


def test_without_labels_the_effective_number_of_graders_is_unknown():
    (panel,) = assess_graders(two_graders(0.3)).panels
    assert panel.effective_graders is None
    assert panel.corrected is None
    assert has(panel, "effective-graders-unknown")
    assert not assess_graders(log_of("other", grades(TRUTH["other"])), labels_of("other")).panels


def test_graders_with_different_scales_are_not_averaged():
    log = two_graders(0.3)
    wide = replace(log.data[1], values=log.data[1].values * 10, metric="points")
    (panel,) = assess_graders(replace(log, data=(log.data[0], wide)), range={"points": (0, 10)}).panels
    assert has(panel, "graders-of-different-ranges")
    assert (panel.status, panel.value) == ("not_estimable", None)


def test_equal_graders_do_not_differ():
    (row,) = assess_graders(two_graders(0.0)).grader_differences
    assert (row.value, row.share_different, row.verdict) == (0.0, 0.0, "undecided")
    assert row.interval.low < 0 < row.interval.high


def test_differences_of_several_systems_are_adjusted_together():
    rows = assess_graders([two_graders(0.05, system) for system in TRUTH]).grader_differences
    assert len(rows) == 3
    smallest = min(rows, key=lambda row: row.p_value)
    assert smallest.adjusted_p == pytest.approx(min(1.0, 3 * smallest.p_value))


def test_a_run_that_was_scored_again_contains_graders_of_the_same_answers():
    attempts = [Attempt("run", "1", is_finished=True, content=content) for content in ("old", "new")]
    first, second = (
        log_of("other", values, source=Source(f"{i}.eval", "inspect", attempt=attempt))
        for i, (values, attempt) in enumerate(
            zip((grades(TRUTH["other"]), grades(TRUTH["other"], lenience=0.5)), attempts, strict=True)
        )
    )
    (row,) = assess_graders([first, second]).grader_differences
    assert (row.grader_a, row.grader_b, row.verdict) == ("grade (2)", "grade (1)", "higher")
    other_run = replace(second, source=Source("c.eval", "inspect", attempt=Attempt("run 2", "2", is_finished=True)))
    with raises_message(DataError, "nothing-to-assess"):
        assess_graders([first, other_run])


def family(lenience: float):
    return [
        log_of(name, grades(truth, lenience if name.startswith("own") else 0.0, seed))
        for seed, (name, truth) in enumerate(TRUTH.items())
    ]


def test_a_grader_that_overrates_its_own_family_is_found():
    logs, labels = family(0.4), labels_of(*TRUTH, n=150)
    (row,) = assess_graders(logs, labels, same_family="own-*").self_preferences
    assert (row.own, row.others, row.verdict, row.n_questions) == (("own-1", "own-2"), ("other",), "higher", 150)
    errors = {log.system: log.data[0].values[:150, 0] - TRUTH[log.system][:150] for log in logs}
    expected = (errors["own-1"] + errors["own-2"]) / 2 - errors["other"]
    assert row.value == pytest.approx(expected.mean())
    (mirrored,) = assess_graders(logs, labels, same_family="other").self_preferences
    assert mirrored.verdict == "lower"
    assert mirrored.value == pytest.approx(-row.value)


def test_a_fair_grader_has_no_preference():
    (row,) = assess_graders(family(0.0), labels_of(*TRUTH), same_family="own-*").self_preferences
    assert row.verdict == "undecided"


def test_labels_of_one_family_do_not_suffice():
    (row,) = assess_graders(family(0.0), labels_of("own-1", "own-2"), same_family="own-*").self_preferences
    assert row.status == "not_estimable"
    assert has(row, "labels-of-one-family")


@pytest.mark.parametrize("pattern", ["*", "nobody"])
def test_a_family_of_all_or_no_systems_is_refused(pattern):
    with pytest.raises(DataError, match="same_family matches"):
        assess_graders(family(0.0), labels_of(*TRUTH), same_family=pattern)


def test_what_lacks_labels_is_refused():
    with pytest.raises(DataError, match="requires labels"):
        assess_graders(family(0.0), same_family="own-*")
    with raises_message(DataError, "labels-without-system"):
        assess_graders(family(0.0), [Label("q1", 1.0)])
    with raises_message(DataError, "nothing-to-assess"):
        assess_graders(log_of("other", grades(TRUTH["other"])))
    (row,) = assess_graders(log_of("other", grades(TRUTH["other"])), [Label("unknown", 1.0)]).agreements
    assert has(row, "no-labels")
    assert (row.measures, row.status) == ((), "not_estimable")


def test_few_labels_are_reported():
    (row,) = assess_graders(log_of("other", grades(TRUTH["other"])), labels_of("other", n=10)).agreements
    assert has(row, "few-labels")


@pytest.fixture
def tables(tmp_path):
    with (tmp_path / "grades.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "question", "score"])
        for log in family(0.4):
            values = log.data[0].values[:, 0]
            table.writerows([log.system, question, int(value)] for question, value in zip(IDS, values, strict=True))
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "id", "score"])
        table.writerows([label.system, label.id, int(label.score)] for label in labels_of(*TRUTH, n=120))
    return tmp_path


def test_the_command_prints_the_results_of_the_function(tables, capsys):
    command = ["grader", str(tables / "grades.csv"), "--labels", str(tables / "labels.csv"), "--same-family", "own-*"]
    document = json.loads(output(capsys, *command, "--format", "json")[1])
    (expected,) = assess_graders(
        str(tables / "grades.csv"), str(tables / "labels.csv"), same_family="own-*"
    ).self_preferences
    (preference,) = document["self_preferences"]
    assert preference["value"] == expected.value
    assert [row["system"] for row in document["agreements"]] == [None, *TRUTH]
    code, text, _ = output(capsys, *command)
    assert code == 0
    assert "overrates its own family more" in text
    assert "sensitivity: share of the answers" in text
    assert text.count("sensitivity: share") == 1


def test_the_command_refuses_what_the_function_refuses(tables, capsys):
    assert main(["grader", str(tables / "grades.csv")]) == 2
    assert "scores of two graders" in capsys.readouterr().err


def test_an_assessment_prints_as_its_tables_and_in_one_line(tables):
    assessed = assess_graders(str(tables / "grades.csv"), str(tables / "labels.csv"))
    assert str(assessed) == str(assessed.agreements)
    assert repr(assessed).startswith("GraderAssessment(agreements=")
    assert "\n" not in repr(assessed)
    assert assessed._repr_html_() == assessed.agreements._repr_html_()
    assert set(assessed.to_dict()) >= {"agreements", "panels"}
