import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from tests.conftest import ROOT

TIME = "2026-01-01T00-00-00.000000"


def write_lm_eval(folder, rows=10, right=8, *, task="toy", extra_lines=(), value=None):
    results = {
        "results": {
            task: {"alias": task, "acc,none": right / rows if value is None else value, "acc_stderr,none": 0.1}
        },
        "configs": {task: {"task": task, "output_type": "multiple_choice", "repeats": 1}},
        "versions": {task: 1},
        "n-samples": {task: {"original": rows, "effective": rows}},
        "config": {"model": "toy", "model_args": {}},
        "model_name": "toy-model",
        "lm_eval_version": "0.4.13",
    }
    (folder / f"results_{TIME}.json").write_text(json.dumps(results))
    lines = [
        json.dumps(
            {
                "doc_id": i,
                "doc": {"q": i},
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": f"h{i}",
                "acc": float(i < right),
            }
        )
        for i in range(rows)
    ]
    (folder / f"samples_{task}_{TIME}.jsonl").write_text("\n".join([*lines, *extra_lines]) + "\n")
    return folder


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    return write_lm_eval(folder)


def output(capsys, *arguments):
    code = main(list(arguments))
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def test_the_table_shows_value_interval_and_both_standard_errors(run, capsys):
    code, out, err = output(capsys, "estimate", str(run))
    assert (code, err) == (0, "")
    assert "toy-model" in out
    assert "0.8000" in out
    assert "95% interval" in out
    assert "Harness SE" in out
    assert "beta, hdi" in out


def test_json_is_valid_and_has_the_documented_fields(run, capsys):
    code, out, _ = output(capsys, "estimate", str(run), "--format", "json", "--level", "0.9")
    (row,) = json.loads(out)["estimates"]
    assert code == 0
    assert row["interval"]["level"] == 0.9
    assert row["harness"] == {"value": 0.8, "std_error": 0.1, "n": 10}
    documented = (ROOT / "docs/reference/json.md").read_text()
    assert all(f"`{name}`" in documented for name in row if name not in ("task", "metric"))


def test_csv_has_a_row_an_estimate(run, capsys):
    _, out, _ = output(capsys, "estimate", str(run), "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert float(row["interval_low"]) < float(row["value"]) < float(row["interval_high"])
    assert row["n_clusters"] == ""


def test_markdown_is_one_table(run, capsys):
    _, out, _ = output(capsys, "estimate", str(run), "--format", "markdown")
    header, rule, row, *_ = out.strip().splitlines()
    assert header.count("|") == rule.count("|") == row.count("|")


def test_a_broken_path_named_by_the_user_exits_1_and_the_others_are_still_printed(run, tmp_path, capsys):
    code, out, err = output(capsys, "estimate", str(tmp_path / "missing.eval"), str(run))
    assert code == 1
    assert "0.8000" in out
    assert "missing.eval" in err
    assert "(UQ305)" in err
    assert "Traceback" not in err


def test_json_stays_valid_where_nothing_could_be_read(tmp_path, capsys):
    code, out, _ = output(capsys, "estimate", str(tmp_path / "missing.eval"), "--format", "json")
    assert code == 1
    document = json.loads(out)
    assert document["estimates"] == []
    assert document["errors"][0]["code"] == "UQ305"


def test_strangers_in_a_folder_are_counted_not_errors(run, capsys):
    (run / "notes.txt").write_text("hello")
    code, _, err = output(capsys, "estimate", str(run))
    assert code == 0
    assert "1 file skipped" in err


def test_a_truncated_line_is_named_and_the_rest_kept(tmp_path, capsys):
    write_lm_eval(tmp_path, extra_lines=['{"doc_id": 10, "doc": {"q": 10}, "filt'])
    code, out, _ = output(capsys, "estimate", str(tmp_path), "--notes")
    assert code == 0
    assert "line 11" in out
    assert "0.8000" in out


def test_contradictory_totals_are_said(tmp_path, capsys):
    write_lm_eval(tmp_path, value=0.5)
    code, out, _ = output(capsys, "estimate", str(tmp_path), "--notes")
    assert code == 0
    assert "0.8000" in out
    assert "Warnings" in out
    assert "0.5" in out


@pytest.mark.parametrize("content", [b"", b"{", b"PK\x03\x04 cut"])
def test_broken_files_give_a_message_not_a_traceback(tmp_path, capsys, content):
    for name in ("broken.eval", "results_2026-01-01T00-00-00.json"):
        file = tmp_path / name
        file.write_bytes(content)
        code, _, err = output(capsys, "estimate", str(file))
        assert code == 1
        assert name in err
        assert "Traceback" not in err


def test_a_zip_that_is_no_log_is_said(tmp_path, capsys):
    file = tmp_path / "other.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hello.txt", "hello")
    code, _, err = output(capsys, "estimate", str(file))
    assert code == 1
    assert "other.eval" in err


