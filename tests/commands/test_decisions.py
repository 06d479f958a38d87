"""The commands compare, rank, plan and report from end to end: exit codes, formats, files."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_uq.analyses.compare import compare
from harness_uq.analyses.rank import rank
from harness_uq.analyses.report import report
from harness_uq.commands.main import main
from harness_uq.options import Options
from tests.analyses.planning.test_plan import Components
from tests.analyses.planning.test_plan import one as plan_of
from tests.data.toy import task_log
from tests.message_checks import find, names_of
from tests.output.rendering import render

FORMATS = ("table", "json", "csv", "markdown", "latex")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def popularity(shared: Path) -> Path:
    return shared / "data/inspect/popularity_5epochs_3models"


@pytest.fixture(scope="module")
def aime(shared: Path) -> Path:
    return shared / "data/lm_eval/derived_repeats4_aime25_ii"


def sides(aime: Path) -> tuple[str, str]:
    return f"old={aime / 'matharena__QwQ-32B'}", f"new={aime / 'matharena__DeepSeek-R1'}"


# ---------------------------------------------------------------- compare


def test_compare_names_sides_and_ends_in_a_sentence(run: Run, aime: Path) -> None:
    code, out, err = run("compare", *reversed(sides(aime)))
    assert (code, err) == (0, "")
    assert "A: new, B: old" in out
    assert "new is better than old, by 6.8 to 54.1 points." in out


@pytest.mark.slow
def test_fail_if_worse_gives_exit_code_3(run: Run, aime: Path) -> None:
    one = ("--filter", "score-first")
    assert run("compare", *sides(aime), "--fail-if-worse", *one)[0] == 3
    assert run("compare", *sides(aime), "--fail-if-worse")[0] == 0  # undecided after correction for two scores
    assert run("compare", *sides(aime), "--fail-if-worse", "--margin", "0.6", *one)[0] == 0
    assert run("compare", *reversed(sides(aime)), "--fail-if-worse")[0] == 0


def test_compare_json_has_the_promised_fields(run: Run, aime: Path) -> None:
    _, out, _ = run("compare", *sides(aime), "--format", "json")
    document = json.loads(out)
    assert document["schema"] == 1
    row = document["comparisons"][0]
    promised = {"task", "metric", "filter", "system_a", "system_b", "difference", "prob_positive", "odds_ratio"}
    assert promised | {"correlation", "n_matched", "verdict"} <= row.keys()
    assert {"value", "std_error", "interval"} == row["difference"].keys()


def test_compare_csv_has_one_line_a_row(run: Run, aime: Path) -> None:
    _, out, _ = run("compare", *sides(aime), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["filter"] for row in rows] == ["score-first", "maj@4"]
    assert float(rows[0]["difference_interval_low"]) < float(rows[0]["difference_value"]) < 0


@pytest.mark.parametrize("method", ["latent-normal", "latent_normal"])
def test_methods_may_be_written_as_the_tables_write_them(run: Run, aime: Path, method: str) -> None:
    _, out, _ = run("compare", *sides(aime), "--method", method, "--format", "csv")
    assert "latent-normal" in out


def test_a_missing_side_is_an_error(run: Run, aime: Path) -> None:
    code, _, err = run("compare", sides(aime)[0], "new=/no/such/folder")
    assert code == 1
    assert "No such file or folder" in err


def test_one_argument_with_several_systems_is_an_error(run: Run, aime: Path) -> None:
    code, _, err = run("compare", aime, sides(aime)[0])
    assert code == 1
    assert "must be a single system, but side A contains" in err


def test_a_path_that_holds_an_equals_sign_is_a_path(run: Run, aime: Path, tmp_path: Path) -> None:
    odd = tmp_path / "run=1"
    shutil.copytree(aime / "matharena__QwQ-32B", odd)
    code, out, _ = run("compare", odd, sides(aime)[1])
    assert code == 0
    assert "A: matharena/QwQ-32B, B: new" in out


def test_a_negative_margin_is_refused(run: Run, aime: Path) -> None:
    code, _, err = run("compare", *sides(aime), "--margin=-1")
    assert code == 2
    assert "0 or more" in err


# ---------------------------------------------------------------- rank, plan, report


def test_rank_prints_places_matrix_and_number_of_comparisons(run: Run, popularity: Path) -> None:
    code, out, _ = run("rank", popularity, "--columns", "all")
    assert code == 0
    for text in (
        "P(best)",
        "95% ranks",
        "Holm",
        "Bayes@N",
        "probability that the system of the row is better",
        "3 comparisons",
    ):
        assert text in out


def write_scores(path: Path, scores: dict[str, dict[str, int]]) -> Path:
    """Write a table of scores: by system and question."""
    rows = [f"{question},{name},{value}" for name, of in scores.items() for question, value in of.items()]
    path.write_text("\n".join(["question,system,score", *rows]) + "\n")
    return path


@pytest.mark.parametrize("scope", ["population", "benchmark"])
def test_rank_names_both_numbers_of_questions_and_systems_in_another_order(
    run: Run, tmp_path: Path, scope: str
) -> None:
    common = {f"q{i}": int(i < 12) for i in range(20)}
    lead = {**common, **{f"q{i}": 0 for i in range(20, 30)}}  # fails on its own questions
    rest = {name: value if name != "q0" else 0 for name, value in common.items()}
    path = write_scores(tmp_path / "t.csv", {"lead": lead, "next": rest, "last": dict.fromkeys(common, 0)})
    code, out, _ = run("rank", path, "--scope", scope, "--format", "json")
    assert code == 0
    (ranking,) = json.loads(out)["rankings"]
    assert [row["system"] for row in ranking["systems"]] == ["lead", "next", "last"]
    params = {one["name"]: one["params"] for one in ranking["messages"]}
    assert params["unmatched-questions"] == {"n_systems": 3, "n_common": 20, "n_own": 30, "n_unmatched": 10}
    assert params["other-order-on-own-questions"] == {"systems": ["lead", "next"]}
    _, out, _ = run("estimate", path, "--scope", scope, "--format", "json")
    values = {row["system"]: (row["value"], row["n_questions"]) for row in json.loads(out)["estimates"]}
    assert values["lead"] == (pytest.approx(0.4), 30)
    assert values["next"] == (pytest.approx(0.55), 20)
    path = write_scores(tmp_path / "same.csv", {"a": {**common, "q20": 1}, "b": rest})
    _, out, _ = run("rank", path, "--scope", scope, "--notes")
    assert "compared on the 20 questions that all of them answered" in " ".join(out.split())
    assert "is not the order" not in " ".join(out.split())


def test_rank_of_two_systems_says_that_their_difference_uses_own_questions(run: Run, tmp_path: Path) -> None:
    one = {f"q{i}": int(i % 4 > 0) for i in range(30)}
    two = {f"q{i}": int(i % 3 > 0) for i in range(15, 45)}
    path = write_scores(tmp_path / "t.csv", {"one": one, "two": two})
    _, out, _ = run("compare", path, "--format", "json")
    (row,) = json.loads(out)["comparisons"]
    assert "partial-overlap" in row["method"]
    _, out, _ = run("rank", path, "--format", "json")
    (ranking,) = json.loads(out)["rankings"]
    params = {note["name"]: note["params"] for note in ranking["messages"]}
    own = {"n_own_a": 15, "n_own_b": 15, "n_shared": 15, "system_a": "one", "system_b": "two"}
    assert params["ranked-with-own-questions"] == own


def test_plan_from_numbers_is_millers(run: Run) -> None:
    code, out, _ = run("plan", "--difference-variance", 1 / 9, "--difference", 0.03)
    assert code == 0
    assert "ask 971 questions once each" in out


def test_plan_from_a_score_and_a_correlation(run: Run) -> None:
    """p (1 - p) = .16, omega^2 = 2 · .16 · (1 - .5) = .16: (2.8016)^2 .16 / .05^2 = 502.3."""
    _, out, _ = run("plan", "--score", 0.8, "--correlation", 0.5, "--difference", 0.05)
    assert "ask 505 questions once each" in out


def test_plan_from_nothing_says_what_it_needs(run: Run) -> None:
    code, _, err = run("plan", "--difference", 0.03)
    assert code == 2
    assert "No pilot run given. Give its logs, or --score" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--questions", "-5"], "Argument --questions: invalid value '-5'. Give a whole number, 1 or more."),
        (["--score", "80"], "Argument --score: invalid value '80'. Give a number between 0 and 1, such as 0.8."),
        (["--width", "0"], "Argument --width: invalid value '0'. Give a number above 0."),
        (["--width", "0.1", "--difference", "0.1"], "not allowed with argument --width"),
        (
            ["--score", "0.5", "--variance-within", "0.3", "--width", "0.1"],
            "variance between must be finite and not negative",
        ),
        (["--score", "0.5"], "No target given. Add --difference D, --width W, --budget B or --questions N."),
        (["--score", "0.5", "--difference", "0.1"], "--difference requires --correlation, --difference-variance or"),
        (["--difference-variance", "0.1", "--width", "0.1"], "--width requires --score, --variance-between or"),
        (["--target", "labels"], "--target labels requires logs."),
        (["--target", "graders"], "--target graders requires logs."),
        (["--generalize-over", "seed"], "--generalize-over requires logs."),
        (
            ["--score", "0.5", "--width", "0.1", "--plot", "c.xyz"],
            "invalid file 'c.xyz'. Give a name that ends in .png, .svg or .pdf.",
        ),
    ],
)
def test_plan_refuses_wrong_arguments_by_their_own_names(run: Run, arguments: list[str], said: str) -> None:
    code, out, err = run("plan", *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_a_budget_alone_buys_trials_at_the_default_costs(run: Run) -> None:
    code, out, _ = run("plan", "--score", 0.8, "--budget", 500)
    assert code == 0
    assert out.startswith("500 questions, 1 trial each, at a cost of 500 per system")


def test_a_plan_is_one_answer_and_lists_designs_on_request(run: Run) -> None:
    arguments = ("plan", "--score", 0.8, "--width", 0.1)
    answer, designs = (run(*arguments, *extra)[1] for extra in ((), ("--designs",)))
    assert len(answer.splitlines()) <= 15
    assert "Questions  Trials" not in answer
    assert designs.startswith(answer.splitlines()[0])
    assert "Questions  Trials" in designs


def test_plan_draws_its_curve(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "curve.png"
    assert run("plan", "--difference-variance", 0.1, "--difference", 0.03, "--plot", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_report_writes_one_page_that_loads_nothing(run: Run, popularity: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    code, out, err = run("report", popularity, "--output", page, "--title", "Three models")
    assert (code, out) == (0, "")
    assert f"wrote {page}" in err
    text = page.read_text()
    assert "<title>Three models</title>" in text
    assert 'src="http' not in text
    assert "--output report.html --title" in text
    assert str(tmp_path) not in text
    assert list(tmp_path.iterdir()) == [page]


def test_a_page_that_cannot_be_written_is_an_error_before_the_work_and_leaves_nothing(
    run: Run, popularity: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_uq.io.readers.read_logs", lambda *_, **__: pytest.fail("the logs were read"))
    for path, said in ((tmp_path / "no" / "x.html", "No such file or directory"), (tmp_path, "Is a directory")):
        code, out, err = run("report", popularity, "--output", path)
        assert (code, out, err) == (1, "", f"harness-uq: error: Cannot write {path}: {said}\n")
    code, _, err = run("plan", popularity, "--width", 0.1, "--plot", tmp_path / "no" / "x.png")
    assert (code, err) == (1, f"harness-uq: error: Cannot write {tmp_path}/no/x.png: No such file or directory\n")
    assert list(tmp_path.iterdir()) == []


def test_report_of_two_systems_compares_them(run: Run, aime: Path) -> None:
    _, out, _ = run("report", *sides(aime), "--format", "json")
    document = json.loads(out)
    assert len(document["comparisons"]) == 2
    assert document["rankings"] == []


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", ["compare", "rank", "plan", "report"])
def test_every_command_prints_every_format(run: Run, aime: Path, command: str, form: str) -> None:
    code, out, _ = run(command, *sides(aime), "--format", form)
    assert code == 0
    marks = {"json": '"schema": 1', "csv": ",", "markdown": " --: |", "latex": r"\toprule", "table": "exact_match"}
    assert marks[form] in out


@pytest.mark.parametrize("command", ["compare", "rank", "plan", "report"])
def test_help_names_the_options(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert "--format" in out


# ---------------------------------------------------------------- text of results


def test_report_says_why_systems_are_not_compared() -> None:
    tasks = {"a": ("w", "x"), "b": ("y", "z")}
    found = report([task_log([1, 0], system=s, task=t) for s, names in tasks.items() for t in names])
    assert found.comparisons == ()
    assert names_of(found.problems) == ["no-common-scores"]


def test_names_with_markup_are_printed_as_they_are() -> None:
    rows = compare(task_log([1, 0], system="[bold]a|b[/bold]"), task_log([1, 1], system="c"))
    assert "[bold]a|b[/bold]" in render(rows, "table")
    assert r"| toy |" in render(rows, "markdown")


def test_notes_name_the_tasks_they_are_about_once() -> None:
    a = [task_log([1, 0, 1], system="a", task=t, ids=["p", "q", "r"]) for t in ("x", "y")]
    b = [
        task_log([1, 0], system="b", task="x", ids=["p", "q"]),
        task_log([1, 0, 0], system="b", task="y", ids=["p", "q", "r"]),
    ]
    comparisons = compare(a, b)
    notes = find(comparisons[0], "unmatched-questions")
    assert len(notes) == 1
    text = render(comparisons, "table", detail="notes")
    assert text.count(notes[0].text) == 1


def test_probabilities_are_never_rounded_to_certainty() -> None:
    logs = [task_log([1] * 30, system="a"), task_log([0] * 30, system="b"), task_log([0] * 30, system="c")]
    text = render(rank(logs), "table", columns=("all",))
    assert ">99" in text
    assert "> 0.999" in text


def test_empty_columns_are_left_out() -> None:
    rows = compare(task_log([1.5, 0.2, 3.0], system="a", metric="len"), task_log([1, 0, 2.5], system="b", metric="len"))
    text = render(rows, "table")
    assert "Odds ratio" not in text
    assert "Only A:B" not in text


def test_lower_is_better_is_said() -> None:
    rows = compare(
        task_log([1.5, 0.2, 3.0], system="a", metric="loss"), task_log([2.5, 1.0, 4.5], system="b", metric="loss")
    )
    assert "Lower scores are better for loss." in render(rows, "table")


def test_the_margin_reaches_the_sentence() -> None:
    rows = compare(task_log([1] * 50, system="a"), task_log([1] * 50, system="b"), Options(margin=0.2))
    assert rows[0].verdict == "equivalent"
    assert "Choose by cost" in render(rows, "markdown")


def test_a_plan_that_finds_nothing_still_lists_designs() -> None:
    found = plan_of(Components(between=0.2), difference=0.05)
    assert found.recommended is None
    assert len(found.rows) > 3
