"""lm-eval's command line with the `--uq` options."""

import argparse
import errno
import functools
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from harness_uq import HarnessUqError
from harness_uq.commands.main import main
from harness_uq.messages.catalogue.score_structure import FEW_POSSIBLE_CLUSTERS, RANGE_UNKNOWN
from harness_uq.options import LIVE_OPTIONS
from harness_uq_lm_eval.live import startup_hook
from harness_uq_lm_eval.live.settings import LmEvalSettings, RequestedSettings, add_arguments
from harness_uq_lm_eval.messages import RESULTS_NOT_SAVED, SAMPLES_NOT_SAVED, UNCERTAINTY_NOT_SAVED

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs, live_tasks
from tests.conftest import ROOT

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

MODEL = ["--model", "hash", "--limit", "12"]


@pytest.fixture
def run(live_folder, tmp_path, capsys, monkeypatch):
    """`run(*arguments)` returns the exit code, the output, and the results file or None."""
    from lm_eval import tasks as lm_eval_tasks

    # finding lm-eval's own 13,000 tasks takes several seconds per run
    own_tasks_only = functools.partial(lm_eval_tasks.TaskManager, include_defaults=False)
    monkeypatch.setattr(lm_eval_tasks, "TaskManager", own_tasks_only)
    monkeypatch.chdir(tmp_path)

    def call(*arguments, tasks="live_mc,live_perfect"):
        where = ["--tasks", tasks, "--include_path", str(live_folder), "--output_path", str(tmp_path / "out")]
        code = main(["lm-eval", "run", *MODEL, *where, *arguments])
        printed = capsys.readouterr()
        paths = sorted((tmp_path / "out").rglob("results_*.json"))
        return code, printed.out, json.loads(paths[-1].read_text(encoding="utf-8")) if paths else None

    return call


def test_the_table_has_a_column_of_intervals_and_the_file_a_block(run):
    code, printed, results = run("--uq", "bayes", "--uq-level", "0.9")
    assert code == 0
    header, _, *lines = [line for line in printed.splitlines() if line.startswith("|")]
    assert "90% interval" in header
    entry = live_runs.entries(results)["live_perfect", "acc", "none"]
    shown = f"[{entry['interval']['low']:.4f}, {entry['interval']['high']:.4f}]"
    (line,) = [line for line in lines if "live_perfect" in line]
    assert shown in line
    assert results["results"]["live_perfect"]["acc_stderr,none"] == entry["std_error"]
    assert len({len(line) for line in (header, *lines)}) == 1


def test_the_table_of_results_can_be_printed_in_python(run):
    import harness_uq_lm_eval

    _, printed, results = run("--uq", "bayes")
    assert harness_uq_lm_eval.make_table(results).strip() in printed
    assert "95% interval" in harness_uq_lm_eval.make_table(results)


def test_samples_are_written_only_if_requested(run, tmp_path):
    assert "samples" not in run("--uq", "bayes")[2]
    assert list((tmp_path / "out").rglob("samples_*")) == []
    run("--uq", "bayes", "--log_samples")
    assert len(list((tmp_path / "out").rglob("samples_*"))) == 2


def test_the_system_is_named(run):
    _, _, results = run("--uq", "bayes", "--model_args", "path=my/model")
    assert {entry["system"] for entry in results["uq"]["estimates"]} == {"my/model"}


def test_a_comparison_is_printed_below_the_tables(run, tmp_path):
    run("--uq", "bayes", "--log_samples", "--model_args", "path=my/old")
    (tmp_path / "out").rename(tmp_path / "old")
    code, printed, results = run(
        "--uq", "bayes", "--model_args", "path=my/new", "--uq-compare", str(tmp_path / "old"), "--uq-level", "0.9"
    )
    assert code == 0
    tables, comparison = printed.split(f"A: this run, B: {tmp_path / 'old'}\n")
    assert "live_perfect" in tables
    assert "90% interval" in comparison
    assert len(results["uq"]["comparisons"]) == 3  # acc twice, and acc_norm
    assert results["uq"]["comparisons"][-1]["verdict_text"] in " ".join(printed.splitlines())
    assert "uq.comparisons in the results file" in comparison


