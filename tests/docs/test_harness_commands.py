"""Every command of a harness on README, get-started and how-to pages runs as printed, or its arguments are parsed.

A command that needs a model from a hub or an API has the comment `<!-- needs a model -->` before its block. Pages may
have ten of them. All others are in blocks with `$`, which test_printed.py runs.
"""

import os
import re
import shlex
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.docs import printed

MOST_MARKED = 10
HOOK = ("harness-uq lm-eval install-hook", "harness-uq lm-eval remove-hook")  # they change the environment
MARK = "<!-- needs a model -->\n"
PAGES = [
    printed.ROOT / "README.md",
    printed.ROOT / "docs" / "index.md",
    *sorted((printed.ROOT / "docs" / "get-started").glob("*.md")),
    *sorted((printed.ROOT / "docs" / "howto").glob("*.md")),
]
_BLOCK = re.compile(
    r"^(?P<mark><!-- needs a model -->\n\n)?(?:```\S*\n(?P<fenced>(?:(?!```).*\n)*)```$|(?P<indented>(?:    .*\n)+))",
    re.MULTILINE,
)
_RUN = re.compile(r"^(?:\$ |- run: )?((?:[A-Z_]+=\S+ )*(?:harness-uq )?(?:lm-eval|lm_eval|inspect) .*)$")


def commands(page: Path) -> list[tuple[str, bool, bool]]:
    """Command, whether its block is marked, and whether test_printed.py runs it."""
    found = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        text = (block["fenced"] if block["indented"] is None else block["indented"]).replace("\\\n", " ")
        is_shown = text.startswith("$ ")
        for line in map(str.strip, text.splitlines()):
            if (match := _RUN.match(line)) and line.startswith("$ ") >= is_shown:
                command = re.sub(r" +", " ", re.split(r"  +#", match[1])[0])
                found.append((command, block["mark"] is not None, line.startswith("$ ")))
    return found


FOUND = [(page, *one) for page in PAGES for one in commands(page)]
MARKED = [(page, command) for page, command, is_marked, _ in FOUND if is_marked]


def test_every_command_is_run_or_marked() -> None:
    others = [f"{page.name}: {command}" for page, command, *kinds in FOUND if sum(kinds) != 1]
    assert [one for one in others if not one.endswith(HOOK)] == []
    assert sum(is_shown for *_, is_shown in FOUND) >= 8


def test_only_some_commands_are_marked() -> None:
    assert 0 < len(MARKED) <= MOST_MARKED, MARKED
    assert all(re.search("hf|openai|evaluation.yaml|nightly.yaml", command) for _, command in MARKED)


def test_every_mark_belongs_to_a_command() -> None:
    n_marks = sum(page.read_text(encoding="utf-8").count(MARK) for page in (printed.ROOT / "docs").rglob("*.md"))
    assert n_marks == len({(page, command) for page, command in MARKED})


@pytest.mark.harness
@pytest.mark.parametrize("command", [command for _, command in MARKED])
def test_the_harness_takes_the_arguments(command: str) -> None:
    arguments = [word for word in shlex.split(command) if "=" not in word or word.startswith("pretrained=")]
    if arguments[0] == "harness-uq":
        del arguments[0]
    parse = _parse_lm_eval if arguments[0].startswith("lm") else _parse_inspect
    parse(arguments[1:])
    with pytest.raises(SystemExit):
        parse([*arguments[1:], "--no-such-option"])


def _parse_lm_eval(arguments: list[str]) -> None:
    from lm_eval._cli import HarnessCLI

    from harness_uq_lm_eval.live.run_arguments import add_uq_options

    command_line = HarnessCLI()
    add_uq_options(command_line)
    command_line._parser.parse_args(arguments)


def _parse_inspect(arguments: list[str]) -> None:
    import click
    from inspect_ai._cli.main import inspect

    from harness_uq_inspect.live.settings import split_arguments

    (name, *options), _ = split_arguments(arguments)
    try:
        inspect.commands[name].make_context(name, options)
    except click.UsageError as error:
        raise SystemExit(str(error)) from None


@pytest.mark.harness
def test_the_commands_of_the_hook_run_in_an_environment_of_their_own(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False)
    (packages,) = tmp_path.glob("lib/python*/site-packages")
    (packages / "outer.pth").write_text(sysconfig.get_path("purelib"))
    command = tmp_path / "bin" / "harness-uq"
    command.write_text(
        f"#!{tmp_path}/bin/python\nfrom harness_uq.commands.main import main\nraise SystemExit(main())\n"
    )
    command.chmod(0o755)
    environment = {**printed.ENVIRONMENT, "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])}

    def shell(line: str) -> str:
        done = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, timeout=300)
        return done.stdout + done.stderr

    install, remove = HOOK
    wrong = "python -m lm_eval run --model dummy --tasks none --uq nosuch"
    assert "unrecognized arguments: --uq" in shell(wrong)
    shell(install)
    assert "Unknown method: 'nosuch'" in shell(wrong)
    shell(remove)
    assert "unrecognized arguments: --uq" in shell(wrong)


@pytest.mark.parametrize(
    "line",
    [
        "$ harness-uq lm-eval run --model recorded --tasks toy",
        "$ HARNESS_UQ=bayes inspect eval 'task file.py'   # a comment",
        "$ harness-uq inspect eval \\\n    task.py",
    ],
)
def test_a_printed_command_is_passed_to_the_shell_unchanged(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []

    def run(command: object, **_: object) -> "subprocess.CompletedProcess[str]":
        called.append(command)
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    page = tmp_path / "page.md"
    page.write_text(f"```\n{line}\n```\n")
    (shown,) = printed.shown_on(page)
    printed.Shell(page, tmp_path).run(shown.command)
    expected = line.removeprefix("$ ").partition("   #")[0].replace("\\\n", "")
    assert [shlex.split(str(command)) for command in called] == [shlex.split(expected)]


def test_the_arguments_of_other_commands_are_passed_on_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import harness_uq.commands.main

    called: list[object] = []
    monkeypatch.setattr(harness_uq.commands.main, "main", lambda arguments: called.append(arguments) or 0)
    page = tmp_path / "page.md"
    page.write_text("no commands")
    printed.Shell(page, tmp_path).run("harness-uq estimate 'a b' --level 0.9")
    assert called == [["estimate", "a b", "--level", "0.9"]]
