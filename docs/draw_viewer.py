"""A picture of Inspect's viewer with a log of the examples: `python docs/draw_viewer.py docs/images/inspect-view.png`.

Runs the example `conversions` of Inspect with `--uq bayes`, serves its log with `inspect view` and opens that in
Chromium.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pictures import hash_of, stamp
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
TASK = "conversions"
SIZE = {"width": 1100, "height": 420}


def run(folder: Path) -> Path:
    """The log of a run with intervals."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "adapters"), str(ROOT / "examples")])
    task = f"{ROOT / 'examples' / 'inspect_tasks.py'}@{TASK}"
    options = ["-T", "system=scripted-large", "--log-dir", str(folder), "--display", "none", "--uq", "bayes"]
    program = (
        "import sys; from harness_uq.commands.main import main; sys.exit(main(['inspect', 'eval', *sys.argv[1:]]))"
    )
    subprocess.run(
        [sys.executable, "-c", program, task, *options], check=True, env={**os.environ, "PYTHONPATH": path}, cwd=folder
    )
    (log,) = folder.glob("*.eval")
    return log


def source(log: Path) -> str:
    """Hash of what the picture shows of a log: the task and its scores."""
    from inspect_ai.log import read_eval_log

    header = read_eval_log(str(log), header_only=True)
    scores = header.results.scores if header.results else []
    values = [f"{score.name} {name} {metric.value:.3f}" for score in scores for name, metric in score.metrics.items()]
    return hash_of(header.eval.task, header.eval.model, *values)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of Inspect's viewer of the logs in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--port", str(port), "--log-dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        address = f"http://127.0.0.1:{port}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(300):
            try:
                opener.open(f"{address}/", timeout=2).close()
                break
            except OSError:
                time.sleep(0.2)
        yield address
        server.terminate()


def main(picture: Path) -> None:
    """Write the picture, of the part of the page that shows scores and the first questions."""
    with tempfile.TemporaryDirectory() as folder:
        log = run(Path(folder))
        with served(Path(folder)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            tab = browser.new_page(viewport=SIZE)
            tab.goto(f"{address}/#/logs/{log.name}")
            tab.get_by_text("lower").first.wait_for(timeout=60_000)
            tab.wait_for_timeout(1000)  # the list of questions comes after the title
            tab.screenshot(path=picture, clip={"x": 0, "y": 28, **SIZE, "height": SIZE["height"] - 28})
            browser.close()
        stamp(picture, source(log))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
