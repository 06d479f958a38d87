"""Comparisons of graded scores that human labels correct."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from harness_uq import DataError, assess_graders, compare, estimate, gate, rank
from harness_uq.data.task_log import Scores
from harness_uq.io.human_labels import Label
from harness_uq.results.comparison import Comparison
from harness_uq.stats.labels.effective_labels import corrected_correlation
from harness_uq.stats.labels.equal_errors import one_sided_correction
from harness_uq.stats.labels.judge import judge_corrected_difference
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.message_checks import has, params_of, raises_message

N = 300
RNG = np.random.default_rng(8)
TRUTH = np.array([RNG.random(N) < 0.8, RNG.random(N) < 0.6])
# the grader is strict with A and lenient with B, so that its scores show no difference
GRADES = np.array(
    [np.where(TRUTH[0], RNG.random(N) < 0.85, False), np.where(TRUTH[1], RNG.random(N) < 0.97, RNG.random(N) < 0.3)]
)
LABELED = np.sort(RNG.choice(N, 80, replace=False))
A, B = (
    task_log(grades, system=name, ids=[f"q{i}" for i in range(N)]) for name, grades in zip("ab", GRADES, strict=True)
)


def labels_of(*systems: str, rows: np.ndarray = LABELED) -> list[Label]:
    return [Label(f"q{i}", float(TRUTH["ab".index(name), i]), system=name) for name in systems for i in rows]


def only(rows: list[Comparison]) -> Comparison:
    (row,) = rows
    return row


def human() -> np.ndarray:
    values = np.full((2, N), np.nan)
    values[:, LABELED] = TRUTH[:, LABELED]
    return values


def test_labels_of_both_systems_reverse_what_the_grader_shows():
    raw, row = only(compare(A, B)), only(compare(A, B, labels=labels_of("a", "b")))
    assert raw.difference.value == pytest.approx(GRADES[0].mean() - GRADES[1].mean())
    assert raw.verdict == "undecided"
    assert (row.verdict, row.method) == ("better", "judge-corrected")
    assert row.difference.interval.low < TRUTH[0].mean() - TRUTH[1].mean() < row.difference.interval.high
    posterior = judge_corrected_difference(*GRADES.astype(float), *human(), rng=np.random.default_rng(0))
    low, high = posterior.interval(0.95)
    assert (row.difference.interval.low, row.difference.interval.high) == (low, high)
    message = params_of(row, "grader-difference")
    assert message["labeled"] == pytest.approx(TRUTH[0, LABELED].mean() - TRUTH[1, LABELED].mean())
    assert row.value_a - row.value_b == pytest.approx(message["corrected"]) == row.difference.value


@pytest.mark.parametrize("rows", [LABELED, LABELED[:12]], ids=["decided", "undecided"])
def test_two_labeled_systems_are_ranked_as_they_are_compared(rows: np.ndarray):
    labels = labels_of("a", "b", rows=rows)
    row, mirrored = only(compare(A, B, labels=labels)), only(compare(B, A, labels=labels))
    low, high = row.difference.interval.low, row.difference.interval.high
    assert (mirrored.difference.interval.low, mirrored.difference.interval.high) == pytest.approx((-high, -low))
    (ranking,) = rank([A, B], labels=labels)
    of = {system.system: system for system in ranking.systems}
    assert of["a"].prob_best == pytest.approx(row.prob_positive, abs=1e-9)
    assert (of["a"].letters != of["b"].letters) == (row.verdict in ("better", "worse"))


def test_the_difference_of_the_grader_between_the_systems_is_reported():
    params = params_of(only(compare(A, B, labels=labels_of("a", "b"))), "grader-errors")
    grades, truth = GRADES[:, LABELED], TRUTH[:, LABELED]
    j = [g[t].mean() + (~g)[~t].mean() - 1 for g, t in zip(grades, truth, strict=True)]
    assert params["shift"] == pytest.approx(j[0] - j[1], abs=0.05)
    assert params["low"] < params["shift"] < params["high"]


def test_a_grader_that_overrates_one_system_is_reported():
    found = params_of(only(compare(A, B, labels=labels_of("a", "b"))), "grader-shifts-difference")
    errors = (GRADES.astype(float) - TRUTH)[:, LABELED]
    assert (found["overrated"], found["other"]) == ("b", "a")
    assert found["value"] == pytest.approx(errors[1].mean() - errors[0].mean())
    assert 0 < found["low"] < found["value"] < found["high"]
    mirrored = params_of(only(compare(B, A, labels=labels_of("a", "b"))), "grader-shifts-difference")
    assert mirrored == pytest.approx(found, abs=0.01)


def test_a_grader_with_equal_errors_is_not_reported():
    exact = [task_log(truth, system=name, ids=A.questions.ids) for name, truth in zip("ab", TRUTH, strict=True)]
    assert not has(only(compare(*exact, labels=labels_of("a", "b"))), "grader-shifts-difference")


def test_labels_of_all_answers_give_the_difference_of_the_labels():
    row = only(compare(A, B, labels=labels_of("a", "b", rows=np.arange(N))))
    plain = only(
        compare(
            *(
                replace(log, data=(Scores("acc", "none", t[:, None].astype(float)),))
                for log, t in zip((A, B), TRUTH, strict=True)
            )
        )
    )
    assert row.difference.value == pytest.approx(plain.difference.value)
    widths = [x.difference.interval.high - x.difference.interval.low for x in (row, plain)]
    assert widths[0] / widths[1] == pytest.approx(1, abs=0.05)


def test_clusters_and_weights_of_the_sample_are_used():
    fields = {"passage": [f"p{i // 6}" for i in range(N)]}
    logs = [task_log(g, system=name, ids=A.questions.ids, fields=fields) for name, g in zip("ab", GRADES, strict=True)]
    row = only(compare(*logs, labels=labels_of("a", "b"), cluster="passage"))
    low, high = judge_corrected_difference(*GRADES.astype(float), *human(), clusters=np.arange(N) // 6).interval(0.95)
    assert (row.difference.interval.low, row.difference.interval.high) == (low, high)
    chances = np.where(np.arange(N) < 100, 0.5, 0.2)
    drawn = [replace(label, probability=chances[int(label.id[1:])]) for label in labels_of("a", "b")]
    row = only(compare(A, B, labels=drawn))
    low, high = judge_corrected_difference(*GRADES.astype(float), *human(), probabilities=chances).interval(0.95)
    assert (row.difference.interval.low, row.difference.interval.high) == (low, high)


CHANCES = np.where(GRADES, 0.2, 0.5)


def drawn(*systems: str, rows: np.ndarray = LABELED) -> list[Label]:
    """Labels with a probability that depends on the grade of the own system."""
    return [
        replace(label, probability=float(CHANCES["ab".index(str(label.system)), int(label.id[1:])]))
        for label in labels_of(*systems, rows=rows)
    ]


def test_labels_drawn_separately_weight_the_score_of_each_system():
    row = only(compare(A, B, labels=drawn("a", "b")))
    assert has(row, "labels-drawn-separately")
    each = [only(estimate(log, labels=drawn(name))) for log, name in zip((A, B), "ab", strict=True)]
    assert (row.value_a, row.value_b) == tuple(one.value for one in each)
    correlation = corrected_correlation(GRADES.astype(float), list(human()), probabilities=list(CHANCES))[0, 1]
    sds = [one.std_error for one in each]
    variance = sds[0] ** 2 + sds[1] ** 2 - 2 * correlation * sds[0] * sds[1]
    assert row.difference.std_error == pytest.approx(np.sqrt(variance), rel=1e-6)
    # a simple random sample of the answers of one system only is not drawn together with the other's, either
    assert has(only(compare(A, B, labels=[*drawn("a"), *labels_of("b")])), "labels-drawn-separately")


def test_the_grader_errors_of_one_labeled_system_are_weighted():
    row = only(compare(A, B, labels=drawn("a")))
    found = one_sided_correction(
        *GRADES.astype(float), human()[0], probabilities=CHANCES[0], rng=np.random.default_rng(0)
    )
    assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx(found.outer.interval(0.95))
    assert row.difference != only(compare(A, B, labels=labels_of("a"))).difference


def test_a_metric_of_the_logs_can_have_the_labels():
    logs = [
        replace(log, data=(*log.data, Scores("human", "none", values[:, None])))
        for log, values in zip((A, B), human(), strict=True)
    ]
    rows = compare(*logs, labels="human", metric="acc")
    assert only(rows).difference == only(compare(A, B, labels=labels_of("a", "b"))).difference
    with pytest.raises(DataError, match="huma"):
        compare(*logs, labels="huma")


def test_labels_of_different_questions_give_independent_corrected_scores():
    labels = [*labels_of("a", rows=LABELED[::2]), *labels_of("b", rows=LABELED[1::2])]
    row = only(compare(A, B, labels=labels))
    assert has(row, "labels-of-different-questions")
    each = [only(estimate(log, labels=labels)) for log in (A, B)]
    assert (row.value_a, row.value_b) == tuple(one.value for one in each)
    assert row.difference.std_error == pytest.approx(np.hypot(*(one.std_error for one in each)), rel=0.01)


@pytest.mark.parametrize(("labeled", "sign"), [("a", 1), ("b", -1)])
def test_labels_of_one_system_allow_for_other_errors_on_the_other(labeled, sign):
    labels = labels_of(labeled)
    rows = [only(compare(A, B, labels=labels, grader_shift=shift)) for shift in (0.0, 0.1, 0.3)]
    warning = params_of(rows[1], "grader-errors-assumed-equal")
    intervals = [row.difference.interval for row in rows]
    assert intervals[0].low > intervals[1].low > intervals[2].low
    assert intervals[0].high < intervals[1].high < intervals[2].high
    assert (warning["low"], warning["high"]) == pytest.approx((intervals[0].low, intervals[0].high))
    mirrored = only(compare(B, A, labels=labels, grader_shift=0.1)).difference.interval
    assert (-mirrored.high, -mirrored.low) == pytest.approx((intervals[1].low, intervals[1].high))
    assert rows[1].prob_positive is None
    low, high = rows[1].identified_range
    assert low < high


def test_without_information_about_the_grader_there_is_no_result():
    row = only(compare(A, B, labels=labels_of("a"), grader_shift=0.9))
    assert has(row, "grader-uninformative")
    assert row.difference is None
    graded = task_log(GRADES[1] * 0.5, system="b", ids=B.questions.ids)
    assert has(only(compare(A, graded, labels=labels_of("a"))), "labels-of-one-system")
    assert has(only(compare(A, B, labels=[Label("other", 1.0, system="a")])), "no-labels")
    few = only(compare(A, B, labels=labels_of("a", "b", rows=LABELED[:12])))
    assert has(few, "few-labels")


def test_labels_name_the_system():
    with raises_message(DataError, "labels-without-system"):
        compare(A, B, labels=[Label("q1", 1.0)])
    with pytest.raises(DataError, match="grader_shift"):
        compare(A, B, labels=labels_of("a", "b"), grader_shift=1.5)
    with pytest.raises(DataError, match="population"):
        compare(A, B, labels=labels_of("a", "b"), scope="benchmark")


def test_estimates_use_the_labels_of_their_own_system():
    (row,) = estimate(A, labels=labels_of("a", "b"))
    (own,) = estimate(A, labels=[replace(label, system=None) for label in labels_of("a")])
    assert row.interval == own.interval


@pytest.fixture
def tables(tmp_path):
    """A table of the scores of two systems in one folder with a table of labels."""
    write(
        tmp_path / "scores.csv",
        ("system", "question", "score"),
        [(name, f"q{i}", int(g)) for name, row in zip("ab", GRADES, strict=True) for i, g in enumerate(row)],
    )
    write(tmp_path / "labels.csv", ("system", "id", "score"), [(x.system, x.id, x.score) for x in labels_of("a", "b")])
    return tmp_path


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def test_the_command_compares_tables(tables, capsys):
    labels = str(tables / "labels.csv")
    code, out, _ = output(capsys, "compare", str(tables), "--labels", labels, "--format", "json", "--seed", "0")
    (row,) = json.loads(out)["comparisons"]
    assert code == 0
    assert (row["verdict"], row["n_matched"]) == ("better", N)
    code, out, err = output(capsys, "compare", str(tables), "--labels", labels, "--disagreements", "3")
    assert (code, out) == (2, "")
    code, out, err = output(capsys, "compare", str(tables), "--labels", "humans")
    assert (code, out) == (2, "")
    assert "'humans'" in err


@pytest.fixture
def weighted_tables(tables):
    """Scores, labels with the column `p`, and the same labels with the column `probability`."""
    for name, column in (("labels.csv", "p"), ("known.csv", "probability")):
        rows = [(x.system, x.id, x.score, x.probability) for x in drawn("a", "b")]
        write(tables / name, ("system", "id", "score", column), rows)
    return tables


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["estimate", "scores.csv"], "estimates"),
        (["compare", "scores.csv"], "comparisons"),
        (["rank", "scores.csv"], "rankings"),
        (["gate", "a=scores.csv", "--baseline", "b=scores.csv", "--margin", "0.1"], "gates"),
        (["grader", "scores.csv"], "agreements"),
    ],
)
def test_commands_read_the_column_of_probabilities(command, name, weighted_tables, capsys, monkeypatch):
    monkeypatch.chdir(weighted_tables)
    command = [*command, "--format", "json"]
    _, named, _ = output(capsys, *command, "--labels", "labels.csv", "--inclusion-probabilities", "p")
    _, known, _ = output(capsys, *command, "--labels", "known.csv")
    _, plain, _ = output(capsys, *command, "--labels", "labels.csv")
    assert json.loads(named)[name] == json.loads(known)[name] != json.loads(plain)[name]
    code, _, err = output(capsys, *command, "--labels", "labels.csv", "--inclusion-probabilities", "chance")
    assert code == 2
    assert "Available columns: system, id, score and p" in err
    code, _, err = output(capsys, *command, "--inclusion-probabilities", "p")
    assert code == 2
    assert "--inclusion-probabilities requires --labels" in err


def test_functions_take_the_column_of_probabilities(weighted_tables):
    scores, labels, known = (str(weighted_tables / name) for name in ("scores.csv", "labels.csv", "known.csv"))
    for call in (estimate, rank, assess_graders):
        named, expected = call(scores, labels=labels, inclusion_probabilities="p"), call(scores, labels=known)
        assert str(named) == str(expected)
    with pytest.raises(DataError, match="requires labels"):
        compare(A, B, inclusion_probabilities="p")
    with pytest.raises(DataError, match="not in a file"):
        compare(A, B, labels=drawn("a", "b"), inclusion_probabilities="p")


def test_the_disagreement_of_raters_is_reported():
    rng = np.random.default_rng(5)
    several = [
        replace(label, score=float(rng.random() < 0.1) if label.score == 0 else 1.0, rater=rater)
        for label in labels_of("a", "b")
        for rater in ("x", "y")
    ]
    row = only(compare(A, B, labels=several))
    assert row.verdict == "better"
    notes = [message.params for message in row.messages if message.name == "labels-of-several-raters"]
    assert [note["system"] for note in notes] == ["a", "b"]
    by_system = {
        name: np.array([[x.score for x in several if (x.system, x.rater) == (name, r)] for r in "xy"]) for name in "ab"
    }
    human, grades = [by_system[name].mean(axis=0) for name in "ab"], GRADES[:, LABELED]
    j = [h @ f / h.sum() + (1 - h) @ (1 - f) / (1 - h).sum() - 1 for h, f in zip(human, grades, strict=True)]
    assert params_of(row, "grader-errors")["shift"] == pytest.approx(j[0] - j[1], abs=0.05)
    for note in notes:
        assert (note["n_answers"], note["n_raters"]) == (len(LABELED), 2)
        assert note["agreement"] < 1


def test_labels_of_one_system_may_be_those_of_people_who_disagree():
    rng = np.random.default_rng(5)
    several = [
        replace(label, score=float(label.score if rng.random() < 0.9 else 1 - label.score), rater=rater)
        for label in labels_of("a")
        for rater in ("x", "y")
    ]
    row = only(compare(A, B, labels=several))
    assert has(row, "labels-of-several-raters")
    assert has(row, "grader-errors-assumed-equal")
    interval, agreed = row.difference.interval, only(compare(A, B, labels=labels_of("a"))).difference.interval
    # the grader agrees less with the mean of such labels, so that less is known about the other system
    assert interval.high - interval.low > agreed.high - agreed.low
    assert gate(A, B, margin=1.0, labels=several).rows[0].comparison.difference == row.difference


def test_equal_labels_of_two_raters_change_nothing():
    twice = [replace(label, rater=rater) for label in labels_of("a", "b") for rater in ("x", "y")]
    once = only(compare(A, B, labels=labels_of("a", "b")))
    assert only(compare(A, B, labels=twice)).difference == once.difference


def test_a_table_can_contain_grades_and_labels(tmp_path, capsys):
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "question", "score", "label"])
        for k, system in enumerate("ab"):
            table.writerows(
                [system, f"q{i}", int(GRADES[k, i]), int(TRUTH[k, i]) if i in LABELED else ""] for i in range(N)
            )
    expected = only(compare(A, B, labels=labels_of("a", "b"))).difference
    code, text, _ = output(capsys, "compare", str(path), "--labels", str(path), "--format", "json")
    found = json.loads(text)["comparisons"][0]["difference"]
    assert code == 0
    assert found["interval"]["low"] == pytest.approx(expected.interval.low)
    assert found["interval"]["high"] == pytest.approx(expected.interval.high)
    for command in ("estimate", "rank", "grader"):
        code, text, _ = output(capsys, command, str(path), "--labels", str(path), "--format", "json")
        assert code == 0
        assert json.loads(text)[{"estimate": "estimates", "rank": "rankings", "grader": "agreements"}[command]]
