"""Scores of repeated runs over time."""

import json
from dataclasses import replace

import numpy as np
import pytest

from harness_uq import history
from harness_uq.analyses.configuration_changes import configuration_changes
from harness_uq.commands.main import main
from harness_uq.data.task_log import Attempt, RunMetadata, Source, TaskLog
from harness_uq.messages.catalogue.comparison import SYSTEM_WITH_FEW_SHARED_QUESTIONS
from harness_uq.stats.sequential.level_change import level_change
from tests.commands.test_main import output
from tests.data.toy import task_log
from tests.message_checks import has
from tests.output.rendering import render

N, N_RUNS, CHANGE = 150, 24, 16
IDS = [f"q{i}" for i in range(N)]
BROKEN = {f"q{i}" for i in range(100, 115)}


def scores(seed: int = 0, broken: bool = True) -> np.ndarray:
    """Runs of easy, hard and flaky questions; the last ones break 15 easy questions."""
    rng = np.random.default_rng(seed)
    p = np.where(np.arange(N) < 20, 0.5, np.where(np.arange(N) < 50, 0.02, 0.98))
    values = (rng.random((N_RUNS, N)) < p).astype(float)
    if broken:
        values[CHANGE:, 100:115] = 0.0
    return values


def run_of(values: np.ndarray, night: int, **other: object) -> TaskLog:
    source = Source(f"night-{night:02d}.json", "lm-eval", time=f"2026-11-{night:02d}T03:00:00+00:00")
    return task_log(values, ids=IDS, source=source, **other)


def nights(values: np.ndarray, **other: object) -> list[TaskLog]:
    return [run_of(row, i + 1, **other) for i, row in enumerate(values)]


def test_a_drop_is_reported_with_its_date_and_questions():
    values = scores()
    (row,) = history(nights(values))
    (shift,) = row.shifts
    assert shift.first_run == CHANGE + 1
    assert shift.time == f"2026-11-{CHANGE + 1}T03:00:00+00:00"
    assert shift.value == pytest.approx(values[CHANGE:].mean() - values[:CHANGE].mean())
    assert shift.interval.high < 0
    assert shift.reported_after == level_change(values).alarm + 1
    assert {one.question for one in row.changed_questions} == BROKEN
    assert "dropped from" in row.answer
    assert [run.value for run in row.runs] == pytest.approx(values.mean(axis=1).tolist())


def test_a_run_that_is_left_out_is_named_with_its_time():
    runs = nights(scores()[:6])
    part = task_log(scores()[3, :20], ids=IDS[:20], source=runs[3].source)
    (row,) = history([*runs[:3], part, *runs[4:]])
    (note,) = (message for message in row.messages if message.code == SYSTEM_WITH_FEW_SHARED_QUESTIONS.code)
    assert note.params["system"].endswith(", 2026-11-04 03:00")
    assert [run.time[:10] for run in row.runs] == [f"2026-11-0{day}" for day in (1, 2, 3, 5, 6)]


@pytest.mark.parametrize(("level", "share"), [(0.95, "5 %."), (0.99, "1 %."), (0.999, "0.1 %.")])
def test_the_legend_states_the_probability_of_a_false_alarm(level: float, share: str):
    rows = history(nights(scores()), level=level)
    assert render(rows, "markdown", width=400).count(f"with a probability of at most {share}") == 1


def test_flaky_questions_are_listed_apart_from_regressions():
    (row,) = history(nights(scores()))
    flaky = {one.question for one in row.flaky_questions}
    assert not flaky & BROKEN
    assert len(flaky & {f"q{i}" for i in range(20)}) >= 18


def test_runs_without_a_change_have_one_level():
    (row,) = history(nights(scores(broken=False)))
    assert row.shifts == ()
    assert row.changed_questions == ()
    assert row.answer == f"The {N_RUNS} runs do not show a change of the score."


