"""A picture of the HTML report of the examples' logs: `python docs/draw_report.py docs/images/report.png`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pictures import ROOT, hash_of, stamp
from playwright.sync_api import sync_playwright

COMMAND = ["report", "demo-output/lm-eval", "--output", "report.html"]
SIZE = {"width": 1000, "height": 1000}
_DAY = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d UTC)?")


def source(page: str) -> str:
    """Hash of what the picture shows of a page, whenever it was made: style, first screen and figure of the scores."""
    style, _, rest = page.partition("@media print")
    body = rest.partition("<body>")[2].partition('id="scores-table"')[0]
    return hash_of(_DAY.sub("DAY", style.partition("<style>")[2]), _DAY.sub("DAY", body))


def page_of(folder: Path) -> Path:
    """The report of a run of the examples in a folder."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    run = [str(ROOT / "examples" / "run_lm_eval.py"), "--output", "demo-output"]
    for arguments in (run, ["-m", "harness_uq", *COMMAND]):
        environment = {**os.environ, "PYTHONPATH": path}
        subprocess.run([sys.executable, *arguments], check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return folder / "report.html"


def main(picture: Path) -> None:
    """Write the picture, of the first screen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = page_of(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE)
        tab.goto(page.as_uri())
        tab.screenshot(path=picture)
        browser.close()
        stamp(picture, source(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
