"""Real runs of Inspect AI with HARNESS_UQ set: logs, return values, and what is unchanged."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from harness_uq import LogError, estimate
from harness_uq.plugin_api import Run
from harness_uq_inspect.annotated_names import METRICS, block_of
from harness_uq_inspect.harness import InspectHarness
from harness_uq_inspect.read.harness_uq_metrics import is_stale
from harness_uq_inspect.read.samples import read_log
from harness_uq_inspect.write.annotations import remove_annotations
from tests.adapters.inspect.environment import environment, run_as_command, run_with_uq
from tests.forked_runs import run_forked
from tests.message_checks import has

pytestmark = pytest.mark.harness

HERE = Path(__file__).parent
OUR_BLOCK = b'"harness_uq":'  # unlike the path of a clone, which may be in a log
ADDED = ["uq_lower", "uq_upper"]  # and `stderr` has the standard error


@pytest.fixture(scope="module")
def runs(inspect_log, tmp_path_factory):
    """Logs of different runs, each with the value that `eval()` returned."""
    folder = tmp_path_factory.mktemp("live")
    run_with_uq(sys.executable, HERE / "live_runs.py", folder, cwd=folder)
    return folder


def log_file(runs, case, name="*"):
    (path,) = [p for p in (runs / case).glob(name) if re.match(r"\d{4}-", p.name)]
    return path


def returned(runs, case):
    return json.loads((runs / f"{case}.returned.json").read_text())


def block(path):
    return block_of(read_log(str(path)).header.results.metadata)


def printed(path):
    """Metrics of every score in the log: {(score, reducer): {metric: value}}."""
    results = read_log(str(path)).header.results
    return {
        (score.name, score.reducer): {key: metric.value for key, metric in score.metrics.items()}
        for score in results.scores
    }


def without_source(estimates):
    """The estimates without their source; two processes may differ in the last digits of a root."""
    return [{key: rounded(value) for key, value in one.items() if key != "source"} for one in estimates]


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def members(path):
    """Compressed bytes of every member but the header."""
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return {
            info.filename: content[info.header_offset + 30 + len(info.filename) :][: info.compress_size]
            for info in archive.infolist()
            if info.filename != "header.json"
        }


SAMPLES = ["eval", "json", "nan_json", "clustered", "errors", "set", "retried", "flaky", "flaky_retried"]


@pytest.mark.parametrize("case", SAMPLES)
def test_live_and_post_hoc_numbers_are_the_same(runs, case):
    path = log_file(runs, case)
    again = [row.to_dict() for row in estimate(path)]
    assert without_source(block(path)["estimates"]) == without_source(again)


@pytest.mark.parametrize("case", ["eval", "json", "clustered", "no_samples", "set", "retried", "two"])
def test_the_returned_log_equals_the_log_on_disk(runs, case):
    for one in returned(runs, case):
        assert {
            (s["name"], s.get("reducer")): {key: metric["value"] for key, metric in s["metrics"].items()}
            for s in one["results"]["scores"]
        } == printed(one["location"])
        assert one["results"]["metadata"]["harness_uq"] == block(one["location"])
        assert "harness_uq" in one["metadata"]


def test_the_first_score_has_two_metrics_more_so_that_a_title_of_five_shows_them(runs):
    ours, stock = (printed(log_file(runs, case))["right", "mean"] for case in ("eval", "unset"))
    assert list(ours) == [*stock, *ADDED]
    assert len(ours) == 4


def logged_params(entry, name):
    """Parameters of the only message with this name in an entry of the block."""
    (params,) = [message["params"] for message in entry["messages"] if message["name"] == name]
    return params


def missing_params(entry):
    """Parameters of the only message about missing scores in an entry of the block."""
    (params,) = [one["params"] for one in entry["messages"] if {"n_missing", "n_trials"} <= one["params"].keys()]
    return params


def test_every_score_and_key_gets_an_interval_of_its_own_posterior(runs):
    rows = {(e["metric"], e["filter"]): e for e in block(log_file(runs, "eval"))["estimates"]}
    methods = {key: row["method"] for key, row in rows.items() if key[0] in ("right", "number", "labels")}
    for metric in ("right", "number"):
        assert [methods[metric, name] for name in ("mean", "pass_at_2", "at_least_2", "mode")] == [
            "nested",
            "clustered-dp",
            "clustered",
            "clustered",
        ]
    assert rows["labels", "mean"]["interval"] is None
    assert rows["labels", "mean"]["status"] == "not_estimable"
    metrics = printed(log_file(runs, "eval"))
    assert list(metrics["labels", "mean"]) == ["accuracy", "stderr"]
    for (metric, name), row in rows.items():
        if row["interval"]:
            shown = metrics[metric, name]
            assert [shown[key] for key in ADDED] == [row["interval"]["low"], row["interval"]["high"]]
            assert shown.get("stderr", shown.get("uq_sd")) == row["std_error"]


def test_a_scorer_without_a_mean_keeps_its_metrics_and_a_note_names_them(runs):
    path = log_file(runs, "median")
    assert list(printed(path)["middle", None]) == ["median_score", "stderr"]
    (row,) = block(path)["estimates"]
    assert row["interval"] is not None
    # the scores are i²/121 for i from 0 to 11, whose median is (25 + 36)/242
    assert logged_params(row, "mean-not-reported")["reported"] == [f"median_score = {61 / 242:.6g}"]


def test_clusters_and_epochs_enter_together(runs):
    (row,) = block(log_file(runs, "clustered"))["estimates"]
    assert (row["method"], row["cluster_key"], row["n_clusters"], row["n_trials"]) == ("nested", "passage", 20, 4)


def test_unscored_trials_are_counted_in_a_note(runs):
    rows = [e for e in block(log_file(runs, "eval"))["estimates"] if (e["metric"], e["filter"]) == ("gaps", "mean")]
    assert rows[0]["n_questions"] == 15  # 24 less 6 multiples of 4 and 3 odd multiples of 5 (5, 15; 20 is both): 24-6-3
    assert missing_params(rows[0])["n_missing"] > 0
    (row,) = block(log_file(runs, "errors"))["estimates"]
    assert row["n_questions"] == 10
    params = missing_params(row)
    assert (params["n_missing"], params["n_trials"], params["causes"]) == (2, 12, " (2 errors)")


def test_stderr_is_replaced_and_inspects_value_stays_in_its_metadata(runs, inspect_log):
    ours = inspect_log.read_eval_log(str(log_file(runs, "eval")), header_only=True).results.scores[0].metrics
    stock = inspect_log.read_eval_log(str(log_file(runs, "unset")), header_only=True).results.scores[0].metrics
    assert "uq_sd" not in ours
    assert ours["stderr"].metadata == {"harness_uq": {"std_error": stock["stderr"].value}}
    assert ours["accuracy"] == stock["accuracy"]
    (row,) = estimate(log_file(runs, "clustered"))
    assert row.harness.std_error != row.std_error


def test_stderr_is_unchanged_if_the_environment_says_so(runs):
    ours = printed(log_file(runs, "unswapped"))["right", None]
    assert ours["stderr"] != ours["uq_sd"]
    assert list(ours) == ["accuracy", "stderr", *METRICS]


def test_one_group_names_method_and_level(runs, inspect_log):
    score = inspect_log.read_eval_log(str(log_file(runs, "eval")), header_only=True).results.scores[0]
    assert {score.metrics[name].group for name in ADDED} == {"uq bayes 95%"}


def test_provenance_is_recorded_as_inspect_records_edits(runs, inspect_log):
    log = inspect_log.read_eval_log(str(log_file(runs, "eval")), header_only=True)
    (update,) = log.log_updates
    assert re.fullmatch(r"harness_uq \d+\.\d+\.\d+", update.provenance.author)
    assert update.edits[0].metadata_set["harness_uq"] == log.metadata["harness_uq"]
    assert log.metadata["harness_uq"]["scores_hash"] == log.results.metadata["harness_uq"]["scores_hash"]


def as_inspect_wrote_it(path, folder):
    """A zip without the header and the directory that the hook appended."""
    with zipfile.ZipFile(path) as archive:
        end = archive.getinfo("header.json").header_offset
    copy = folder / path.name
    copy.write_bytes(path.read_bytes()[:end])
    return copy


@pytest.mark.parametrize("case", ["eval", "clustered", "set", "retried", "no_samples"])
def test_samples_of_a_zip_are_byte_for_byte_what_inspect_wrote(runs, case, tmp_path):
    path = log_file(runs, case)
    before = as_inspect_wrote_it(path, tmp_path)
    assert members(before) == members(path)
    for one in (before, path):
        with zipfile.ZipFile(one) as archive:
            assert archive.namelist().count("header.json") == 1


@pytest.mark.parametrize("case", ["eval", "set", "retried"])
def test_logs_without_annotations_equal_logs_of_a_run_without_harness_uq(runs, case, tmp_path, inspect_log):
    path = log_file(runs, case)
    log, marked = (inspect_log.read_eval_log(str(one)) for one in (as_inspect_wrote_it(path, tmp_path), path))
    assert [sample.model_dump_json() for sample in log.samples] == [s.model_dump_json() for s in marked.samples]
    assert (log.log_updates, log.metadata, log.results.metadata) == (None, {}, None)
    assert remove_annotations(marked.model_dump(mode="json", exclude_none=True, include={"results"})) == log.model_dump(
        mode="json", exclude_none=True, include={"results"}
    )


@pytest.mark.parametrize("case", ["eval", "json", "nan_json", "set", "no_samples"])
def test_restoring_undoes_a_rescore_and_leaves_a_live_log_as_it_is(runs, case, tmp_path):
    path = log_file(runs, case)
    copy = Path(shutil.copy(path, tmp_path))
    assert InspectHarness().restore(str(copy)) == []
    InspectHarness().write(Run(str(copy), (str(copy),)), estimate(copy), None, settings={"method": "bayes"})
    assert copy.read_bytes() != path.read_bytes()
    assert InspectHarness().restore(str(copy)) == [str(copy)]
    assert copy.read_bytes() == path.read_bytes()


def test_samples_of_logs_read_by_inspect_are_all_there(runs, inspect_log):
    for case, n in {"eval": 72, "json": 72, "clustered": 240, "set": 12, "retried": 12, "errors": 12}.items():
        assert len(inspect_log.read_eval_log(str(log_file(runs, case))).samples) == n


def test_a_run_without_logged_samples_gets_the_same_interval(runs):
    rows = [block(log_file(runs, case))["estimates"][0] for case in ("clustered", "no_samples")]
    assert rows[0]["interval"] == rows[1]["interval"]
    assert rows[1]["method"] == "nested"


def test_remote_logs_are_written_by_inspect_itself_and_keep_their_samples(runs):
    (local,), (live,), (stored,) = (returned(runs, case) for case in ("clustered", "remote", "remote_read_back"))
    assert stored["has_samples"]
    assert stored["results"] == live["results"]
    assert stored["metadata"] == live["metadata"]
    metrics = [one["results"]["scores"][0]["metrics"] for one in (local, stored)]
    assert metrics[0] == metrics[1]


def test_eval_set_passes_headers_and_no_sample_is_lost(runs):
    (one,) = returned(runs, "set")
    assert not one["has_samples"]
    assert one["status"] == "success"
    assert "harness_uq" in one["results"]["metadata"]


def test_a_failed_run_has_no_results_and_its_retry_has_intervals(runs):
    (failed,) = returned(runs, "failed")
    assert (failed["status"], failed["results"]) == ("error", None)
    assert set(ADDED) <= set(printed(log_file(runs, "retried"))["right", None])


def test_the_environment_unset_adds_nothing(runs):
    path = log_file(runs, "unset")
    assert OUR_BLOCK not in read_header_bytes(path)
    assert block(path) is None


def read_header_bytes(path):
    from harness_uq_inspect.read.archive import Archive

    with Archive(str(path)) as archive:
        return archive.read("header.json")


def test_an_invalid_setting_does_not_affect_the_run(runs):
    (one,) = returned(runs, "wrong_level")
    assert one["status"] == "success"
    assert list(one["results"]["scores"][0]["metrics"]) == ["accuracy", "stderr"]
    assert block(log_file(runs, "wrong_level")) is None


def test_recomputed_metrics_drop_ours_and_keep_the_block(runs):
    log = read_log(str(log_file(runs, "recomputed")))
    assert list(log.header.results.scores[0].metrics) == ["accuracy", "stderr"]
    assert block_of(log.header.results.metadata) == block(log_file(runs, "clustered"))
    assert not is_stale(log)
    assert (
        estimate(log_file(runs, "recomputed"))[0].harness.std_error
        == log.header.results.scores[0].metrics["stderr"].value
    )


def test_an_edited_score_makes_the_block_stale_and_rescoring_renews_it(runs, tmp_path):
    path = str(shutil.copy(log_file(runs, "edited"), tmp_path))
    assert is_stale(read_log(path))
    (row,) = estimate(path)
    assert has(row, "stale-intervals")
    InspectHarness().write(Run(path, (path,)), [row], None, settings={"method": "bayes"})
    assert not is_stale(read_log(path))
    assert not has(estimate(path)[0], "stale-intervals")


def test_data_frames_and_headlines_have_our_columns(runs):
    from inspect_ai.analysis import evals_df

    frame = evals_df(str(log_file(runs, "clustered")))
    (row,) = block(log_file(runs, "clustered"))["estimates"]
    assert frame["score_right_uq_lower"][0] == row["interval"]["low"]
    assert frame["score_headline_stderr"][0] == row["std_error"]
    assert frame["score_headline_value"][0] == pytest.approx(row["value"])


# ---------------------------------------------------------------- the command line


@pytest.fixture(scope="module")
def tasks(inspect_log):
    return HERE / "live_tasks.py"


def console(*arguments, cwd, run=run_with_uq, **variables):
    return run(*arguments, cwd=cwd, HARNESS_UQ=None, **variables)


FIXED = ("--model", "mockllm/model", "--display", "plain", "--log-dir", "logs")
HARNESS_UQ = (Path(sys.executable).with_name("harness-uq"),)
INSPECT = (sys.executable, "-m", "inspect_ai")


def only_log(folder):
    (path,) = (folder / "logs").glob("*.eval")
    return path


def test_the_command_removes_its_options_and_prints_table_and_panel(tasks, tmp_path):
    said = console(
        *HARNESS_UQ, "inspect", "eval", f"{tasks}@clustered", *FIXED, "--uq", "bayes", "--uq-level=0.9",
        "--uq-scope", "benchmark", "--uq-cluster", "clustered=none", cwd=tmp_path, run=run_as_command,
    )  # fmt: skip
    (row,) = block(only_log(tmp_path))["estimates"]
    assert (row["method"], row["interval"]["level"]) == ("benchmark", 0.9)
    assert block(only_log(tmp_path))["settings"] == {
        "method": "bayes",
        "level": 0.9,
        "scope": "benchmark",
        "estimand": "mean",
        "cluster": "clustered=none",
    }
    assert "90% interval" in said
    panel = said[said.index("total time") :]
    assert re.search(r"uq_lower\s+0\.\d+", panel)
    assert re.search(rf"stderr\s+{row['std_error']:.3f}", panel)
    assert "hooks enabled: 1" in said


def test_the_inspect_command_accepts_the_method_as_environment_option(tasks, tmp_path):
    said = console(*INSPECT, "eval", f"{tasks}@plain", *FIXED, "--env", "HARNESS_UQ=bayes", cwd=tmp_path)
    assert said.count("95% interval") == 1
    assert block(only_log(tmp_path))["settings"]["method"] == "bayes"


def test_a_dotenv_file_enables_intervals_and_a_comparison(tasks, runs, tmp_path):
    (tmp_path / ".env").write_text(f"HARNESS_UQ=bayes\nHARNESS_UQ_COMPARE={log_file(runs, 'unswapped')}\n")
    said = console(*INSPECT, "eval", f"{tasks}@plain", *FIXED, cwd=tmp_path)
    assert "95% interval" in said
    assert "plain" in said[said.index("compared with") :]
    (row,) = block(only_log(tmp_path))["comparisons"]
    assert (row["task"], row["n_matched"]) == ("plain", 12)


def test_without_the_environment_variable_nothing_is_printed_or_written(tasks, tmp_path):
    said = console(*INSPECT, "eval", f"{tasks}@plain", *FIXED, cwd=tmp_path)
    assert "hooks enabled" not in said
    assert "interval" not in said
    assert OUR_BLOCK not in read_header_bytes(only_log(tmp_path))


def test_a_detached_run_gets_intervals(tasks, tmp_path):
    detached = ("inspect", "eval", f"{tasks}@plain", *FIXED, "--detach", "--uq", "bayes")
    console(*HARNESS_UQ, *detached, cwd=tmp_path, run=run_as_command)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        logs = list((tmp_path / "logs").glob("*.eval"))
        if logs and OUR_BLOCK in header_while_written(logs[0]):
            return
        time.sleep(0.3)
    pytest.fail("no intervals after five minutes")


def header_while_written(path):
    """The header, or nothing yet: for moments the log of a run is no archive, or an archive without a header."""
    try:
        return read_header_bytes(path)
    except (KeyError, LogError):
        return b""


TELLS_OF_CANCELLED_RUNS = (0, 3, 283)


@pytest.mark.skipif(
    tuple(map(int, version("inspect-ai").split(".")[:3])) < TELLS_OF_CANCELLED_RUNS,
    reason="this inspect-ai calls no hook after a cancelled run",
)
def test_a_cancelled_run_keeps_its_partial_scores_with_intervals_and_a_warning(tasks, tmp_path):
    command = [*INSPECT, "eval", f"{tasks}@cancelled", *FIXED, "--max-samples", "1"]
    variables = environment(HARNESS_UQ="bayes")
    # a shell may have started the tests in the background, where interrupts are ignored
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    log = read_log(str(only_log(tmp_path)))
    assert log.header.status == "cancelled", done.stdout + done.stderr
    assert done.returncode == 0  # as without us
    (row,) = block(only_log(tmp_path))["estimates"]
    assert row["n_questions"] == 15
    params = logged_params(row, "run-incomplete-part")
    assert (params["status"], params["n_logged"], params["n_planned"]) == ("cancelled", 16, 20)
    params = missing_params(row)
    assert (params["n_missing"], params["n_trials"], params["causes"]) == (1, 16, " (1 error)")


def test_invalid_options_are_errors_before_the_run(tasks, tmp_path):
    for options, said in (
        (("--uq", "bayesian"), "Unknown method: 'bayesian'. Did you mean 'bayes'?"),
        (("--uq", "bayes", "--uq-level", "95"), "Invalid level: '95'. Give a number between 0 and 1"),
        (("--uq", "bayes", "--uq-compare", "nowhere"), "Run to compare with not found: nowhere"),
        (("--uq", "bayes", "--uq-level", "95"), "--uq-level: Invalid level"),
        (
            ("--uq", "off", "--uq-level", "0.9", "--uq-cluster", "none"),
            "--uq-cluster, --uq-level can only be used with",
        ),
    ):
        command = [*HARNESS_UQ, "inspect", "eval", f"{tasks}@plain", *FIXED, *options]
        done = run_forked(command, cwd=tmp_path, environment=environment(), modules=("fork_imports",))
        assert done.returncode == 2
        assert said in done.stderr
    assert not (tmp_path / "logs").exists()


def test_the_environment_may_name_the_method_of_options_on_the_command_line(tasks, tmp_path):
    command = ("inspect", "eval", f"{tasks}@plain", *FIXED, "--uq-level", "0.9")
    run_with_uq(*HARNESS_UQ, *command, cwd=tmp_path, HARNESS_UQ="wilson")
    (row,) = block(only_log(tmp_path))["estimates"]
    assert block(only_log(tmp_path))["settings"]["method"] == "wilson"
    assert row["interval"]["level"] == 0.9


def test_help_names_every_option(capsys):
    from harness_uq.commands.main import main
    from harness_uq.options import LIVE_OPTIONS

    assert main(["inspect", "--help"]) == 0
    printed = capsys.readouterr().out
    assert [option.flag for option in LIVE_OPTIONS if f"  {option.flag} " not in printed] == []


def test_our_command_adds_intervals_without_an_option(tasks, tmp_path):
    said = console(*HARNESS_UQ, "inspect", "eval", f"{tasks}@plain", *FIXED, cwd=tmp_path)
    assert "95% interval" in said
    assert "--uq-keep-stderr" in said
    assert block(only_log(tmp_path))["settings"]["method"] == "bayes"


def test_our_command_runs_inspect_alone_if_intervals_are_off(tasks, tmp_path):
    command = ("inspect", "eval", f"{tasks}@plain", *FIXED, "--uq", "off")
    assert "interval" not in console(*HARNESS_UQ, *command, cwd=tmp_path)
    assert block(only_log(tmp_path)) is None


def test_a_dotenv_file_names_the_method_of_our_command(tasks, tmp_path):
    (tmp_path / ".env").write_text("HARNESS_UQ=wilson\n")
    console(*HARNESS_UQ, "inspect", "eval", f"{tasks}@plain", *FIXED, cwd=tmp_path)
    assert block(only_log(tmp_path))["settings"]["method"] == "wilson"


def test_an_estimand_and_the_standard_errors_of_inspect_can_be_chosen(tasks, tmp_path):
    command = ("inspect", "eval", f"{tasks}@clustered", *FIXED, "--uq-estimand", "pass@2", "--uq-keep-stderr")
    said = console(*HARNESS_UQ, *command, cwd=tmp_path)
    (row,) = block(only_log(tmp_path))["estimates"]
    assert (row["estimand"], row["interval"] is not None) == ("pass@2", True)
    assert "--uq-keep-stderr" not in said
    shown = printed(only_log(tmp_path))["right", None]
    assert shown["stderr"] == row["harness"]["std_error"]
    assert [shown["uq_pass@2"], shown["uq_pass@2_lower"]] == [row["value"], row["interval"]["low"]]


def test_an_unknown_cluster_field_is_reported_at_the_first_sample_and_once_at_the_end(tasks, runs, tmp_path):
    command = ("inspect", "eval", f"{tasks}@clustered", *FIXED, "--uq-cluster", "pasage", "--limit", "20")
    said = console(*HARNESS_UQ, *command, "--uq-compare", log_file(runs, "clustered"), cwd=tmp_path)
    first, rest = said.split("Did you mean 'passage'?")
    assert "95% interval" not in first
    assert rest.count("UQ402") == 1
    compared = rest[rest.index("clustered compared with") :]
    assert "A: this run, B: " in compared
    assert "20 questions" in " ".join(compared.split())


def test_rescoring_reproduces_the_live_run_and_can_be_undone(runs, tmp_path, capsys):
    from harness_uq.commands.main import main

    live = log_file(runs, "eval")
    path = Path(shutil.copy(live, tmp_path))
    assert main(["restore", str(path)]) == 1
    assert main(["rescore", str(path), "--in-place"]) == 0
    assert without_source(block(path)["estimates"]) == without_source(block(live)["estimates"])
    assert block(path)["settings"] == block(live)["settings"]
    assert printed(path) == printed(live)
    assert main(["restore", str(path)]) == 0
    assert path.read_bytes() == live.read_bytes()
    assert main(["rescore", str(path), "--output-dir", str(tmp_path / "copies")]) == 0
    assert path.read_bytes() == live.read_bytes()
    assert printed(tmp_path / "copies" / path.name) == printed(live)


def test_questions_that_each_failed_in_one_epoch_are_estimated(runs):
    (row,) = block(log_file(runs, "flaky"))["estimates"]
    assert (row["n_questions"], row["n_trials"], row["method"]) == (12, 1, "beta")
    params = missing_params(row)
    assert (params["n_missing"], params["n_trials"], params["causes"]) == (12, 24, " (12 errors)")
    (row,) = block(log_file(runs, "flaky_retried"))["estimates"]
    assert (row["n_questions"], row["n_trials"]) == (12, 2)


@pytest.mark.parametrize("case", ["no_samples", "flaky_no_samples", "flaky_no_samples_retried"])
def test_a_log_without_samples_notes_what_was_counted_live_and_afterwards(runs, case):
    for row in block(log_file(runs, case))["estimates"]:
        assert logged_params(row, "trials-as-finished")
    for row in estimate(log_file(runs, case)):
        assert has(row, "reduced-scores-only")


def test_questions_created_during_the_run_count_with_a_note(runs):
    rows = estimate(log_file(runs, "grown"))
    assert [(row.n_questions, row.n_trials, row.harness.n, row.warnings) for row in rows] == [(12, 2, 12, ())]
    assert has(rows[0], "unlisted-questions", n_generated=9, n_questions=12)


def test_scores_from_a_file_are_a_separate_score_and_first_if_headline(runs):
    rows = estimate(log_file(runs, "rated"))
    rated, own = sorted(rows, key=lambda row: row.metric)
    if hasattr(import_module("inspect_ai.log"), "headline_metric"):  # older versions log none
        assert rows[0] is rated
    assert (rated.metric, rated.n_questions, rated.value) == ("precomputed_scores", 7, pytest.approx(4 / 7))
    assert (own.metric, own.n_questions) == ("right", 12)
    assert not any("contradictory" in message.name for message in (*rated.messages, *own.messages))
