"""The one list of checks. `nox` runs the default ones; `nox --no-venv` uses the current environment."""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.sessions = ["lint", "types", "imports", "wheel", "tests"]
nox.options.default_venv_backend = "venv"

CONSTRAINTS = ["--constraint", "constraints.txt"]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# byte code is kept, also where the user keeps none: else every worker and every command under test compiles all anew
TESTS = {"PYTHONDONTWRITEBYTECODE": "", **ONE_THREAD}
# what the environment must hold is there: no test may skip for want of a package
EVERYTHING = {"HARNESS_UQ_REQUIRE_ALL": "1", **TESTS}
FAST = ("-n", "2", "--dist", "loadfile", "-m", "not slow and not harness", "--hypothesis-profile", "fast")
CORE = (
    *("harness_uq", "tests", "--ignore=tests/adapters", "--ignore=tests/fuzz", "--ignore=tests/test_examples.py"),
    "--ignore=tests/test_recipe.py",  # reads YAML, which only the harnesses need
    "--ignore=tests/docs",  # the pages show what the current versions print
    *("--doctest-ignore-import-errors", "--ignore=harness_uq/analyses/scan/dask_backend.py"),  # modules of the extras
)
PROSE = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "examples",
    *(
        str(page)
        for folder in ("", "get-started", "howto", "concepts", "reference")
        for page in sorted(Path("docs", folder).glob("*.md"))
        if page.name != "calibration.md"
    ),  # its tables make long sentences
)
LONG_PROSE = ("docs", "harness_uq", "adapters")  # sentences may be long: methods, decisions, docstrings
# every command and every picture of every page: minutes, which the session `docs` takes
SHOWN = ("tests/docs/test_printed.py", "tests/docs/test_pictures.py")
CORE_TESTS = ("pytest", "pytest-xdist", "hypothesis", "statsmodels", "hatchling")


def _install(session: nox.Session, *what: str) -> None:
    if session.virtualenv.venv_backend != "none":
        session.install(*CONSTRAINTS, *what)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: rules and format; spelling; phrases that are hard to read."""
    _install(session, "--editable", ".", "ruff", "codespell")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("python", "tools/check_prose.py", *PROSE)
    session.run("python", "tools/check_prose.py", "--any-length", "--help-texts", "--max", "15", *LONG_PROSE)


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
    """Every test, with every optional package present, except what the session `docs` tests."""
    _install(session, "--editable", ".[dev]")
    others = [f"--ignore={file}" for file in SHOWN]
    # in the order of tests/conftest.py: files that take long first
    workers = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    session.run("pytest", *workers, *others, *session.posargs, env=EVERYTHING)


@nox.session
def fast(session: nox.Session) -> None:
    """Tests of two seconds or less, for work at the desk."""
    _install(session, "--editable", ".[dev]")
    session.run("pytest", *FAST, *session.posargs, env=TESTS)


@nox.session(venv_backend="none")
def python_3_13(session: nox.Session) -> None:
    """The fast tests of the core with Python 3.13."""
    wanted = (*CONSTRAINTS, *CORE_TESTS, "joblib", "matplotlib")
    base = _interpreter(session, "3.13")
    try:
        python = _environment(session, "python-3.13", *wanted, base=base)
    except CommandFailed:
        session.skip(f"no environment with Python 3.13 can be made here: {base} or a wheel fails as said above")
    _core(session, python)


@nox.session(venv_backend="none")
def minimal(session: nox.Session) -> None:
    """The fast tests of the core with the lowest versions declared, and nothing that is optional."""
    lowest = [dependency.replace(">=", "==") for dependency in _pyproject()["project"]["dependencies"]]
    _core(session, _environment(session, "minimal", *lowest, *CORE_TESTS, base=_interpreter(session, "3.11")))


def _interpreter(session: nox.Session, version: str) -> str:
    """A Python of this version: of pyenv, whose shims are on the path even where they do not run, or on the path."""
    known = [*sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")), shutil.which(f"python{version}")]
    found = [os.fspath(python) for python in known if python]
    if not found:
        session.skip(f"Python {version} is not installed")
    return found[0]


def _core(session: nox.Session, python: str) -> None:
    session.run(
        python, "-m", "pytest", "-p", "no:cacheprovider", *FAST, *CORE, *session.posargs, env=TESTS, external=True
    )


@nox.session
def calibration(session: nox.Session) -> None:
    """Simulated coverage of every interval, smoke size; fails where one is not what it says."""
    _install(session, "--editable", ".[plot]")
    session.run("python", "-m", "benchmarks.calibration", env=ONE_THREAD)


@nox.session
def golden(session: nox.Session) -> None:
    """Results of all commands, compared with those stored in tests/golden: several minutes."""
    _install(session, "--editable", ".[dev]")
    session.run("python", "tools/golden.py", "check", *session.posargs, env=ONE_THREAD)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, warnings as errors; its links, its search and its widths in a browser; what its pages print."""
    _install(session, "--editable", ".[dev]")
    site = Path("docs", "_build", "html")
    session.run("sphinx-build", "--fail-on-warning", "--keep-going", "--quiet", "docs", str(site), env=ONE_THREAD)
    pages = session.posargs or ["tests/docs", "tests/test_public_names.py", "docs"]
    env = EVERYTHING | {"HARNESS_UQ_SITE": str(site.resolve())}
    # one worker for each file: the commands of a page use the files of those before
    session.run("pytest", "-n", "2", "--dist", "loadfile", *pages, env=env)


