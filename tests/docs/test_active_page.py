"""The page about active evaluation runs, and prints what it shows; its first example is short."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs/howto/active.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_page_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = StringIO()
    with redirect_stdout(printed):
        exec("\n".join(EXAMPLES), {})
    assert printed.getvalue() == "".join(re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_the_first_example_has_less_than_ten_lines() -> None:
    assert len([line for line in EXAMPLES[0].splitlines() if line.strip()]) < 10
