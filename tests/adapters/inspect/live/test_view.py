"""The page of `inspect view` in Chromium: the intervals are in the title of the log."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from harness_uq_inspect.read.samples import read_log
from tests.adapters.inspect.environment import environment, run_with_uq

pytestmark = pytest.mark.harness

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def pages(inspect_log, chromium, tmp_path_factory):
    """Text of the page of each log by task, and the folder with the logs and the screenshots."""
    folder = tmp_path_factory.mktemp("view")
    fixed = ("--model", "mockllm/model", "--display", "none", "--log-dir", "logs")
    tasks = [f"{HERE}/live_tasks.py@{name}" for name in ("clustered", "everything")]
    run_with_uq(sys.executable, "-m", "inspect_ai", "eval", *tasks, *fixed, cwd=folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--port", str(port), "--log-dir", "logs"]
    server = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
    try:
        _wait_for(f"http://127.0.0.1:{port}/")
        return _open(chromium, folder, f"http://127.0.0.1:{port}"), folder
    finally:
        server.terminate()
        server.wait(120)


def _open(chromium, folder, address):
    from playwright.sync_api import sync_playwright

    texts = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for log in (folder / "logs").glob("*.eval"):
            name = read_log(str(log)).header.eval.task
            # a page of its own, which cannot show the text of the log before while this one is loaded
            tab = browser.new_page(viewport={"width": 1400, "height": 800})
            tab.goto(f"{address}/#/logs/{log.name}", timeout=180_000)
            tab.get_by_text("lower").first.wait_for(timeout=180_000)
            tab.screenshot(path=folder / f"{name}.png")
            texts[name] = re.sub(r"\s+", " ", tab.inner_text("body")).lower()
        browser.close()
    if keep := os.environ.get("HARNESS_UQ_SCREENSHOTS"):
        for picture in folder.glob("*.png"):
            shutil.copy(picture, keep)
    return texts


def _wait_for(address):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        try:
            return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=60).close()
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(address)


def metrics_of(folder, task):
    (path,) = (folder / "logs").glob(f"*_{task}_*.eval")
    return read_log(str(path)).header.results.scores[0].metrics


def test_the_title_shows_score_and_interval_without_a_click(pages):
    texts, folder = pages
    metrics = metrics_of(folder, "clustered")
    assert list(metrics) == ["accuracy", "stderr", "uq_lower", "uq_upper"]
    for name, metric in metrics.items():
        assert f"{name} {metric.value:.3f}".rstrip("0") in texts["clustered"]


def test_intervals_of_several_scores_are_under_one_header(pages):
    texts, folder = pages
    metrics = metrics_of(folder, "everything")
    row = " ".join(f"{metric.value:.3f}" for metric in metrics.values())
    assert "uq bayes 95% scorer accuracy stderr lower upper" in texts["everything"]
    assert f"right (mean) {row}" in texts["everything"]