@nox.session
def fuzz(session: nox.Session) -> None:
    """20,000 mutants of logs of both harnesses and 2,000 of names; `nox -s fuzz -- 1000` for another number."""
    _install(session, "--editable", ".[dev]")
    number = next(iter(session.posargs), "20000")
    session.run("pytest", "-s", "-p", "no:cacheprovider", "tests/fuzz", env=EVERYTHING | {"HARNESS_UQ_FUZZ": number})


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the source archive and from it the wheel, check what is in it, and use it alone in a fresh environment."""
    _install(session, "build", "check-wheel-contents", "hatchling", "mypy")
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "-m", "build", "--outdir", folder, silent=True)
        (built,) = Path(folder).glob("*.whl")
        session.run("check-wheel-contents", str(built))
        python = Path(folder) / "venv" / "bin" / "python"
        session.run("python", "-m", "venv", str(python.parent.parent))
        pip = [str(python), "-m", "pip", "install", "--quiet", *CONSTRAINTS]
        session.run(*pip, str(built), external=True)
        session.run(str(python), "tests/wheel_check.py", external=True)
        consumer = ["--strict", "--config-file=", "--cache-dir", os.devnull]
        program = shutil.copy("tests/typed_consumer.py", folder)  # away from the sources, which mypy would read instead
        with session.chdir(folder):
            session.run("mypy", *consumer, "--python-executable", str(python), program)


@nox.session
def release(session: nox.Session) -> None:
    """Build dist/ twice, the second time from its own source archive: no byte differs; check what PyPI will show."""
    _install(session, "build", "hatchling", "twine")
    last_commit = session.run("git", "log", "-1", "--format=%ct", silent=True, external=True)
    env = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", last_commit.strip())}
    shutil.rmtree("dist", ignore_errors=True)
    build = ["python", "-m", "build", "--no-isolation", "--outdir"]
    session.run(*build, "dist", env=env, silent=True)
    with tempfile.TemporaryDirectory() as folder:
        (source,) = Path("dist").glob("*.tar.gz")
        shutil.unpack_archive(source, folder, filter="data")
        again = Path(folder) / "dist"
        session.run(*build, str(again), str(Path(folder) / source.name.removesuffix(".tar.gz")), env=env, silent=True)
        first, second = ({path.name: path.read_bytes() for path in built.iterdir()} for built in (Path("dist"), again))
    if first != second:
        session.error(f"built again, these differ: {sorted(name for name in first if first[name] != second.get(name))}")
    session.run("twine", "check", "--strict", *(str(Path("dist", name)) for name in first))


LIVE_TESTS = {
    "lm-eval": (
        "live/test_runtime.py",
        "live/test_cli.py",
        "live/test_faults.py",
        "live/test_releases.py",
        "live/test_lm_eval_internals.py",
        "read/test_replay.py",
    ),
    "inspect-ai": ("live/test_live_runs.py", "live/test_metrics.py", "live/test_early_stopping.py"),
}
INSPECT_VERSIONS = ("0.3.260", "0.3.265", "0.3.270", "0.3.275", "0.3.280", "0.3.285")
MATRIX_VERSIONS = {"lm-eval": ("0.4.11", "0.4.12", "0.4.13"), "inspect-ai": ("0.3.260", INSPECT_VERSIONS[-1])}
FOLDERS = {"lm-eval": "lm_eval", "inspect-ai": "inspect"}
_TEST_TOOLS = ("pytest>=8.2", "pytest-xdist>=3.6", "hypothesis", "hatchling", "pandas", "pyarrow")
# with what models behind an API and object stores need
LIVE_TOOLS = {"lm-eval": (*_TEST_TOOLS, "tenacity"), "inspect-ai": (*_TEST_TOOLS, "openai", "moto[server]")}
UNDECLARED = {"lm-eval==0.5.0.dev1": ("requests",)}  # imported, and no longer brought by what it declares


def _live_tests(session: nox.Session, harness: str, version: str, names: tuple[str, ...] = ()) -> None:
    """Live runs with another version, in an environment of its own outside the constraints."""
    python = _harness_environment(session, harness, version)
    _run_live_tests(session, python, harness, names or LIVE_TESTS[harness])


def _harness_environment(session: nox.Session, harness: str, version: str) -> str:
    release = f"{harness}=={version}"
    return _environment(session, f"{harness}-{version}", release, *UNDECLARED.get(release, ()), *LIVE_TOOLS[harness])


def _run_live_tests(session: nox.Session, python: str, harness: str, names: tuple[str, ...]) -> None:
    tests = [f"tests/adapters/{FOLDERS[harness]}/{name}" for name in names]
    options = ["-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", *session.posargs]
    env = EVERYTHING | {"PYTHONPATH": str(Path("tests/adapters", FOLDERS[harness], "live").resolve())}
    session.run(python, "-m", "pytest", *tests, *options, env=env, external=True)


def _environment(session: nox.Session, name: str, *wanted: str, base: str = sys.executable) -> str:
    """Path of the Python of an environment, kept for the next time; made anew where unfinished or of other parts."""
    folder = Path(".nox") / name
    python, stamp = str(folder / "bin" / "python"), folder / "installed"
    content = _fingerprint([base, *wanted])
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != content:
        session.run(base, "-m", "venv", "--clear", str(folder), external=True)
        # tests keep the byte code of what they import, a part of what is installed
        pip = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
        session.run(*pip, *wanted, "--editable", ".", external=True)
        # last: an installation that failed leaves no stamp
        stamp.write_text(content, encoding="utf-8")
    return python


def _fingerprint(wanted: list[str]) -> str:
    """Hash of what decides the content of an environment: requirements, the project's metadata, Python."""
    project = _pyproject()
    parts = [wanted, project["build-system"], project["project"], sys.version]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _pyproject() -> dict:
    return tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))