def test_runs_are_ordered_by_their_times():
    logs = nights(scores())
    (row,) = history(logs[::-1])
    assert row == history(logs)[0]
    # a time with another zone is compared as an instant
    moved = replace(logs[0], source=replace(logs[0].source, time="2026-11-30T23:00:00-05:00"))
    (row,) = history([moved, *logs[1:]])
    assert row.runs[-1].path == moved.source.path


def test_runs_without_times_keep_their_order():
    logs = [replace(log, source=replace(log.source, time=None)) for log in nights(scores())]
    (row,) = history(logs)
    assert has(row, "runs-without-time")
    assert [run.path for run in row.runs] == [log.source.path for log in logs]
    assert row.shifts == history(nights(scores()))[0].shifts or row.shifts[0].first_run == CHANGE + 1


def test_changed_settings_are_marked():
    logs = nights(scores())
    facts = RunMetadata(settings={"model_args.revision": "b71c"})
    logs[CHANGE:] = [replace(log, facts=facts) for log in logs[CHANGE:]]
    (row,) = history(logs)
    marked = {i for i, run in enumerate(row.runs) if run.settings_changed}
    assert marked == {CHANGE}
    assert row.runs[CHANGE].settings_changed == ("model_args.revision: none → b71c",)


def test_changed_questions_prompts_and_versions_are_marked():
    contents = [f"h{i}" for i in range(N)]
    prompts = [f"p{i}" for i in range(N)]
    logs = nights(scores(broken=False)[:6])

    def with_questions(log: TaskLog, hashes: list[str], prompts: list[str]) -> TaskLog:
        return replace(log, questions=replace(log.questions, hashes=tuple(hashes), prompt_hashes=tuple(prompts)))

    logs[:2] = [with_questions(log, contents, prompts) for log in logs[:2]]
    logs[2:4] = [with_questions(log, contents, ["new", *prompts[1:]]) for log in logs[2:4]]
    logs[4:] = [with_questions(log, ["other", *contents[1:]], ["new", *prompts[1:]]) for log in logs[4:]]
    logs[5] = replace(logs[5], source=replace(logs[5].source, version="0.4.9"))
    (row,) = history(logs)
    assert [run.settings_changed for run in row.runs] == [
        (),
        (),
        ("prompts: 1 changed",),
        (),
        ("questions: 1 added, 1 removed",),
        ("lm-eval version: none → 0.4.9",),
    ]


def test_long_values_of_settings_are_not_printed():
    first, second = (
        replace(log, facts=RunMetadata(settings={"template": character * 50}))
        for log, character in zip(nights(scores()[:2]), "ab", strict=True)
    )
    assert configuration_changes(first, second) == ("template changed",)


def test_a_renamed_system_keeps_the_name_in_its_log(tmp_path):
    for night, model in enumerate(("gpt-5", "gpt-5", "gpt-6"), 1):
        lines = ["question,model,task,score", *(f"q{i},{model},exam,{i % 2}" for i in range(20))]
        (tmp_path / f"{night}.csv").write_text("\n".join(lines) + "\n")
    (row,) = history({"nightly": str(tmp_path)})
    assert row.system == "nightly"
    assert [run.settings_changed for run in row.runs] == [(), (), ("logged system: gpt-5 → gpt-6",)]


def test_a_second_change_is_found_from_the_first_on():
    values = np.concatenate([scores(), scores(seed=5, broken=False)])
    (row,) = history(numbered(values))
    assert [shift.first_run for shift in row.shifts] == [CHANGE + 1, N_RUNS + 1]
    assert [np.sign(shift.value) for shift in row.shifts] == [-1, 1]


def numbered(values: np.ndarray) -> list[TaskLog]:
    """Runs of successive hours."""
    return [
        task_log(
            row, ids=IDS, source=Source(f"{i}.json", "lm-eval", time=f"2026-11-{1 + i // 24:02d}T{i % 24:02d}:00:00")
        )
        for i, row in enumerate(values)
    ]


