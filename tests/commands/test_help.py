"""The help of every command: layout, groups, and examples that can be run; suggestions for mistyped names."""

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from textwrap import wrap

import pytest

from harness_uq.commands import maintain
from harness_uq.commands.parser import COMMAND_GROUPS, COMMANDS, build_parser
from harness_uq.commands.parser import GROUPS as OPTION_GROUPS
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.messages import MESSAGE_REGISTRY
from harness_uq.messages.examples import example
from harness_uq.output.formats import formats_for
from tests.commands.test_main import output

HELP_WIDTH = 54  # of 80 columns

commands = pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def options(command):
    return [action for action in build_parser(command)._actions if action.dest not in ("help", "help_all", "debug")]


def test_the_main_help_lists_the_common_commands(capsys):
    code, out, err = output(capsys, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    listed = re.findall(r"^.{18} ([a-z-]+) +[A-Z]", out.partition("Examples:")[0], re.M)
    assert set(listed) == {
        *("demo", "estimate", "compare", "rank", "gate", "plan", "report", "history"),
        *("inspect", "lm-eval", "rescore", "more"),
    }


def test_more_lists_every_command_in_its_group(capsys):
    code, out, err = output(capsys, "more")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 26
    headings = [line[:19].strip() for line in out.splitlines()]
    assert [heading for heading in headings if heading in COMMAND_GROUPS] == list(COMMAND_GROUPS)
    for name, command in COMMANDS.items():
        assert re.search(rf"^.{{19}}{name} +{re.escape(command.summary)}$", out, re.M)


def test_help_all_lists_every_option_and_the_short_help_some(capsys):
    short, complete = (output(capsys, "estimate", option)[1] for option in ("--help", "--help-all"))
    flags = {flag for action in build_parser(COMMANDS["estimate"])._actions for flag in action.option_strings}
    assert {flag for flag in flags if flag not in complete} == set()
    assert "--latex-caption" not in short
    assert "--help-all" in short
    assert "clopper-pearson" in complete


@pytest.mark.parametrize("command", ["explain", "gate"])
def test_the_help_links_the_page_about_exit_codes(command, capsys):
    lines = output(capsys, command, "--help")[1].splitlines()
    (line,) = [line for line in lines if line.startswith("Exit codes: ")]
    assert "0 " in line
    assert "exit-codes" in lines[lines.index(line) + 1]


def test_explain_prints_a_message_with_its_example(capsys):
    code, out, _ = output(capsys, "explain", "UQ157", "few-clusters")
    assert code == 0
    kind = MESSAGE_REGISTRY.find("UQ157")
    plain = " ".join(out.split())
    for text in ("UQ157 clusters-used (note)", example(kind).text, kind.meaning, kind.action, "UQ104 few-clusters"):
        assert " ".join(text.split()) in plain
    code, _, err = output(capsys, "explain", "few-cluster")
    assert code == 2
    assert "few-clusters" in err


def test_options_that_repeat_a_command_print_what_it_prints(capsys, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("question,score\n" + "".join(f"q{k},{k % 3 > 0:d}\n" for k in range(12)))
    assert output(capsys, "estimate", str(table), "--structure") == output(capsys, "structure", str(table))
    assert output(capsys, "rescore", "--undo", str(table)) == output(capsys, "restore", str(table))
    assert output(capsys, "plan", "subset", "--help") == output(capsys, "subset", "--help")


@commands
def test_help_fits_80_columns_and_begins_with_summary_and_examples(command, capsys):
    code, out, err = output(capsys, command.name, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    usage, summary, examples = out.split("\n\n")[:3]
    assert usage.startswith(f"usage: harness-uq {command.name}")
    assert summary == f"{command.summary}."
    assert examples.startswith("Examples:\n")


@commands
def test_every_command_has_up_to_three_examples_that_parse(command):
    examples = [line for _, line in command.page.examples]
    assert 1 <= len(examples) <= 3
    for line in examples:
        program, name, *arguments = shlex.split(line.partition(" > ")[0].replace("\\\n", ""))
        assert program == "harness-uq"
        build_parser(COMMANDS[name]).parse_args(arguments)


@commands
def test_options_are_in_named_groups(command):
    parser = build_parser(command)
    titles = [group.title for group in parser._action_groups if group._group_actions]
    assert set(titles) <= set(OPTION_GROUPS)
    assert titles == sorted(titles, key=OPTION_GROUPS.index)


@commands
def test_the_help_of_an_option_is_at_most_two_lines_and_begins_with_a_verb(command):
    for action in options(command):
        text = action.help % vars(action)
        assert len(wrap(text, HELP_WIDTH)) <= 2, text
        if action.option_strings:
            assert re.match(r"[A-Z][a-z]+ ", text), text


def test_an_option_of_several_commands_has_one_help_text():
    texts = {}
    for command in COMMANDS.values():
        for action in options(command):
            name = action.option_strings[-1] if action.option_strings else action.metavar
            texts.setdefault(name, {})[command.name] = action.help
    # one metric, or also that of each task in the overall result
    for name in ("subset", "estimate", "compare", "gate", "rank", "report"):
        del texts["--metric"][name]
    del texts["--format"]  # which formats there are depends on the results
    shared = ("--task", "--metric", "--filter", "--model", "--cluster", "--range", "--column", "--level", "--seed")
    for option in (*shared, "--factor", "--engine", "--store", "--scheduler", "--estimand", "--interval"):
        assert len(set(texts[option].values())) == 1, option


@pytest.mark.parametrize(
    ("command", "lists"),
    [
        ("estimate", {"estimates"}),
        ("compare", {"comparisons"}),
        ("rank", {"overall", "rankings"}),
        ("gate", {"gates"}),
        ("plan", {"plans"}),
        ("history", {"histories"}),
        ("structure", {"structures", "summary"}),
        ("effects", {"effects"}),
        ("grader", {"agreements", "grader_differences", "self_preferences", "panels"}),
    ],
)
def test_the_help_lists_every_format_that_supports_the_results(command, lists):
    (text,) = [one.help for one in options(COMMANDS[command]) if one.dest == "format"]
    listed = re.split(", | or ", text.partition("Use ")[2].partition(";")[0])
    assert set(listed) == set(formats_for(lists, load_plugins()))


def test_help_is_plain_text_if_standard_output_is_no_terminal():
    run = [sys.executable, "-m", "harness_uq", "estimate", "--help"]
    assert b"\x1b" not in subprocess.run(run, capture_output=True, check=True).stdout


def test_help_is_coloured_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in output(capsys, "estimate", "--help")[1]
    assert "\x1b[" in output(capsys, "--help")[1]


def test_a_command_imports_no_other_command():
    code = (
        "import sys; from harness_uq.commands.main import main; main(['restore', '--help']); print(sorted(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = {command.module or command.name for command in COMMANDS.values()}
    assert {name for name in modules if f"'harness_uq.commands.{name}'" in out} == {"maintain"}
    assert "'numpy'" not in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["estimte", "x"], "Unknown command: 'estimte'. Did you mean 'estimate'? Run 'harness-uq more' to list all"),
        (["--versoin"], "Unknown option: '--versoin'. Did you mean '--version'? Available options: --debug, --help"),
        (["estimate", "x", "--levle", "0.9"], "Unknown option: '--levle'. Did you mean '--level'?\nRun 'harness-uq "),
        (["estimate", "x", "--confidence", "0.9"], "Unknown option: '--confidence'. Did you mean '--level'?\n"),
        (
            ["compare", "x", "--estimand", "mean"],
            "'--estimand'. It is an option of estimate, report and rescore. This command supports only ",
        ),
        (["gate", "x", "--baselin", "y"], "Unknown option: '--baselin'. Did you mean '--baseline'?"),
        (
            ["estimate", "x", "--scope", "populaton"],
            "Unknown value of --scope: 'populaton'. Did you mean 'population'? Available values: benchmark, full",
        ),
        (["store", "verfy", "x"], "Unknown value of ACTION: 'verfy'. Did you mean 'verify'?"),
        (["estimate", "x", "--method", "wilsn"], "Unknown method: 'wilsn'. Did you mean 'wilson'? Available methods: "),
        (["compare", "x", "y", "--method", "latent"], "Did you mean 'latent-normal'?"),
        (["estimate", "x", "--level", "95"], "Argument --level: invalid value '95'. Give a number between 0 and 1"),
    ],
)
def test_a_mistyped_name_gets_a_suggestion_and_exit_code_2(capsys, arguments, text):
    code, out, err = output(capsys, *arguments)
    assert (code, out) == (2, "")
    assert text in err
    assert "Traceback" not in err


def test_debug_is_accepted_after_the_command(capsys, monkeypatch):
    monkeypatch.setitem(maintain.PAGES, "restore", replace(COMMANDS["restore"].page, run=lambda args: 1 / 0))
    code, _, err = output(capsys, "restore", "x", "--debug")
    assert code == 1
    assert "Internal error: ZeroDivisionError: division by zero" in err
    assert "with --debug to see the traceback, and please report" in err


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_the_help_of_a_harness_fits_80_columns_and_begins_with_examples(harness, capsys):
    code, out, _ = output(capsys, harness, "--help")
    usage, summary, examples = out.split("\n\n")[:3]
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert usage.startswith(f"usage: harness-uq {harness} ")
    assert summary == f"Run {harness} with intervals in its output."
    assert examples.count("  # ") == 3