@nox.session(venv_backend="none")
def lm_eval_0_4_11(session: nox.Session) -> None:
    """Live runs with the oldest lm-eval that has them."""
    _live_tests(session, "lm-eval", "0.4.11")


@nox.session(venv_backend="none")
def lm_eval_0_4_12(session: nox.Session) -> None:
    """Live runs with lm-eval 0.4.12."""
    _live_tests(session, "lm-eval", "0.4.12")


@nox.session(venv_backend="none")
def lm_eval_0_5(session: nox.Session) -> None:
    """Live runs with the first version of the next lm-eval, whose tasks are written differently."""
    live = ("test_releases.py", "test_lm_eval_internals.py", "test_bootstrap.py", "test_preflight.py")
    names = ("test_auto_enable.py", "test_yaml_aggregations.py", *(f"live/{name}" for name in live))
    _live_tests(session, "lm-eval", "0.5.0.dev1", names)


@nox.session(venv_backend="none")
def inspect_0_3_260(session: nox.Session) -> None:
    """Live runs with the oldest inspect-ai that has them."""
    _live_tests(session, "inspect-ai", "0.3.260")


@nox.session(venv_backend="none")
@nox.parametrize("version", INSPECT_VERSIONS)
def inspect_versions(session: nox.Session, version: str) -> None:
    """Live runs with every fifth inspect-ai from the oldest to the newest; for the night."""
    _live_tests(session, "inspect-ai", version)


@nox.session(venv_backend="none")
def live(session: nox.Session) -> None:
    """Runs in many situations, plain and with --uq, with the oldest and newest versions; writes their table."""
    with tempfile.TemporaryDirectory() as folder:
        for harness, versions in MATRIX_VERSIONS.items():
            for version in versions:
                found = os.fspath(Path(folder, f"{harness}-{version}.json"))
                python = _harness_environment(session, harness, version)
                session.run(python, "tools/live_matrix.py", "run", harness, found, external=True)
        found = sorted(map(str, Path(folder).iterdir()))
        session.run(sys.executable, "tools/live_matrix.py", "table", *found, external=True)


@nox.session
def newest(session: nox.Session) -> None:
    """Live runs with the newest versions that are released, for a schedule: prints what differs and fails then."""
    failed = []
    for harness in LIVE_TESTS:
        session.install("--upgrade", "--editable", ".", harness, *LIVE_TOOLS[harness])
        python = Path(session.bin, "python")
        try:
            _run_live_tests(session, os.fspath(python), harness, LIVE_TESTS[harness])
        except CommandFailed:
            failed.append(f"tests of {harness}")
        try:
            session.run("python", "tools/live_matrix.py", "check", harness)
        except CommandFailed:
            failed.append(f"situations of {harness}")
    if failed:
        session.error(f"these differ with the newest versions: {', '.join(failed)}")


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmarks against the peers; writes benchmarks/results."""
    _install(session, "--editable", ".[dev]", "--requirement", "benchmarks/requirements.txt")
    for script in sorted(Path("benchmarks").glob("bench_*.py")):
        session.run("python", os.fspath(script))