def test_a_comparison_fits_the_terminal_and_names_no_file_that_is_not_written(run, tmp_path, monkeypatch):
    run("--log_samples", "--limit", "20", "--model_args", "path=my/model", tasks="live_mc")
    (tmp_path / "out").rename(tmp_path / "old")
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["--uq-compare", "old", "--output_path", "", "--model_args", "path=my/model"]
    printed = run(*arguments, tasks="live_mc")[1]
    below = printed[printed.index("Stderr: standard error of harness-uq") :]
    assert max(map(len, below.splitlines())) <= 80
    assert "A: this run, B: old\n" in below
    assert "on the 12 questions" in " ".join(below.split())
    assert "results file" not in below


def test_a_failed_comparison_is_reported_below_the_tables(run, tmp_path):
    (tmp_path / "empty").mkdir()
    code, printed, results = run("--uq", "bayes", "--uq-compare", "empty")
    assert (code, "comparisons" in results["uq"]) == (0, False)
    assert "No comparison with empty: " in printed


def test_each_warning_is_printed_once_below_the_tables(run):
    code, printed, results = run("--uq", "pass-k")
    tables, below = printed.split("Warnings\n")
    assert code == 0
    assert "live_perfect" in tables
    messages = [message for entry in results["uq"]["estimates"] for message in entry["messages"]]
    texts = {f"{message['text']} ({message['code']})" for message in messages if message["severity"] != "note"}
    warnings = set(map(LmEvalSettings.with_live_options, texts))
    text = " ".join(below.split())
    assert warnings
    assert [text.count(warning) for warning in sorted(warnings)] == [1] * len(warnings)


