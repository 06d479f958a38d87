"""The how-to page about result objects runs, and prints what it shows."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs/howto/read-objects-and-frames.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Inspect AI, by pandas 3.1
def test_the_page_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("inspect_ai")
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            exec("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)), {})
    finally:
        matplotlib.use(before)
    assert printed.getvalue() == "".join(re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
