"""Long names and texts of logs cost linear time; names are bounded when they are read.

Subprocesses have a limit of CPU time, which the same work exceeded many times over when its time was quadratic.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from harness_uq import compare, read_logs, read_table
from harness_uq.data.names import MAX_NAME, bounded_name
from tests.security.hostile_names import write_table

LONG = "x" * 100_000


def run_limited(script: str, *arguments: str, seconds: int = 20) -> subprocess.CompletedProcess[str]:
    """Run a Python script that is ended after some seconds of CPU time."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))\n"
    command = [sys.executable, "-c", limit + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_names_are_bounded_and_remain_distinct(tmp_path: Path) -> None:
    names = [LONG, f"{LONG}x", f"{LONG}y", "x" * MAX_NAME, f"a\n{LONG}", f"a {LONG}", "a\nb", "a\\nb "]
    bounded = [bounded_name(name) for name in names]
    assert len(set(bounded)) == len(names)
    assert max(map(len, bounded)) == MAX_NAME
    assert [bounded_name(name) for name in bounded] == bounded
    path = write_table(tmp_path / "a.jsonl", task=LONG, model=f"{LONG}y", metric=f"m{LONG}", field=f"f{LONG}")
    for (log,) in (read_logs(path).logs, read_table(path)):
        assert (log.task, log.system) == (bounded[0], bounded[2])
        assert log.data[0].metric == bounded_name(f"m{LONG}")
        assert list(log.questions.fields) == [bounded_name(f"f{LONG}")]


def test_logs_are_still_matched_by_long_names(tmp_path: Path) -> None:
    paths = [write_table(tmp_path / f"{name}.jsonl", task=LONG, model=f"{LONG}{name}") for name in ("a", "bb")]
    (row,) = compare(*paths)
    assert row.n_matched == 12
    assert row.system_a != row.system_b


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_commands_take_linear_time_in_the_length_of_names(tmp_path: Path) -> None:
    paths = [
        write_table(tmp_path / f"{name}.jsonl", task=f"{LONG} {' ' * 40_000}.", model=f"{name}{LONG}", metric=LONG)
        for name in ("a", "bb")
    ]
    script = "import sys; from harness_uq.commands.main import main; sys.exit(main(sys.argv[1:]))"
    done = run_limited(script, "rank", *paths)
    assert done.returncode == 0, done.stderr


TEXTS = """
from harness_uq.data.names import bounded_name
from harness_uq.messages.control_characters import escape_control, visible
from harness_uq.output import sanitize
from harness_uq.output.latex import breakable
from harness_uq.output.document import Cells
from harness_uq.output.terminal import TerminalPage
from harness_uq.output.short_names import shorten
from harness_uq.messages.redaction import redact

functions = [
    redact, escape_control, visible, bounded_name, breakable, shorten, sanitize.markdown, sanitize.markdown_paragraph,
    sanitize.redact_paths, sanitize.file_name, sanitize.csv_field, sanitize.json_text, sanitize.html_text,
]
for part in ("x", " ", "A: A: ", "A: (a.py, line 1", "/x", "=~", "=/", " \\n", "`harness-uq ", "&a", "[(", "_", "_eyJ"):
    for function in functions:
        function(part * (100_000 // len(part)))
page = TerminalPage(80, is_terminal=True)
page.add_table([Cells("Task", ["x" * 100_000, "x" * 100_001], is_number=False), Cells("Value", ["1", "2"])])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_texts_are_escaped_in_linear_time() -> None:
    done = run_limited(TEXTS)
    assert done.returncode == 0, done.stderr
