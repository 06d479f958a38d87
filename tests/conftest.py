"""What several test modules need: logs of others, logs that the real harnesses wrote, a browser."""

import fcntl
import gc
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
STANDINS = ROOT / "tests" / "data" / "logs.zip"
# a proxy that nobody answers: whoever reaches for the network fails
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")

# a property's first example may import half of scipy, and CI machines are slow: time is no property here
settings.register_profile("harness_uq", deadline=None, derandomize=True)
settings.register_profile("fast", settings.get_profile("harness_uq"), max_examples=20)
settings.load_profile("harness_uq")

# run_lm_eval.py of the examples, without lm-eval's own 13,000 tasks, which take several seconds per run to find
RUN_LM_EVAL = """
import functools, pathlib, sys
import run_lm_eval

output = pathlib.Path(sys.argv[1])
run_lm_eval.set_environment(output / "hf-cache")
from lm_eval import tasks

tasks.TaskManager = functools.partial(tasks.TaskManager, include_defaults=False)
run_lm_eval.run(output)
"""

RunPython = Callable[..., str]
_absences: set[str] = set()


@pytest.fixture(scope="session", autouse=True)
def long_lines() -> Iterator[None]:
    """Sentences of the output are one line in tests, which ask for a width where it matters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "10000")
        yield


@pytest.fixture(scope="session", params=["stand-ins", pytest.param("originals", marks=pytest.mark.slow)])
def shared(request: pytest.FixtureRequest, standins: Path) -> Path:
    """A folder whose `data` holds the logs of others: stand-ins, and where they are present they themselves."""
    return originals() if request.param == "originals" else standins


@pytest.fixture(scope="session")
def standins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of stand-ins alone, for tests to which the texts of the logs do not matter."""
    folder = tmp_path_factory.mktemp("stand-ins")
    with zipfile.ZipFile(STANDINS) as archive:
        archive.extractall(folder / "data")
    return folder


def originals() -> Path:
    """The folder beside the repository whose `data` holds the logs themselves."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        _outside(f"the logs that stand-ins stand for are not at {folder / 'data'}")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The program of a Chromium: Debian's, or the one that Playwright installed."""
    if find_spec("playwright") is None:
        _absent("playwright is not installed")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None) or _playwrights_own()
    if not Path(program).exists():
        _outside("no Chromium for the tests of pages: apt-get install chromium, or playwright install chromium")
    return Path(program)


@pytest.fixture(scope="session")
def latex() -> Callable[[str, Path], str]:
    """`latex(document, folder)` sets a document with pdfLaTeX and returns its log."""
    if shutil.which("pdflatex") is None:
        _outside("no pdflatex for the tests of tables: apt-get install texlive-latex-recommended")

    def run(document: str, folder: Path) -> str:
        (folder / "document.tex").write_text(document, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        return (folder / "document.log").read_text(encoding="latin-1").replace("\n", " ")

    return run


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """`run_python(*arguments, cwd=folder)` runs Python with the examples on its path and returns what it printed."""
    return _run_python


@pytest.fixture(scope="session")
def lm_eval_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `lm-eval/<system>/` logs of both example systems, written once by lm-evaluation-harness."""
    return _example_runs("lm_eval", ["-c", RUN_LM_EVAL], tmp_path_factory)


@pytest.fixture(scope="session")
def inspect_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `inspect/<system>/` logs of both example systems, written once by Inspect AI."""
    return _example_runs("inspect_ai", [EXAMPLES / "run_inspect.py", "--output"], tmp_path_factory)


@dataclass(frozen=True)
class S3:
    """A bucket of moto's server on the loopback; this process, and those that it starts, reach it as `s3://`."""

    url: str
    log: Path

    def asked(self) -> list[tuple[str, str, int, int]]:
        """Method, path, status and bytes answered of each request since `forget`."""
        rows = (line.split() for line in self.log.read_text(encoding="utf-8").splitlines())
        return [(method, path, int(status), int(n)) for method, path, status, n in rows]

    def forget(self) -> None:
        self.log.write_text("")


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file in which the server writes down what it is asked; the environment names the server."""
    for package in ("moto", "flask", "s3fs"):
        if find_spec(package) is None:
            _absent(f"{package} is not installed")
    from s3fs import S3FileSystem

    log = tmp_path_factory.mktemp("s3") / "requests"
    log.touch()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "tests" / "s3_server.py"), str(port), str(log)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        _wait_for(port, server)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("NO_PROXY", "127.0.0.1")
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                patch.setenv(name, "testing")
            # file systems that earlier tests made do not know these keys
            S3FileSystem.clear_instance_cache()
            yield log
        server.kill()


@pytest.fixture
def s3(s3_server: Path) -> S3:
    """A bucket of this test alone."""
    from fsspec.core import url_to_fs

    bucket = f"bucket-{uuid4().hex}"
    files, _ = url_to_fs(f"s3://{bucket}", use_listings_cache=False)
    files.mkdir(bucket)
    s3_server.write_text("")
    return S3(f"s3://{bucket}", s3_server)


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 120
    while server.poll() is None and time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    pytest.fail("the S3 server of the tests did not start")


def _example_runs(package: str, command: list[str | Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of the example systems, written by the first worker that needs them and read by all."""
    if find_spec(package) is None:
        _absent(f"{package} is not installed")
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / f"{package}_runs"
    output = folder.with_suffix(".txt")
    with (base / f"{package}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not output.exists():
            folder.mkdir(exist_ok=True)
            output.write_text(_run_python(*command, folder, cwd=folder), encoding="utf-8")
    return folder


def _run_python(*arguments: str | Path, cwd: Path) -> str:
    environment = {**os.environ, **NO_NETWORK, "PYTHONPATH": str(EXAMPLES)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _absent(package: str) -> None:
    """What `make test` installs."""
    _skip_unless("HARNESS_UQ_REQUIRE_ALL", package)


def _outside(what: str) -> None:
    """What a clone does not have and `make test` does not install; `.ci/run` demands it."""
    _skip_unless("HARNESS_UQ_REQUIRE_OUTSIDE", what)


def _skip_unless(demand: str, what: str) -> None:
    if os.environ.get(demand):
        pytest.fail(f"{what}, and {demand} is set")
    _absences.add(f"Skipped: {what}")
    pytest.skip(what)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: each full garbage collection would walk it for half a second."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before those are left out whose mark is not asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for runs of a real harness runs one, also where its author did not say so.

    Files that take long come first: then two workers, each of which takes one file after another, end together.
    """
    n_long: Counter[Path] = Counter()
    for item in items:
        if {"lm_eval_runs", "inspect_runs"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.harness)
        n_long[item.path] += any(item.iter_markers("harness")) or any(item.iter_markers("slow"))
    items.sort(key=lambda item: n_long[item.path] == 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What is absent is one line of the summary, not one for every test that wants it: pytest folds skips by place."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2] in _absences:
        report.longrepr = (__file__, 0, report.longrepr[2])
    return report