def test_several_series_share_the_false_alarm_rate():
    values = scores()
    logs = [log for name in ("a", "b", "c", "d") for log in nights(values, system=name)]
    rows = history(logs)
    assert [row.system for row in rows] == list("abcd")
    expected = level_change(values, level=1 - 0.05 / 4).alarm + 1
    assert all(row.shifts[0].reported_after == expected for row in rows)


def test_copies_and_superseded_attempts_count_once():
    logs = nights(scores())
    attempts = [
        replace(log, source=replace(log.source, attempt=Attempt(str(i), str(i), is_finished=True, content=str(i))))
        for i, log in enumerate(logs)
    ]
    copy = replace(attempts[3], source=replace(attempts[3].source, path="copy.json"))
    (row,) = history([*attempts, copy])
    assert len(row.runs) == N_RUNS


def test_graded_scores_have_no_lists_of_questions():
    rng = np.random.default_rng(1)
    level = rng.random(N) * 0.8
    values = np.clip(level + rng.normal(0, 0.1, (N_RUNS, N)), 0, 1)
    values[CHANGE:] *= 0.8
    (row,) = history(nights(values))
    assert row.shifts[0].first_run == CHANGE + 1
    assert row.changed_questions == row.flaky_questions == ()


def test_few_runs_are_named():
    (row,) = history(nights(scores()[:1]))
    assert has(row, "one-run")
    assert (row.status, row.runs) == ("not_estimable", ())
    (row,) = history(nights(scores()[:3]))
    assert has(row, "few-runs")
    assert (row.status, len(row.runs)) == ("ok", 3)


@pytest.fixture
def tables(tmp_path):
    for i, row in enumerate(scores()):
        lines = ["question,score", *(f"{question},{int(score)}" for question, score in zip(IDS, row, strict=True))]
        (tmp_path / f"night-{i:02d}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_prints_the_results_of_the_function(tables, capsys):
    code, text, _ = output(capsys, "history", f"model={tables}", "--format", "json")
    (row,) = json.loads(text)["histories"]
    assert code == 0
    assert row["shifts"][0]["first_run"] == CHANGE + 1
    code, text, _ = output(capsys, "history", f"model={tables}")
    assert "starting with run 17" in text
    assert "new level" in text


def test_a_change_fails_the_command_on_request(tables, capsys):
    assert main(["history", f"model={tables}", "--fail-if-changed"]) == 3
    for path in sorted(tables.glob("*.csv"))[CHANGE:]:
        path.unlink()
    assert main(["history", f"model={tables}", "--fail-if-changed"]) == 0
    capsys.readouterr()


def test_the_plot_shows_every_run_and_the_levels(tables, tmp_path):
    pytest.importorskip("matplotlib")
    (row,) = history(nights(scores()))
    figure = row.plot()
    (axes,) = figure.axes
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert points[0].get_ydata() == pytest.approx([run.value for run in row.runs])
    changed = replace(row, runs=tuple(replace(run, settings_changed=("revision: a → b",)) for run in row.runs))
    (axes,) = changed.plot().axes
    assert axes.get_xlabel().splitlines()[:2] == ["run", f"▲ {N_RUNS - 5} earlier runs with changes"]
    assert axes.get_xlabel().splitlines()[-1] == f"▲ run {N_RUNS}: revision: a → b"
    assert main(["history", f"model={tables}", "--plot", str(tmp_path / "history.svg")]) == 0
    assert (tmp_path / "history.svg").stat().st_size > 1000


def test_the_command_writes_a_page(tables, tmp_path, capsys):
    path = tmp_path / "history.html"
    assert main(["history", f"model={tables}", "--output", str(path)]) == 0
    text = path.read_text()
    assert "<title>Scores over time</title>" in text
    assert text.count('class="limit c0"') == N_RUNS
    capsys.readouterr()