@pytest.mark.skipif(version("lm-eval") < "0.4.12", reason="lm-eval 0.4.11 reports in every process")
def test_only_the_first_process_of_torchrun_reports(run, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")  # as in lm-eval with tensor parallelism, the model has rank 0
    code, printed, results = run("--uq", "pass-k")
    assert (code, printed, results) == (0, "", None)


def test_a_run_with_a_limit_can_be_estimated_for_the_whole_benchmark(run):
    _, _, results = run("--uq", "bayes", "--uq-scope", "full", tasks="live_perfect")
    entry = live_runs.entries(results)["live_perfect", "acc", "none"]
    assert (results["uq"]["scope"], entry["scope"]) == ("full", "full")
    assert entry["interval"] is not None


def test_our_command_adds_intervals_without_an_option(run):
    assert run()[2]["uq"]["method"] == "bayes"


def test_a_run_without_intervals_is_lm_evals_own(run):
    code, printed, results = run("--uq", "off")
    assert (code, "uq" in results) == (0, False)
    assert "interval" not in printed


def test_the_environment_may_name_the_method(run, monkeypatch):
    monkeypatch.setenv("HARNESS_UQ", "wilson")
    assert run()[2]["uq"]["method"] == "wilson"
    assert run("--uq", "bayes")[2]["uq"]["method"] == "bayes"


@pytest.mark.parametrize(("value", "method"), [("0", None), ("off", None), ("1", "bayes"), ("True", "bayes")])
def test_the_environment_may_switch_it_on_or_off(monkeypatch, value, method):
    monkeypatch.setenv("HARNESS_UQ", value)
    settings = RequestedSettings({}).settings()
    assert (settings and settings.method) == method


def test_a_level_in_words_is_an_error_that_names_it():
    with pytest.raises(HarnessUqError, match=r"--uq-level: Invalid level: 'high'\. Give a number between 0 and 1"):
        RequestedSettings({"method": "bayes", "level": "high"}).check()


def test_the_command_line_takes_precedence_over_a_config_file(run, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("uq: bayes\nuq_level: 0.8\nuq_cluster:\n  live_mc: none\n", encoding="utf-8")
    block = run("--config", str(config))[2]["uq"]
    assert (block["method"], block["level"]) == ("bayes", 0.8)
    assert {entry["n_clusters"] for entry in block["estimates"]} == {None}
    assert run("--config", str(config), "--uq-level", "0.5")[2]["uq"]["level"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--uq", "bays"], "bays"),
        (["--uq", "bayes", "--uq-level", "95"], "--uq-level: Invalid level: '95'"),
        (["--uq", "bayes", "--uq-scope", "everything"], "uq-scope"),
        (
            ["--uq", "bayes", "--uq-compare", "nowhere"],
            "Run to compare with not found: nowhere. Give the path of a logged run.\n",
        ),
        (
            ["--uq", "off", "--uq-level", "0.9", "--uq-cluster", "none"],
            "--uq-cluster, --uq-level can only be used with --uq: add --uq bayes.",
        ),
    ],
)
def test_a_wrong_setting_ends_the_run_before_it_begins(run, capsys, arguments, message, monkeypatch):
    from lm_eval import evaluator

    monkeypatch.setattr(evaluator, "evaluate", lambda *_, **__: pytest.fail("the model was run"))
    code = main(["lm-eval", "run", *MODEL, "--tasks", "live_mc", *arguments])
    assert code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("cluster", ["pasage_id", "live_mc=pasage_id"])
def test_an_unknown_cluster_field_ends_the_run_before_inference(run, monkeypatch, cluster):
    monkeypatch.setattr(live_tasks.HashLM, "loglikelihood", lambda *_: pytest.fail("the model was run"))
    code, _, results = run("--uq-cluster", cluster)
    assert (code, results) == (2, None)


def test_a_wrong_config_file_ends_the_run_before_it_begins(run, tmp_path, capsys):
    config = tmp_path / "config.yaml"
    for content, message in (("uq: bays\n", "bays"), ("uq: off\nuq_level: 0.9\n", "add --uq bayes")):
        config.write_text(content, encoding="utf-8")
        code = main(["lm-eval", "run", *MODEL, "--tasks", "live_mc", "--config", str(config)])
        assert code == 2
        assert message in capsys.readouterr().err


def test_a_config_file_may_name_the_method_of_options_on_the_command_line(run, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("uq: bayes\n", encoding="utf-8")
    assert run("--config", str(config), "--uq-level", "0.5")[2]["uq"]["level"] == 0.5


def test_help_names_our_options_and_commands(capsys):
    for arguments in ([], ["--help"], ["-h"]):
        assert main(["lm-eval", *arguments]) == 0
        printed = capsys.readouterr().out
        for name in ("--uq METHOD", "--uq-keep-bootstrap", "HARNESS_UQ", "install-hook", "remove-hook", "run --help"):
            assert name in printed
    assert main(["lm-eval", "run", "--help"]) == 0
    assert "--uq METHOD" in capsys.readouterr().out


def test_options_are_shown_with_hyphens_and_accepted_with_underscores():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    both = [parser.parse_args(["--uq", "t", option, "0.9"]).uq_level for option in ("--uq-level", "--uq_level")]
    assert both == ["0.9", "0.9"]
    assert "--uq_" not in parser.format_help()


def test_the_options_of_all_harnesses_are_accepted():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert {option.flag for option in LIVE_OPTIONS} <= parser._option_string_actions.keys()


def test_the_standard_errors_of_lm_eval_can_be_kept(run):
    kept = run("--uq-keep-stderr", tasks="live_perfect")
    assert kept[2]["results"]["live_perfect"]["acc_stderr,none"] == 0.0
    assert live_runs.entries(kept[2])["live_perfect", "acc", "none"]["std_error"] > 0
    assert ["--uq-keep-stderr" in printed for printed in (kept[1], run(tasks="live_perfect")[1])] == [False, True]


def test_notes_are_printed_below_the_tables_as_well(run):
    _, printed, results = run("--uq-cluster", "auto", tasks="live_mc")
    notes = [one for entry in results["uq"]["estimates"] for one in entry["messages"] if one["severity"] == "note"]
    assert notes
    assert all(f"({note['code']})" in printed for note in notes)


def test_a_detected_field_clusters_from_five_values_on_and_is_noted_with_both_intervals_below(run):
    """The task has 40 rows in five paragraphs, and the first 24 rows are in three."""
    _, _, results = run("--limit", "40", tasks="live_acc_all")
    assert live_runs.entries(results)["live_acc_all", "acc", "none"]["n_clusters"] == 5
    _, printed, results = run("--limit", "24", tasks="live_acc_all")
    entry = live_runs.entries(results)["live_acc_all", "acc", "none"]
    (note,) = (one for one in entry["messages"] if one["code"] == FEW_POSSIBLE_CLUSTERS.code)
    params = note["params"]
    assert (params["field"], params["n_clusters"]) == ("idx.paragraph", 3)
    assert params["low"] < params["low_independent"] == entry["interval"]["low"]
    text = " ".join(printed.split())
    assert f"[{params['low']:.3f}, {params['high']:.3f}] instead of" in text
    assert "add --uq-cluster idx.paragraph" in text


def test_method_is_another_spelling_of_uq(run):
    assert run("--method", "wilson", tasks="live_perfect")[2]["uq"]["method"] == "wilson"


def test_without_lm_eval_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "lm_eval._cli", None)
    assert main(["lm-eval", "run"]) == 1
    assert "pip install 'harness-uq[lm-eval]'" in capsys.readouterr().err


def test_other_arguments_are_lm_evals(capsys):
    assert main(["lm-eval", "run", "--no_such_option"]) == 2


@pytest.mark.parametrize("uq", [["--uq", "bayes"], []])
@pytest.mark.parametrize("wrong", [["--tasks", "no_such_task"], ["--model", "no_such_model"]], ids=["task", "model"])
def test_an_error_of_lm_eval_is_reported_as_its_own(live_folder, capsys, monkeypatch, wrong, uq):
    from lm_eval import tasks as lm_eval_tasks

    monkeypatch.setattr(
        lm_eval_tasks, "TaskManager", functools.partial(lm_eval_tasks.TaskManager, include_defaults=False)
    )
    arguments = ["--model", "hash", "--tasks", "live_perfect", "--include_path", str(live_folder), *wrong, *uq]
    assert main(["lm-eval", "run", *arguments]) == 1
    printed = capsys.readouterr().err
    assert printed.splitlines()[-1].startswith("ValueError: ")
    assert wrong[1] in printed.splitlines()[-1]
    _, traceback, frames = printed.rpartition("Traceback")
    assert traceback
    assert "lm_eval" in frames
    assert "harness_uq" not in frames


def test_an_error_of_harness_uq_stays_an_internal_error(run, capsys, monkeypatch):
    def fails(*_):
        raise RuntimeError("injected")

    monkeypatch.setattr(RequestedSettings, "settings", fails)
    assert run("--uq", "bayes")[0] == 1
    assert main(["lm-eval", "run", *MODEL, "--tasks", "live_perfect", "--uq", "bayes"]) == 1
    assert "Internal error: RuntimeError: injected" in capsys.readouterr().err


def test_warnings_name_the_options_of_the_run(run):
    code, printed, results = run("--uq", "pass-k")
    assert code == 0
    text = " ".join(printed.partition("Warnings\n")[2].split())
    codes = {message["code"] for entry in results["uq"]["estimates"] for message in entry["messages"]}
    assert "UQ186" in codes & set(re.findall(r"UQ\d+", text))
    assert "--uq-estimand" in text
    assert "--estimand" not in text


def test_options_are_those_of_the_run_or_of_another_command():
    named = LmEvalSettings.with_live_options
    assert "--range is an option of harness-uq estimate, not of this run." in named(RANGE_UNKNOWN(metric="bleu").text)
    assert named("Use --scope full and --uq bayes.") == "Use --uq-scope full and --uq bayes."
    assert named("Pass --reference-runs, or --uq-level.") == "Pass --uq-reference-runs, or --uq-level."
    assert named("Use `harness-uq rescore --in-place`.") == "Use `harness-uq rescore --in-place`."


@pytest.fixture
def small_disk(monkeypatch):
    """`small_disk(n)`: a file of more than `n` characters is cut off there, as on a full disk."""
    write_text = Path.write_text

    def limit_to(n_characters):
        def write_part(path, data, *args, **kwargs):
            write_text(path, data[:n_characters], *args, **kwargs)
            if len(data) > n_characters:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        monkeypatch.setattr(Path, "write_text", write_part)

    return limit_to


@pytest.fixture
def stock_size(run, tmp_path):
    """Size of lm-eval's own results file."""
    run("--uq", "off")
    (path,) = tmp_path.rglob("results_*.json")
    size = path.stat().st_size
    path.unlink()
    return size


def test_a_disk_that_is_full_leaves_the_results_of_lm_eval(run, small_disk, stock_size, caplog, tmp_path):
    small_disk(stock_size + 500)
    code, _, results = run("--uq", "bayes")
    assert code == 1
    assert "uq" not in results
    acc = results["results"]["live_perfect"]
    assert (acc["acc,none"], acc["acc_stderr,none"]) == (1.0, 0.0)  # lm-eval's own standard error
    assert UNCERTAINTY_NOT_SAVED(path=str(tmp_path / "out")).text in caplog.text
    assert list((tmp_path / "out").glob(".harness-uq*")) == []


def test_a_disk_that_is_full_leaves_no_part_of_a_file(run, small_disk, caplog, tmp_path):
    small_disk(100)
    code, printed, results = run("--uq", "bayes")
    assert (code, results) == (1, None)
    assert "live_perfect" in printed
    assert caplog.text.count(RESULTS_NOT_SAVED(path=str(tmp_path / "out")).text) == 1
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_a_disk_that_is_full_leaves_no_part_of_the_samples(run, monkeypatch, caplog, tmp_path):
    from lm_eval.loggers import evaluation_tracker

    def open_on_small_disk(path, *args, **kwargs):
        file, n_written = Path(path).open(*args, **kwargs), 0  # noqa: SIM115
        write = file.write

        def write_part(text):
            nonlocal n_written
            write(text[: 300 - n_written] if n_written < 300 else "")
            n_written += len(text)
            if n_written > 300:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        file.write = write_part
        return file

    monkeypatch.setattr(evaluation_tracker, "open", open_on_small_disk, raising=False)
    code, _, results = run("--uq", "bayes", "--log_samples")
    assert (code, "uq" in results) == (1, True)
    assert [path for path in (tmp_path / "out").rglob("*") if "samples" in path.name] == []
    assert caplog.text.count(SAMPLES_NOT_SAVED(path=str(tmp_path / "out")).text) == 1  # for two tasks


def test_an_output_path_may_be_a_file(run, tmp_path):
    code = run("--uq", "bayes", "--log_samples", "--output_path", str(tmp_path / "out" / "mine.json"))[0]
    assert code == 0
    (path,) = (tmp_path / "out").glob("mine_*.json")
    assert "uq" in json.loads(path.read_text(encoding="utf-8"))
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_predict_only_runs_to_the_end(run):
    code, _, results = run("--uq", "bayes", "--predict_only", tasks="live_mc")
    assert (code, results["uq"]["estimates"]) == (0, [])


NAMED = """
task: named
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: ["no", "yes"]
doc_to_target: label
metric_list: [{metric: acc, aggregation: uq_beta, higher_is_better: true}]
"""


@pytest.mark.skipif(version("lm-eval") < "0.4.12", reason="the dummy model of lm-eval 0.4.11 needs transformers")
@pytest.mark.parametrize("uq", [["--uq", "bayes"], []])
def test_a_task_names_our_aggregations_with_and_without_uq(tmp_path, uq):
    (tmp_path / "q.jsonl").write_text('{"question": "1?", "label": 1}\n{"question": "2?", "label": 0}\n')
    (tmp_path / "named.yaml").write_text(NAMED.replace("DATA", str(tmp_path / "q.jsonl")), encoding="utf-8")
    arguments = ["lm-eval", "run", "--model", "dummy", "--tasks", "named", "--include_path", str(tmp_path), *uq]
    done = python(tmp_path, "-m", "harness_uq", *arguments)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("|named")]
    assert line.count("[") == 1


