"""The queries of docs/howto/scale.md, run as they stand there."""

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from harness_uq import Options, read_logs
from harness_uq.analyses.scan.scan_logs import scan
from harness_uq.messages.catalogue.reading import COPIED_LOG
from tests.conftest import ROOT, STANDINS

pytest.importorskip("pyarrow")
PAGE = (ROOT / "docs" / "howto" / "scale.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a store called `kept`, and the estimates that it holds."""
    folder = tmp_path_factory.mktemp("queries")
    shutil.unpack_archive(STANDINS, folder / "data")
    for path, message in read_logs(folder / "data" / "inspect").warnings:
        if message.code == COPIED_LOG.code:  # stored, but not an estimate
            Path(path).unlink()
    return folder, scan(folder / "data" / "inspect", Options(), store=str(folder / "kept")).rows


@pytest.fixture
def kept(here, monkeypatch):
    monkeypatch.chdir(here[0])
    return here[1]


def test_duckdb_finds_the_best(kept):
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(blocks("sql")[0]).fetchall()
    lows = sorted((row.interval.low for row in kept if row.interval), reverse=True)[:10]
    assert [low for *_, low, _ in found] == lows


def test_duckdb_finds_the_hardest_questions(kept):
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(blocks("sql")[1]).fetchall()
    means = [mean for _, _, mean in found]
    assert means == sorted(means)
    assert len(found) >= 100


def test_polars_reads_the_estimates(kept):
    pytest.importorskip("polars")
    names = {}
    exec(next(block for block in blocks("python") if "polars" in block), names)
    assert len(names["rows"]) == len(kept)
    widths = [row.interval.width for row in kept if row.interval]
    assert names["widest"]["width"][0] == pytest.approx(max(widths))


def test_the_page_lists_every_column():
    from harness_uq.analyses.store.parquet import SCHEMAS

    for kind, schema in SCHEMAS.items():
        missing = [name for name in schema.names if f"`{name}`" not in PAGE]
        assert missing == [], kind


def test_the_page_tells_what_was_measured():
    text = runpy.run_path(str(ROOT / "benchmarks" / "scale_text.py"))
    assert text["parts_of"](PAGE)[1] == text["text"](json.loads(text["RESULTS"].read_text()))


def test_python_of_the_page_runs(kept):
    shown = next(block for block in blocks("python") if "Engine(" in block)
    names = {}
    exec(shown.replace('"logs/"', '"data/inspect"').replace("jobs=8", "jobs=1"), names)
    assert len(names["result"].rows) == len(kept)
    assert Path("kept").is_dir()
