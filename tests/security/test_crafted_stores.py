"""A damaged or crafted store is named, and its rows are read from the logs again."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_uq import Options
from harness_uq.analyses.scan.scan_logs import Scan, scan
from harness_uq.commands.main import main
from harness_uq.messages.catalogue.result_store import STORED_FILE_UNREADABLE
from tests.output.rendering import render

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from harness_uq.analyses.store.estimate_rows import StoredRow  # noqa: E402
from harness_uq.analyses.store.parquet import NULLABLE, SCHEMAS, Kind  # noqa: E402

WILSON = Options(method="wilson")
READ: dict[Kind, tuple[str, ...]] = {
    "logs": tuple(SCHEMAS["logs"].names),
    "estimates": tuple(dict.fromkeys(("written", *StoredRow._fields))),
}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two logs."""
    folder = tmp_path_factory.mktemp("logs")
    for name in ("a", "b"):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = [["toy", name, i, i % 3 % 2, i // 2] for i in range(12)]
            csv.writer(file).writerows([["task", "model", "id", "correct", "passage"], *rows])
    return folder


@pytest.fixture(scope="module")
def expected(logs: Path) -> list[str]:
    return [told(scan(logs, options), options) for options in (WILSON, None)]


def told(result: Scan, options: Options | None) -> str:
    return (
        render(result.rows, "json")
        if options
        else str([(log.system, log.task, log.data[0].metric) for log in result.reading.logs])
    )


@pytest.fixture(scope="module")
def intact(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("intact") / "store"
    scan(logs, WILSON, store=str(store))
    return store


def copied(store: Path, folder: Path, kind: Kind) -> Path:
    """One of the files of this kind in a copy of a store."""
    return min((Path(shutil.copytree(store, folder)) / kind).iterdir())


def check_named_and_read_again(logs: Path, path: Path, kind: Kind, expected: list[str]) -> None:
    """The damaged file is named; what is read is the same as without a store."""
    options = WILSON if kind == "estimates" else None
    found = scan(logs, options, full_logs=kind == "logs", store=str(path.parents[1]))
    assert told(found, options) == expected[options is None]
    assert [(message.code, message.params["path"]) for message in found.reading.trouble] == [
        (STORED_FILE_UNREADABLE.code, str(path))
    ]


def with_column(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, column)


CHANGES: dict[str, Callable[[Any, str], Any]] = {
    "nulls": lambda table, name: with_column(table, name, pa.nulls(len(table), table.schema.field(name).type)),
    "another type": lambda table, name: with_column(table, name, pa.array([{"x": 1.5}] * len(table))),
    "no column": lambda table, name: table.drop_columns([name]),
}


COLUMNS = [(kind, name) for kind, names in READ.items() for name in names]


@pytest.mark.parametrize(
    ("change", "kind", "name"),
    [
        *(("nulls", kind, name) for kind, name in COLUMNS if name not in NULLABLE[kind]),
        *(("another type", kind, name) for kind, name in COLUMNS[::4]),
        *(("no column", kind, name) for kind, name in COLUMNS[::4]),
    ],
)
def test_a_column_that_is_not_as_it_should_be_is_named(
    change: str, kind: Kind, name: str, logs: Path, intact: Path, expected: list[str], tmp_path: Path
) -> None:
    path = copied(intact, tmp_path / "store", kind)
    pq.write_table(CHANGES[change](pq.read_table(path), name), path)
    check_named_and_read_again(logs, path, kind, expected)


def set_to(*places: str | int, value: object) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        item: Any = row
        for place in places[:-1]:
            item = item[place]
        item[places[-1]] = value

    return change


ROW_LISTS = ("run_files", "subtasks", "questions", "messages", "data", "stored_intervals")
MESSAGE = json.dumps({"code": "UQ1", "name": "n", "severity": "note", "text": 5, "params": {}})


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        *(("logs", set_to(name, value=[None])) for name in ROW_LISTS),
        *(
            ("logs", set_to("data", 0, name, value=None))
            for name in ("metric", "filter", "kind", "values", "n_columns")
        ),
        *(("logs", set_to("data", 0, name, value=None)) for name in ("logged_trials", "is_complete")),
        ("logs", set_to("data", 0, "kind", value="nonsense")),
        ("logs", set_to("data", 0, "kind", value="classes")),
        ("logs", set_to("data", 0, "values", value=[0.5])),
        ("logs", set_to("data", 0, "n_columns", value=0)),
        ("logs", set_to("data", 0, "n_columns", value=2**62)),
        ("logs", set_to("data", 0, "bounds", value=[1.0])),
        ("logs", set_to("data", 0, "clusters", value=[1])),
        ("logs", set_to("fields", 0, "name", value=None)),
        ("logs", set_to("fields", 0, "codes", value=[1])),
        ("logs", set_to("settings", value="[]")),
        ("logs", set_to("settings", value="nonsense")),
        ("logs", set_to("settings", value="[" * 100_000)),
        ("logs", set_to("messages", value=["5"])),
        ("logs", set_to("messages", value=[MESSAGE])),
        *(("estimates", set_to(name, value=[None])) for name in ("run_files", "subtasks", "messages", "field_names")),
        ("estimates", set_to("packed", value=b"nonsense")),
        ("estimates", set_to("packed", value=None)),
        ("estimates", set_to("metric", value=None)),
    ],
)
def test_a_row_that_describes_nothing_is_named(
    kind: Kind, change: Callable[[Row], None], logs: Path, intact: Path, expected: list[str], tmp_path: Path
) -> None:
    path = copied(intact, tmp_path / "store", kind)
    rows = pq.read_table(path).to_pylist()
    change(rows[0])
    pq.write_table(pa.Table.from_pylist(rows, SCHEMAS[kind]), path)
    check_named_and_read_again(logs, path, kind, expected)


@pytest.mark.parametrize("name", ["value", "system", "interval", "source", "n_questions", "diagnostics", "messages"])
def test_an_estimate_of_wrong_types_is_named(
    name: str, logs: Path, intact: Path, expected: list[str], tmp_path: Path
) -> None:
    msgspec = pytest.importorskip("msgspec")
    path = copied(intact, tmp_path / "store", "estimates")
    rows = pq.read_table(path).to_pylist()
    rows[0]["packed"] = msgspec.msgpack.encode(msgspec.msgpack.decode(rows[0]["packed"]) | {name: [["x"]]})
    pq.write_table(pa.Table.from_pylist(rows, SCHEMAS["estimates"]), path)
    check_named_and_read_again(logs, path, "estimates", expected)


def late(n: int) -> Any:
    """Dates after the year 9999."""
    return pa.array([2**62] * n, pa.int64()).cast(SCHEMAS["logs"].field("written").type)


def no_text(n: int) -> Any:
    """Texts that are not UTF-8."""
    return pa.Array.from_buffers(pa.string(), n, pa.array([b"\xff\xfe"] * n, pa.binary()).buffers())


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize(("name", "values"), [("written", late), ("system", no_text)])
def test_a_date_or_a_text_that_does_not_exist_is_named(
    name: str,
    values: Callable[[int], Any],
    kind: Kind,
    logs: Path,
    intact: Path,
    expected: list[str],
    tmp_path: Path,
) -> None:
    path = copied(intact, tmp_path / "store", kind)
    table = pq.read_table(path)
    pq.write_table(with_column(table, name, values(len(table))), path)
    check_named_and_read_again(logs, path, kind, expected)


def test_the_commands_name_a_crafted_store(
    logs: Path, intact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [copied(intact, tmp_path / kind, kind) for kind in READ]
    for path, name in zip(paths, ("system", "written"), strict=True):
        pq.write_table(CHANGES["nulls"](pq.read_table(path), name), path)
    gate = ["gate", str(logs / "a.csv"), "--baseline", str(tmp_path / "logs"), "--margin", "0.1"]
    for arguments, code in (
        (gate, 4),
        (["estimate", str(logs), "--method", "wilson", "--store", str(tmp_path / "estimates")], 1),
        (["store", "ls", str(tmp_path / "estimates")], 1),
        (["store", "verify", str(tmp_path / "logs")], 1),
    ):
        assert main(arguments) == code
        err = capsys.readouterr().err
        assert "lacks 1 of 1 values" in err
        assert "Internal error" not in err
    assert main(["store", "gc", str(tmp_path / "logs")]) == 0
    assert not paths[0].exists()
