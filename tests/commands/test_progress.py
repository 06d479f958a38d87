"""One progress bar for all commands: nothing if standard error is no terminal, and the items unchanged."""

import argparse
import io
import sys
from types import SimpleNamespace

from harness_uq.analyses.scan import scan_logs as pipeline
from harness_uq.commands.console import track
from harness_uq.commands.load import scan_paths
from harness_uq.inference.load_plugins import load_plugins


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_items_pass_through_and_nothing_is_drawn_without_a_terminal(capsys):
    assert list(track(iter("abc"), "Simulating", 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_number_of_logs(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    at = SimpleNamespace(n_bytes=10, all_bytes=20, logs=1_000, n_logs=2_000)

    def scan(*_, progress, **__):
        progress(at)
        return pipeline.Scan(pipeline.Reading(()), ())

    monkeypatch.setattr(pipeline, "scan", scan)
    args = argparse.Namespace(engine="joblib", jobs=None, scheduler=None, store=None)
    scan_paths(args, ["logs"], load_plugins())
    assert "1,000 of 2,000 logs" in terminal.getvalue()
