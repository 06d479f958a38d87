"""What pages show of the command line is what it prints.

A block of a page with lines `$ command` shows commands and, below each, what it prints; a line `…` stands for lines
left out, and nothing else may be. A command that ends with a backslash goes on in the next line. Commands run as they
are printed: a shell runs those of a harness, and the arguments of the others are passed on unchanged. A comment
`<!-- file: NAME -->` names the file that a page shows next. `python -m tests.docs.printed` runs all commands and writes
anew what has changed: a block without `…` whole, of a cut one the lines most like those shown before.
"""

import difflib
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path

import harness_uq

ROOT = Path(__file__).resolve().parents[2]
CUT = "…"
_BLOCK = re.compile(r"^```(?:console)?\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_COMMAND = re.compile(r"^\$ (.+?)(?:  +#.*)?$")
_FILE = re.compile(r"^<!-- file: (\S+) -->\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\\n *")
# both harnesses, and harness-uq as it is here
ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]),
}
_HARNESSES = ("lm-eval", "lm_eval", "inspect")


@dataclass(frozen=True)
class Shown:
    """A command and what a page shows of its output."""

    page: Path
    line: str
    output: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command in one line, without the comment behind it."""
        found = _COMMAND.match(_CONTINUED.sub("", self.line))
        assert found
        return found[1]

    @property
    def is_as(self) -> str:
        """How a test is called."""
        return f"{self.page.relative_to(ROOT)}: {self.command}"


def pages() -> list[Path]:
    """Pages that show commands with their output."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
    return [page for page in found if _BLOCK.search(page.read_text(encoding="utf-8"))]


def shown_on(page: Path) -> Iterator[Shown]:
    """Every command of a page, in order."""
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        yield from _commands(page, block)


def _commands(page: Path, block: str) -> Iterator[Shown]:
    lines = re.split(r"(?<!\\)\n", block.removesuffix("\n"))
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in pairwise([*starts, len(lines)]):
        yield Shown(page, lines[start], tuple(lines[start + 1 : end]))


def runs_harness(command: str) -> bool:
    """Whether a command runs lm-eval or Inspect.

    >>> [runs_harness(line) for line in ("HARNESS_UQ=t lm-eval run", "harness-uq inspect eval t.py", "harness-uq demo")]
    [True, True, False]
    """
    words = [word for word in shlex.split(command) if "=" not in word]
    return words[0] in _HARNESSES or (words[0] == "harness-uq" and words[1] in _HARNESSES)


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Shell:
    """Runs the commands of one page, one after the other, in a folder where the examples have been run.

    They print for a terminal of 100 characters; for the answers in other projects' threads all that a file would get.
    """

    def __init__(self, page: Path, folder: Path) -> None:
        self.folder, self.code = folder, 0
        self.is_terminal = page.parent.name != "upstream"
        for name, text in _FILE.findall(page.read_text(encoding="utf-8")):
            (folder / name).write_text(text, encoding="utf-8")

    def run(self, command: str) -> list[str]:
        """Lines that the command prints on standard output; what it says on standard error where it prints none."""
        if command == "echo $?":
            return [str(self.code)]
        name, *arguments = shlex.split(command)
        if name == "python":
            done = subprocess.run(
                [sys.executable, *arguments], cwd=self.folder, check=True, capture_output=True, text=True, timeout=300
            )
            return _lines(done.stdout)
        if runs_harness(command):
            return self._literally(command)
        assert name == "harness-uq", f"a page may show harness-uq and python examples/…, not {command}"
        return self._harness_uq(arguments)

    def _literally(self, command: str) -> list[str]:
        """What a user's shell prints for this line, in the folder of the page."""
        environment = {**ENVIRONMENT, "HF_HOME": str(self.folder / "hf"), "COLUMNS": "100"}
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600
        )
        self.code = done.returncode
        return _lines(done.stdout or done.stderr)

    def _harness_uq(self, arguments: list[str]) -> list[str]:
        from harness_uq.commands.main import main

        if arguments == ["demo"]:  # writes the logs that ship with the package in place of those of a new run
            for link in filter(Path.is_symlink, (self.folder / "demo-output").iterdir()):
                link.unlink()
        printed, said = _Terminal() if self.is_terminal else StringIO(), StringIO()
        with chdir(self.folder), redirect_stdout(printed), redirect_stderr(said):
            matches = (sorted(glob.glob(argument)) or [argument] for argument in arguments)  # noqa: PTH207
            self.code = main([match for found in matches for match in found])
        return _lines(printed.getvalue() or said.getvalue())


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in _STYLE.sub("", text).strip("\n").splitlines()]


