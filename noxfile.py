"""The one list of checks. `nox` runs the default ones; `nox --no-venv` uses the current environment."""

import hashlib
import json
import os
import sys
import tempfile
import tomllib
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "imports", "tests", "wheel"]
nox.options.default_venv_backend = "venv"

CONSTRAINTS = ["--constraint", "constraints.txt"]
EVERYTHING = {"HARNESS_UQ_REQUIRE_ALL": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _install(session: nox.Session, *what: str) -> None:
    if session.virtualenv.venv_backend != "none":
        session.install(*CONSTRAINTS, *what)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: rules and format."""
    _install(session, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Mypy, strict."""
    _install(session, "--editable", ".[dev]")
    session.run("mypy")


@nox.session
def imports(session: nox.Session) -> None:
    """The layers of the design."""
    _install(session, "--editable", ".[dev]")
    session.run("lint-imports")


@nox.session
def tests(session: nox.Session) -> None:
    """Every test, with every optional package present."""
    _install(session, "--editable", ".[dev]")
    session.run("pytest", "-n", "2", "--dist", "loadfile", *session.posargs, env=EVERYTHING)


@nox.session
def fast(session: nox.Session) -> None:
    """Tests of two seconds or less, for work at the desk."""
    _install(session, "--editable", ".[dev]")
    session.run("pytest", "-m", "not slow and not harness", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the source archive and from it the wheel, check what is in it, and use it alone in a fresh environment."""
    _install(session, "build", "check-wheel-contents", "hatchling")
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "-m", "build", "--outdir", folder, silent=True)
        (built,) = Path(folder).glob("*.whl")
        session.run("check-wheel-contents", str(built))
        python = Path(folder) / "venv" / "bin" / "python"
        session.run("python", "-m", "venv", str(python.parent.parent))
        pip = [str(python), "-m", "pip", "install", "--quiet", *CONSTRAINTS]
        session.run(*pip, str(built), external=True)
        session.run(str(python), "tests/wheel_check.py", external=True)


LIVE_TESTS = {
    "lm-eval": ("test_runtime.py", "test_cli.py", "test_replay.py", "test_faults.py"),
    "inspect-ai": ("test_live.py", "test_metrics.py", "test_early_stopping.py"),
}
FOLDERS = {"lm-eval": "lm_eval", "inspect-ai": "inspect"}


def _live_tests(session: nox.Session, harness: str, version: str) -> None:
    """Live runs with another version, in an environment of its own outside the constraints, kept for the next time."""
    python = _kept_environment(session, harness, version)
    tests = [f"tests/adapters/{FOLDERS[harness]}/{name}" for name in LIVE_TESTS[harness]]
    options = ["-p", "no:cacheprovider", *session.posargs]
    env = EVERYTHING | {"PYTHONPATH": str(Path("tests/adapters", FOLDERS[harness]).resolve())}
    session.run(python, "-m", "pytest", *tests, *options, env=env, external=True)


def _kept_environment(session: nox.Session, harness: str, version: str) -> str:
    """Path of the environment's Python; made anew where the last one is unfinished or is of other dependencies."""
    folder = Path(".nox") / f"{harness}-{version}"
    python, stamp = str(folder / "bin" / "python"), folder / "installed"
    wanted = [f"{harness}=={version}", "pytest>=8.2", "hypothesis", "hatchling", "pandas", "pyarrow"]
    content = _fingerprint(wanted)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != content:
        session.run(sys.executable, "-m", "venv", "--clear", str(folder), external=True)
        session.run(python, "-m", "pip", "install", "--quiet", *wanted, "--editable", ".", external=True)
        # last: an installation that failed leaves no stamp
        stamp.write_text(content, encoding="utf-8")
    return python


def _fingerprint(wanted: list[str]) -> str:
    """Hash of what decides the content of an environment: requirements, the project's metadata, Python."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    parts = [wanted, project["build-system"], project["project"], sys.version]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@nox.session(venv_backend="none")
def lm_eval_0_4_11(session: nox.Session) -> None:
    """Live runs with the oldest lm-eval that has them."""
    _live_tests(session, "lm-eval", "0.4.11")


@nox.session(venv_backend="none")
def lm_eval_0_4_12(session: nox.Session) -> None:
    """Live runs with lm-eval 0.4.12."""
    _live_tests(session, "lm-eval", "0.4.12")


@nox.session(venv_backend="none")
def inspect_0_3_260(session: nox.Session) -> None:
    """Live runs with the oldest inspect-ai that has them."""
    _live_tests(session, "inspect-ai", "0.3.260")


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmarks against the peers; writes benchmarks/results."""
    _install(session, "--editable", ".[dev]", "--requirement", "benchmarks/requirements.txt")
    for script in sorted(Path("benchmarks").glob("bench_*.py")):
        session.run("python", os.fspath(script))
