"""Plans of human labels from logs, and the table of the answers to label."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq import DataError, Options, assess_graders, compare, estimate, plan_labels, rank
from harness_uq.commands.main import main
from harness_uq.io.human_labels import Label, read_labels
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.message_checks import has, raises_message

N = 400
RNG = np.random.default_rng(4)
TRUTH = RNG.random((2, N)) < [[0.8], [0.6]]
GRADES = np.where(TRUTH, RNG.random((2, N)) < 0.9, RNG.random((2, N)) < 0.2)
IDS = [f"=q{i}" for i in range(N)]  # identifiers that a spreadsheet would run as formulas
PILOT = RNG.choice(N, 50, replace=False)
LOGS = [task_log(grades.astype(float), system=name, ids=IDS) for name, grades in zip("ab", GRADES, strict=True)]


def labels_of(*systems: str, named: bool = True) -> list[Label]:
    return [
        Label(IDS[i], float(TRUTH["ab".index(name), i]), system=name if named else None)
        for name in systems
        for i in PILOT
    ]


def write(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def answered(plan, path):
    """The table of labels in which people entered all scores."""
    rows = [
        (question, task, system, int(TRUTH["ab".index(system), IDS.index(question)]), chance)
        for question, task, system, _, chance in plan.template
    ]
    write(path, ["id", "task", "system", "score", "probability"], rows)
    return str(path)


def test_the_labels_of_one_system_give_the_width(tmp_path):
    (plan,) = plan_labels(LOGS[0], labels_of("a"), Options(width=0.1))
    (row,) = estimate(LOGS[0], labels=answered(plan, tmp_path / "labels.csv"))
    assert row.interval.width == pytest.approx(0.1, rel=0.2)
    assert row.interval.low < TRUTH[0].mean() < row.interval.high
    assert plan.n_labels == plan.n_new + len(PILOT) == len(plan.template)
    assert plan.n_labels == sum(stratum.n_labels for stratum in plan.strata)


def test_the_labels_of_two_systems_give_the_width(tmp_path):
    options = Options(difference=0.15)
    (plan,) = plan_labels(LOGS, labels_of("a", "b"), options)
    assert plan.target_width == pytest.approx(2 * 1.959964 * 0.15 / (1.959964 + 0.841621))
    (row,) = compare(*LOGS, labels=answered(plan, tmp_path / "labels.csv"))
    interval = row.difference.interval
    assert interval.high - interval.low == pytest.approx(plan.target_width, rel=0.2)
    assert interval.low < (TRUTH[0].mean() - TRUTH[1].mean()) < interval.high
    assert {(row[0], row[2]) for row in plan.template} == {(row[0], name) for row in plan.template for name in "ab"}


def test_the_seed_decides_which_questions_are_labeled():
    one, same, other = (
        plan_labels(LOGS[0], labels_of("a"), Options(width=0.1, seed=seed))[0].template for seed in (0, 0, 1)
    )
    assert one == same != other


def weighted_pilot(*systems: str, p: str = "p") -> tuple[list[str], list[tuple[str, str, int, float]]]:
    """The header and the lines of a pilot in which errors of the grader are more likely."""
    chances = np.where((GRADES != TRUTH).any(axis=0), 0.3, 0.08)
    drawn = np.flatnonzero(np.random.default_rng(8).random(N) < chances)
    rows = [(IDS[i], name, int(TRUTH["ab".index(name), i]), float(chances[i])) for name in systems for i in drawn]
    return ["id", "system", "score", p], rows


def test_the_pilot_is_weighted_by_its_probabilities(tmp_path, capsys):
    for column in ("probability", "p"):
        write(tmp_path / f"{column}.csv", *weighted_pilot("a", "b", p=column))
    options = Options(width=0.16)
    plain = plan_labels(LOGS, tmp_path / "p.csv", options)[0]
    weighted = plan_labels(LOGS, tmp_path / "p.csv", options, inclusion_probabilities="p")[0]
    (by_default,) = plan_labels(LOGS, tmp_path / "probability.csv", options)
    assert weighted.to_dict() == by_default.to_dict()
    assert weighted.n_labels < plain.n_labels
    (row,) = compare(*LOGS, labels=answered(weighted, tmp_path / "labels.csv"))
    interval = row.difference.interval
    assert interval.high - interval.low == pytest.approx(0.16, rel=0.2)
    assert interval.low < (TRUTH[0].mean() - TRUTH[1].mean()) < interval.high
    write(tmp_path / "grades.csv", ["system", "question", "score"], rows_of_grades())
    command = ["plan", str(tmp_path / "grades.csv"), "--target", "labels", "--labels", str(tmp_path / "p.csv")]
    code, text, _ = output(capsys, *command, "--width", "0.16", "--inclusion-probabilities", "p", "--format", "json")
    (found,) = json.loads(text)["label_plans"]
    assert (code, found["n_labels"]) == (0, weighted.n_labels)


def test_answers_that_were_drawn_separately_have_no_plan(tmp_path):
    header, rows = weighted_pilot("a", "b", p="probability")
    options = Options(width=0.16)
    for changed in ([*rows[:-1], (*rows[-1][:3], 0.5)], rows[:-1]):
        write(tmp_path / "labels.csv", header, changed)
        (plan,) = plan_labels(LOGS, tmp_path / "labels.csv", options)
        assert has(plan, "plan-unavailable")
        (plan,) = plan_labels(LOGS[0], tmp_path / "labels.csv", options)
        assert plan.status == "ok"


def test_a_plan_has_the_total_number_of_labels(tmp_path, capsys):
    (one,) = plan_labels(LOGS[0], labels_of("a"), Options(width=0.1))
    (two,) = plan_labels(LOGS, labels_of("a", "b"), Options(difference=0.15))
    assert (one.n_new_labels, two.n_new_labels) == (one.n_new, 2 * two.n_new)
    assert two.n_new_labels == sum(row[3] == "" for row in two.template)
    assert f"({two.n_new_labels} labels)" in two.answer
    tasks = [("s", question, int(grade)) for question, grade in zip(IDS, GRADES[0], strict=True)]
    write(
        tmp_path / "grades.csv",
        ["task", "system", "question", "score"],
        [(task, *row) for task in ("x", "y") for row in tasks],
    )
    pilot = [(task, IDS[i], int(TRUTH[0, i])) for task in ("x", "y") for i in PILOT]
    write(tmp_path / "pilot.csv", ["task", "id", "score"], pilot)
    command = ["plan", str(tmp_path / "grades.csv"), "--target", "labels", "--labels", str(tmp_path / "pilot.csv")]
    _, text, _ = output(capsys, *command, "--width", "0.1")
    rows = [line.split() for line in text.splitlines() if line.split()[:1] == ["all"]]
    assert [row[1:4] for row in rows] == [[str(N), str(len(PILOT)), str(one.n_new)]] * 2
    assert f"Together, the 2 plans require {2 * one.n_new} more labels." in text
    _, text, _ = output(capsys, *command, "--width", "0.1", "--format", "json")
    assert json.loads(text)["label_plans_total"] == {"n_plans": 2, "n_new_labels": 2 * one.n_new}
    _, text, _ = output(capsys, *command, "--width", "0.1", "--task", "x", "--format", "json")
    assert json.loads(text)["label_plans_total"] is None


def test_a_table_with_missing_labels_is_reported(tmp_path, capsys):
    (plan,) = plan_labels(LOGS, labels_of("a", "b"), Options(difference=0.15))
    header = ["id", "task", "system", "score", "probability"]
    write(tmp_path / "labels.csv", header, plan.template)
    path = str(tmp_path / "labels.csv")
    expected = {"system": "a", "n_missing": plan.n_new, "n_answers": plan.n_labels}
    options = Options(difference=0.15)
    results = [
        *estimate(LOGS[0], labels=path),
        *compare(*LOGS, labels=path),
        *rank(LOGS, labels=path),
        *plan_labels(LOGS, path, options),
        *assess_graders(LOGS[0], path).agreements,
    ]
    assert len(results) == 5
    for result in results:
        (message,) = (one for one in result.messages if one.name == "labels-incomplete" and one.params["system"] == "a")
        assert (message.severity, message.params) == ("warning", expected)
    (row,) = estimate(LOGS[0], labels=answered(plan, tmp_path / "complete.csv"))
    assert not has(row, "labels-incomplete")


def test_a_table_without_labels_has_no_result(tmp_path):
    (plan,) = plan_labels(LOGS[0], labels_of("a"), Options(width=0.1))
    rows = [(*row[:3], "", row[4]) for row in plan.template]
    write(tmp_path / "labels.csv", ["id", "task", "system", "score", "probability"], rows)
    (row,) = estimate(LOGS[0], labels=str(tmp_path / "labels.csv"))
    assert has(row, "no-labels")
    assert not has(row, "labels-incomplete")
    # empty labels without a probability belong to answers that were not drawn
    write(tmp_path / "labels.csv", ["id", "score"], [*((IDS[i], int(TRUTH[0, i])) for i in PILOT), ("other", "")])
    (row,) = estimate(LOGS[0], labels=str(tmp_path / "labels.csv"))
    assert not has(row, "labels-incomplete")
    assert len(read_labels(tmp_path / "labels.csv")) == len(PILOT)


def test_what_cannot_be_planned_is_named():
    with pytest.raises(DataError, match="either width or difference"):
        plan_labels(LOGS[0], labels_of("a"))
    with pytest.raises(DataError, match="two systems"):
        plan_labels(LOGS[0], labels_of("a"), Options(difference=0.1))
    with pytest.raises(DataError, match="one or two systems"):
        plan_labels(
            [*LOGS, task_log(GRADES[0].astype(float), system="c", ids=IDS)],
            labels_of("a"),
            Options(width=0.1),
        )
    with raises_message(DataError, "labels-without-system"):
        plan_labels(LOGS, labels_of("a", named=False), Options(width=0.1))
    (plan,) = plan_labels(LOGS[0], labels_of("a"), Options(width=0.01))
    assert (plan.status, plan.expected_width, plan.template) == ("not_estimable", None, ())
    assert has(plan, "plan-unavailable")
    assert not has(plan, "not-computable")  # which is about a score
    (plan,) = plan_labels(LOGS[0], labels_of("a")[:9], Options(width=0.1))
    assert has(plan, "plan-unavailable")
    trials = task_log(GRADES.T.astype(float), system="a", ids=IDS)
    (plan,) = plan_labels(trials, labels_of("a"), Options(width=0.1))
    assert has(plan, "label-plan-trials")


def rows_of_grades() -> list[tuple[str, str, int]]:
    return [
        (name, question, int(grade))
        for name, grades in zip("ab", GRADES, strict=True)
        for question, grade in zip(IDS, grades, strict=True)
    ]


@pytest.fixture
def tables(tmp_path):
    write(tmp_path / "grades.csv", ["system", "question", "score"], rows_of_grades())
    pilot = [(label.id, label.system, int(label.score)) for label in labels_of("a", "b")]
    write(tmp_path / "pilot.csv", ["id", "system", "score"], pilot)
    return tmp_path


def test_the_command_writes_a_table_that_labels_reads_back(tables, capsys):
    grades, pilot, table = (str(tables / name) for name in ("grades.csv", "pilot.csv", "more.csv"))
    command = ["plan", grades, "--target", "labels", "--labels", pilot, "--difference", "0.15", "--ids", table]
    code, text, _ = output(capsys, *command)
    assert code == 0
    assert "Label the answers of both a and b to" in text
    with Path(table).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["id"].startswith("'=q") for row in rows)
    known = [label for label in read_labels(table) if label.has_score]
    assert {label.id for label in known} == {IDS[i] for i in PILOT}
    assert sum(row["score"] == "" for row in rows) == len(rows) - len(known)
    assert all(0 < label.probability <= 1 for label in known)


def test_the_command_writes_no_table_for_several_scores_of_a_task(tmp_path, capsys):
    rows = [(name, question, grader, grade) for name, question, grade in rows_of_grades() for grader in ("g1", "g2")]
    write(tmp_path / "grades.csv", ["system", "question", "metric", "score"], rows)
    write(tmp_path / "pilot.csv", ["id", "score"], [(IDS[i], int(TRUTH[0, i])) for i in PILOT])
    table = tmp_path / "more.csv"
    command = ["plan", str(tmp_path / "grades.csv"), "--model", "a", "--target", "labels", "--width", "0.15"]
    command += ["--labels", str(tmp_path / "pilot.csv")]
    code, text, _ = output(capsys, *command)
    assert (code, "Together" in text) == (0, False)
    code, _, err = output(capsys, *command, "--ids", str(table))
    assert code == 2
    assert "Select one with --metric or --filter." in err
    assert not table.exists()
    assert output(capsys, *command, "--metric", "g1", "--ids", str(table))[0] == 0


def test_the_command_writes_no_table_if_the_width_cannot_be_reached(tables, capsys):
    grades, pilot, table = (str(tables / name) for name in ("grades.csv", "pilot.csv", "more.csv"))
    command = ["plan", grades, "--target", "labels", "--labels", pilot, "--width", "0.01", "--ids", table]
    assert output(capsys, *command)[0] == 1
    assert not Path(table).exists()


def test_a_table_can_contain_the_grades_and_the_pilot(tmp_path, capsys):
    rows = [
        (name, question, int(grade), int(TRUTH["ab".index(name), i]) if i in PILOT else "")
        for name, grades in zip("ab", GRADES, strict=True)
        for i, (question, grade) in enumerate(zip(IDS, grades, strict=True))
    ]
    answers, table = str(tmp_path / "answers.csv"), tmp_path / "more.csv"
    write(tmp_path / "answers.csv", ["system", "question", "score", "label"], rows)
    command = ["plan", answers, "--target", "labels", "--labels", answers, "--difference", "0.15"]
    assert output(capsys, *command, "--ids", str(table))[0] == 0
    with table.open(newline="") as file:
        planned = list(csv.DictReader(file))
    options = Options(difference=0.15)
    (expected,) = plan_labels(LOGS, labels_of("a", "b"), options)
    assert [row["id"].lstrip("'") for row in planned] == [row[0] for row in expected.template]
    truth = {name: dict(zip(IDS, TRUTH["ab".index(name)], strict=True)) for name in "ab"}
    for row in planned:
        row["score"] = int(truth[row["system"]][row["id"].lstrip("'")])
    write(table, list(planned[0]), [list(row.values()) for row in planned])
    (row,) = compare({"a": answers}, {"b": answers}, labels=str(table))
    interval = row.difference.interval
    assert interval.high - interval.low == pytest.approx(expected.target_width, rel=0.2)


@pytest.mark.parametrize(
    "extra",
    [
        ["--target", "labels", "--width", "0.1"],
        ["--labels", "pilot.csv", "--width", "0.1"],
        ["--target", "labels", "--labels", "pilot.csv"],
        ["--width", "0.1", "--inclusion-probabilities", "p"],
        ["--target", "labels", "--labels", "pilot.csv", "--width", "0.1", "--generalize-over", "seed"],
    ],
)
def test_the_command_refuses_options_that_do_not_belong_together(tables, extra, capsys, monkeypatch):
    monkeypatch.chdir(tables)
    assert main(["plan", "grades.csv", *extra]) == 2
    assert capsys.readouterr().err