def is_true(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether what is shown is what was printed, but for lines whose absence is marked.

    >>> [is_true(tuple(shown), ["a", "b", "c"]) for shown in ("abc", "a…c", "a…", "ac", "a")]
    [True, True, True, False, False]
    """
    pattern = "".join(r"(?:.*\n)*" if line == CUT else re.escape(f"{line}\n") for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def anew(shown: tuple[str, ...], printed: list[str]) -> tuple[str, ...]:
    """What a page should show: everything, or of a cut output the lines most like those that it showed.

    >>> anew(("a 1", "…", "c 3"), ["a 1", "b 2", "c 4"])
    ('a 1', '…', 'c 4')
    """
    if CUT not in shown or is_true(shown, printed):
        return shown if is_true(shown, printed) else tuple(printed)
    kept: set[int] = set()
    for line in shown:
        like = [line] if line in printed else difflib.get_close_matches(line, printed, 1, 0.5)
        if line != CUT and like:
            kept.add(min((i for i, text in enumerate(printed) if text == like[0] and i not in kept), default=0))
    found: list[str] = []
    for i, line in enumerate(printed):
        if i in kept:
            found.append(line)
        elif not found or found[-1] != CUT:
            found.append(CUT)
    return tuple(found)


def write(page: Path, folder: Path) -> bool:
    """Write a page's outputs anew; whether that changed it."""
    shell, text = Shell(page, folder), page.read_text(encoding="utf-8")

    def block(found: re.Match[str]) -> str:
        lines = [
            line for one in _commands(page, found[1]) for line in (one.line, *anew(one.output, shell.run(one.command)))
        ]
        return found[0].replace(found[1], "".join(f"{line}\n" for line in lines))

    written = _BLOCK.sub(block, text)
    page.write_text(written, encoding="utf-8")
    return written != text


def prepare(folder: Path, runs: Iterable[Path]) -> Path:
    """A folder as the pages take it: the examples, and the demo with the logs of new runs."""
    harness_uq.demo(folder / "demo-output")
    (folder / "examples").symlink_to(ROOT / "examples")
    for run in runs:
        (logs,) = (run / name for name in ("lm-eval", "inspect") if (run / name).exists())
        shutil.rmtree(folder / "demo-output" / logs.name)
        (folder / "demo-output" / logs.name).symlink_to(logs)
    shutil.copytree(ROOT / "examples" / "tables", folder / "demo-tables")
    counts = str(ROOT / "docs" / "upstream" / "leaderboard_math.py")
    subprocess.run([sys.executable, counts, "leaderboard"], cwd=folder, check=True)
    return folder


def main() -> int:
    """Run the examples and every command that a page shows, and write what they print."""
    os.environ |= {
        "COLUMNS": "100",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "examples"), *sys.path]),
    }
    with tempfile.TemporaryDirectory() as temporary:
        runs = [Path(temporary, script) for script in ("run_lm_eval", "run_inspect")]
        for run in runs:
            command = [sys.executable, str(ROOT / "examples" / f"{run.name}.py"), "--output", str(run)]
            subprocess.run(command, cwd=temporary, check=True, capture_output=True)
        for page in pages():
            folder = prepare(Path(tempfile.mkdtemp(dir=temporary), "here"), runs)
            print(f"{'written' if write(page, folder) else 'as it was'}: {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
