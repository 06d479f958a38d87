"""A shell completes our arguments by a script that we print."""

import shutil
import subprocess
import sys

import pytest

from tests.commands.test_main import output


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_the_script_knows_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    code, out, _ = output(capsys, "completion", shell)
    assert code == 0
    assert all(word in out for word in ("estimate", "compare", "--scope", "benchmark"))
    if program := shutil.which(shell):
        option = {"bash": "-n", "zsh": "-n", "tcsh": "-nf"}[shell]
        subprocess.run([program, option], input=out, text=True, check=True)


def test_without_the_package_the_message_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, _, err = output(capsys, "completion", "bash")
    assert code == 1
    assert "harness-uq[completion]" in err
