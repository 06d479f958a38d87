"""Plans of human labels from logs, and the table of the answers to label."""

import csv
from pathlib import Path

import numpy as np
import pytest

from harness_uq import DataError, LabelPlanOptions, compare, estimate, plan_labels
from harness_uq.cli import main
from harness_uq.io.human_labels import Label, read_labels
from tests.data.toy import task_log
from tests.message_checks import has, raises_message
from tests.test_cli import output

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
    (plan,) = plan_labels(LOGS[0], labels_of("a"), LabelPlanOptions(width=0.1))
    (row,) = estimate(LOGS[0], labels=answered(plan, tmp_path / "labels.csv"))
    assert row.interval.width == pytest.approx(0.1, rel=0.2)
    assert row.interval.low < TRUTH[0].mean() < row.interval.high
    assert plan.n_labels == plan.n_new + len(PILOT) == len(plan.template)
    assert plan.n_labels == sum(stratum.n_labels for stratum in plan.strata)


def test_the_labels_of_two_systems_give_the_width(tmp_path):
    options = LabelPlanOptions(difference=0.15)
    (plan,) = plan_labels(LOGS, labels_of("a", "b"), options)
    assert options.target_width == pytest.approx(2 * 1.959964 * 0.15 / (1.959964 + 0.841621))
    (row,) = compare(*LOGS, labels=answered(plan, tmp_path / "labels.csv"))
    interval = row.difference.interval
    assert interval.high - interval.low == pytest.approx(options.target_width, rel=0.2)
    assert interval.low < (TRUTH[0].mean() - TRUTH[1].mean()) < interval.high
    assert {(row[0], row[2]) for row in plan.template} == {(row[0], name) for row in plan.template for name in "ab"}


def test_the_seed_decides_which_questions_are_labeled():
    one, same, other = (
        plan_labels(LOGS[0], labels_of("a"), LabelPlanOptions(width=0.1, seed=seed))[0].template for seed in (0, 0, 1)
    )
    assert one == same != other


def test_what_cannot_be_planned_is_named():
    with pytest.raises(DataError, match="either width or difference"):
        LabelPlanOptions()
    with pytest.raises(DataError, match="two systems"):
        plan_labels(LOGS[0], labels_of("a"), LabelPlanOptions(difference=0.1))
    with pytest.raises(DataError, match="one or two systems"):
        plan_labels(
            [*LOGS, task_log(GRADES[0].astype(float), system="c", ids=IDS)],
            labels_of("a"),
            LabelPlanOptions(width=0.1),
        )
    with raises_message(DataError, "labels-without-system"):
        plan_labels(LOGS, labels_of("a", named=False), LabelPlanOptions(width=0.1))
    (plan,) = plan_labels(LOGS[0], labels_of("a"), LabelPlanOptions(width=0.01))
    assert (plan.status, plan.expected_width, plan.template) == ("not_estimable", None, ())
    assert has(plan, "plan-unavailable")
    assert not has(plan, "not-computable")  # which is about a score
    (plan,) = plan_labels(LOGS[0], labels_of("a")[:9], LabelPlanOptions(width=0.1))
    assert has(plan, "plan-unavailable")
    trials = task_log(GRADES.T.astype(float), system="a", ids=IDS)
    (plan,) = plan_labels(trials, labels_of("a"), LabelPlanOptions(width=0.1))
    assert has(plan, "label-plan-trials")


@pytest.fixture
def tables(tmp_path):
    rows = [
        (name, question, int(grade))
        for name, grades in zip("ab", GRADES, strict=True)
        for question, grade in zip(IDS, grades, strict=True)
    ]
    write(tmp_path / "grades.csv", ["system", "question", "score"], rows)
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
    known = read_labels(table)
    assert {label.id for label in known} == {IDS[i] for i in PILOT}
    assert sum(row["score"] == "" for row in rows) == len(rows) - len(known)
    assert all(0 < label.probability <= 1 for label in known)


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
    options = LabelPlanOptions(difference=0.15)
    (expected,) = plan_labels(LOGS, labels_of("a", "b"), options)
    assert [row["id"].lstrip("'") for row in planned] == [row[0] for row in expected.template]
    truth = {name: dict(zip(IDS, TRUTH["ab".index(name)], strict=True)) for name in "ab"}
    for row in planned:
        row["score"] = int(truth[row["system"]][row["id"].lstrip("'")])
    write(table, list(planned[0]), [list(row.values()) for row in planned])
    (row,) = compare({"a": answers}, {"b": answers}, labels=str(table))
    interval = row.difference.interval
    assert interval.high - interval.low == pytest.approx(options.target_width, rel=0.2)


@pytest.mark.parametrize(
    "extra",
    [
        ["--target", "labels", "--width", "0.1"],
        ["--labels", "pilot.csv", "--width", "0.1"],
        ["--target", "labels", "--labels", "pilot.csv"],
        ["--target", "labels", "--labels", "pilot.csv", "--width", "0.1", "--generalize-over", "seed"],
    ],
)
def test_the_command_refuses_options_that_do_not_belong_together(tables, extra, capsys, monkeypatch):
    monkeypatch.chdir(tables)
    assert main(["plan", "grades.csv", *extra]) == 2
    assert capsys.readouterr().err