def test_an_unknown_method_lists_the_known_ones(run, capsys):
    code, _, err = output(capsys, "estimate", str(run), "--uq", "wilsom")
    assert code == 2
    assert "Unknown method: 'wilsom'. Did you mean 'wilson'?" in err
    assert "clopper-pearson" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--level", "95"], "invalid value '95'. Give a number between 0 and 1, such as 0.95."),
        (["--level", "abc"], "invalid value 'abc'. Give a number between 0 and 1, such as 0.95."),
        (["--seed", "-1"], "invalid value '-1'. Give a whole number, 0 or more."),
        (["--range", "bleu"], "Give METRIC=LO,HI"),
        (["--range", "bleu=9,1"], "LO < HI"),
        (["--scope", "x"], "Unknown value of --scope: 'x'"),
        (["--range", "accc=0,1"], "no metric 'accc'. Did you mean 'acc'?"),
        (["--cluster", "tyo=passage"], "no task 'tyo'. Did you mean 'toy'?"),
        (["--estimand", "best"], "Unknown estimand: 'best'. Available estimands: G-pass@K:TAU, mG-pass@K, maj@K"),
        (["--estimand", "pass@0"], "Invalid estimand: 'pass@0'. K is a number of trials, 1 or more."),
        (["--estimand", "G-pass@4:2"], "above 0 and up to 1; got 'G-pass@4:2'"),
        (["--estimand", "G-pass@4:0..5"], "Unknown estimand: 'G-pass@4:0..5'. Did you mean 'G-pass@K:TAU'?"),
    ],
)
def test_wrong_arguments_exit_2_and_say_what_is_right(run, capsys, arguments, said):
    code, out, err = output(capsys, "estimate", str(run), *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("command", ["structure", "rank", "report", "plan", "compare"])
@pytest.mark.parametrize(("option", "value"), [("--cluster", "tyo=passage"), ("--range", "accc=0,1")])
def test_every_command_refuses_names_that_no_log_has(run, capsys, command, option, value):
    sides = [str(run)] * (2 if command == "compare" else 1)
    code, out, err = output(capsys, command, *sides, option, value)
    assert (code, out) == (2, "")
    assert value.partition("=")[0] in err


def test_a_log_without_scores_is_named_with_the_reason(run, shared, capsys):
    unscored = str(shared / "data/inspect/unscored")
    code, out, err = output(capsys, "estimate", unscored)
    assert (code, out) == (1, "")
    assert "'popularity' is left out: " in err
    for command in (["estimate"], ["report"], ["compare"], ["rescore", "--in-place"]):
        assert output(capsys, *command, unscored, *([str(run)] if command == ["compare"] else []))[0] == 1
    code, out, _ = output(capsys, "structure", unscored)
    assert code == 0
    assert "no scores per question" in out


def test_without_arguments_the_help_is_printed(capsys):
    code, out, err = output(capsys)
    assert (code, err) == (0, "")
    assert out == output(capsys, "--help")[1]


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "harness_uq", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("harness-uq ")


def test_help_and_a_mistyped_command_name_the_harnesses(capsys):
    _, out, _ = output(capsys, "--help")
    for name, typed in (("lm-eval", "lmeval"), ("inspect", "inspct")):
        assert f"Run {name} with intervals in its output" in out
        assert f"Did you mean '{name}'?" in output(capsys, typed)[2]


def test_a_plugin_without_a_harness_of_its_name_is_said(monkeypatch, capsys):
    monkeypatch.setattr("harness_uq.io.plugins.manager.entry_names", lambda: ["estimate", "mine"])
    code, _, err = output(capsys, "mine", "--help")
    assert code == 1
    assert "named 'mine'" in err
    assert output(capsys, "estimate", "--help")[0] == 0


def test_an_interrupt_is_a_line_and_exit_code_130(run, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness_uq.analyses.scan.worker.estimate_logs", interrupted)
    assert output(capsys, "estimate", str(run)) == (130, "", "harness-uq: interrupted: 0 of 1 logs were done\n")


def in_a_process(stdout, *arguments):
    script = "import sys; from harness_uq.commands.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_a_full_disk_is_a_line(run):
    with Path("/dev/full").open("w") as full:
        assert in_a_process(full, "estimate", str(run)) == (
            1,
            "harness-uq: error: The output cannot be written: No space left on device\n",
        )


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_goes_away_ends_the_command_quietly_but_not_with_success(run):
    """A failing gate whose output nobody reads must not look like a pass."""
    reader, writer = os.pipe()
    os.close(reader)
    assert in_a_process(writer, "estimate", str(run)) == (141, "")
    os.close(writer)


def test_structure_prints_the_evidence(run, capsys):
    code, out, _ = output(capsys, "structure", str(run))
    assert code == 0
    assert "questions count as independent (no field says" in out
    assert "acc: binary" in out


def test_help_and_version_load_neither_numpy_nor_scipy():
    script = (
        "import sys\nfrom harness_uq.commands.main import main\n"
        "codes = main(['--help']), main(['estimate', '--help']), main(['--version'])\n"
        "print(codes, [m for m in ('numpy', 'scipy', 'msgspec') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "(0, 0, 0) []"


def test_estimate_loads_no_code_of_options_that_are_not_given(run):
    names = (
        "breakdown",
        "comparison",
        "inference.labels",
        "inference.subset",
        "stats.active",
        "plots.figure",
    )
    script = (
        "import sys\nfrom harness_uq.commands.main import main\n"
        f"code = main(['estimate', {str(run)!r}])\n"
        f"print(code, [m for m in {names} if f'harness_uq.{{m}}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_structure_prints_its_records_in_every_form(run, capsys, form):
    code, out, _ = output(capsys, "structure", str(run), "--format", form)
    assert code == 0
    if form != "latex":
        assert "no field says that questions share material" in out
    if form == "json":
        (record,) = json.loads(out)["structures"]
        assert (record["task"], record["n_questions"], record["n_clusters"]) == ("toy", 10, None)
        documented = (ROOT / "docs/reference/json.md").read_text().split("\n## ")[2]
        assert [name for name in record if f"`{name}`" not in documented] == []
    if form == "latex":
        assert r"\toprule" in out


@pytest.mark.parametrize("arguments", [("--uq", "nothing"), ("--estimand", "best"), ("--cluster", "a=b=c")])
def test_json_is_valid_whatever_is_asked_for(run, capsys, arguments):
    code, out, err = output(capsys, "estimate", str(run), *arguments, "--format", "json")
    document = json.loads(out)
    assert set(document) == {"schema", "overall", "estimates", "errors"}
    if code:
        assert document["errors"][0]["path"] is None
        assert document["errors"][0]["text"].rstrip(".") in err


def test_nothing_to_print_prints_no_empty_line(tmp_path, capsys):
    assert output(capsys, "estimate", str(tmp_path / "absent"))[:2] == (1, "")