class TestHook:
    def test_the_hook_is_one_file_and_is_removed_completely(self, tmp_path):
        assert "remove-hook" in startup_hook.install(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [startup_hook.FILE_NAME]
        assert "removed" in startup_hook.remove(tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert "no hook" in startup_hook.remove(tmp_path)

    def test_the_lm_eval_command_accepts_uq_with_the_hook(self, live_folder, tmp_path):
        printed = stock_command(tmp_path, "--uq", "bayes", *where(live_folder, tmp_path))
        assert "95% interval" in printed.stdout, printed.stderr
        (path,) = (tmp_path / "out").rglob("results_*.json")
        assert json.loads(path.read_text(encoding="utf-8"))["uq"]["method"] == "bayes"

    def test_the_module_of_the_command_accepts_uq_with_the_hook(self, live_folder, tmp_path):
        startup_hook.install(tmp_path)
        done = python(tmp_path, "-m", "lm_eval.__main__", "run", "--uq", "nosuch")
        assert "nosuch" in done.stderr
        assert "unrecognized arguments" not in done.stderr

    def test_it_is_offered_once_in_a_terminal(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setattr(startup_hook, "_path", lambda _: tmp_path / "hook.pth")
        startup_hook.offer()
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        startup_hook.offer()
        startup_hook.offer()
        assert capsys.readouterr().err.count("harness-uq lm-eval install-hook\n") == 1
        (tmp_path / "harness-uq" / "hook-offered").unlink()
        (tmp_path / "hook.pth").touch()
        startup_hook.offer()
        assert capsys.readouterr().err == ""

    def test_other_programs_do_not_import_us(self, tmp_path):
        startup_hook.install(tmp_path)
        code = "import sys; print(any(name.startswith('harness_uq') for name in sys.modules))"
        assert python(tmp_path, "-c", code).stdout.strip() == "False"

    def test_it_imports_nothing_in_other_programs(self, tmp_path):
        code = f"import sys; had = set(sys.modules); exec({startup_hook.LINE!r}); print(sorted(set(sys.modules) - had))"
        assert python(tmp_path, "-c", code).stdout.strip() == "[]"

    def test_the_hook_is_silent_if_the_package_is_not_installed(self, tmp_path):
        program = tmp_path / "lm-eval"
        program.write_text(f"{startup_hook.LINE}print('fine')\n", encoding="utf-8")
        # -S: without site-packages, and therefore without harness_uq
        done = subprocess.run([sys.executable, "-S", "-I", program], capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "fine", done.stderr


# at the start of Python; finding lm-eval's own 13,000 tasks takes several seconds per run
START = f"""
import functools, site, sys
site.addsitedir({{folder!r}})
if any(name in sys.orig_argv for name in ("lm_eval", "lm-eval")):
    import {live_tasks.__name__}
    from lm_eval import tasks
    tasks.TaskManager = functools.partial(tasks.TaskManager, include_defaults=False)
"""


def where(live_folder, tmp_path):
    return ["--tasks", "live_perfect", "--include_path", live_folder, "--output_path", tmp_path / "out"]


def python(folder, *arguments):
    """Python that reads the .pth files of `folder` at its start, like those of site-packages."""
    (folder / "sitecustomize.py").write_text(START.format(folder=str(folder)), encoding="utf-8")
    path = os.pathsep.join(map(str, (folder, ROOT, ROOT / "adapters")))
    environment = {**os.environ, "PYTHONPATH": path, "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=300, cwd=folder
    )


def stock_command(folder, *arguments):
    startup_hook.install(folder)
    return python(folder, "-m", "lm_eval", "run", *MODEL, *arguments)
