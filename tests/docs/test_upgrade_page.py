"""The page on upgrading names the file that the hook of lm-eval is, and its commands write and delete it."""

import re
import shlex
import sysconfig
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "howto" / "upgrade.md").read_text()


def test_the_commands_on_the_hook_write_and_delete_the_file_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda *_, **__: str(tmp_path))
    install, remove = (
        shlex.split(line) for line in re.findall(r"^harness-uq (lm-eval .*-hook)$", TEXT, re.MULTILINE)[:2]
    )
    assert main(install) == 0
    (hook,) = tmp_path.iterdir()
    assert f"`{hook.name}`" in TEXT
    assert str(hook) in capsys.readouterr().out
    assert len(hook.read_text().splitlines()) == 1
    assert main(remove) == 0
    assert list(tmp_path.iterdir()) == []
