"""One change to the structure of a table, the same for the same seed: cells, rows, columns, types or bytes."""

import csv
import datetime
import io
import random

from tests.fuzz.mutate import mutant

CELLS = (
    *("", " ", "NA", "null", "nan", "NaN", "inf", "-inf", "1e400", "1e308", "-0", "1" * 5000, "-" + "9" * 400, "0x10"),
    *("true", "C", "[1, 2]", "{}", '"', "'", "\n", "\r", "\t", ",", ";", "\x00", "\u202e", "=1+1", "x" * 3000, "1,5"),
)
VALUES = (None, float("nan"), float("inf"), 2**62, -(2**63), 1e308, "", "x" * 3000, True, b"\xff\x00", [1, 2], {"a": 1})


def table_mutant(content: bytes, name: str, seed: int) -> tuple[str, bytes]:
    """What was done, and the file after it."""
    rng = random.Random(seed)
    if name.endswith(".csv") and rng.random() < 0.8:
        return _of_csv(content, rng)
    if name.endswith(".parquet") and rng.random() < 0.8:
        return _of_parquet(content, rng)
    return mutant(content, name, seed)


def _of_csv(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    rows = list(csv.reader(io.StringIO(content.decode())))
    at, column = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    kind = rng.choice(("cell", "cell", "cell", "column", "drop cell", "add cell", "drop row", "repeat row", "header"))
    if kind == "cell":
        rows[at][column] = rng.choice(CELLS)
    elif kind == "column":
        cell = rng.choice(CELLS)
        for row in rows[1:]:
            row[column] = cell
    elif kind == "drop cell":
        del rows[at][column]
    elif kind == "add cell":
        rows[at].insert(column, rng.choice(CELLS))
    elif kind == "drop row":
        del rows[at]
    elif kind == "repeat row":
        rows.insert(at, list(rows[at]))
    else:
        rows[0][column] = rng.choice((*rows[0], "", "trial", "cluster", "higher_is_better", "score", "seed"))
    out = io.StringIO()
    csv.writer(out, delimiter=rng.choice(",,,,;\t")).writerows(rows)
    return f"csv: {kind}", out.getvalue().encode()


def _of_parquet(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    names = list(table.column_names)
    at = rng.randrange(len(names))
    kind = rng.choice(("type", "type", "nulls", "drop column", "repeat column", "no rows", "rename", "repeat rows"))
    if kind == "type":
        value = rng.choice((*VALUES, datetime.date(2026, 1, 2), datetime.timedelta(1), datetime.datetime(2026, 1, 2)))
        column = pa.array([value] * table.num_rows)
        table = table.set_column(at, names[at], column.dictionary_encode() if isinstance(value, str) else column)
    elif kind == "nulls":
        cells = table.column(at).to_pylist()
        cells[rng.randrange(len(cells))] = None
        table = table.set_column(at, names[at], pa.array(cells, table.schema.field(at).type))
    elif kind == "drop column":
        table = table.remove_column(at)
    elif kind == "repeat column":
        table = table.append_column(names[at], table.column(at))
    elif kind == "no rows":
        table = table.slice(0, 0)
    elif kind == "rename":
        names[at] = rng.choice(("", "trial", "cluster", "higher_is_better", "score", "a.b", "a\x00b"))
        table = table.rename_columns(names)
    else:
        table = pa.concat_tables([table] * 3)
    out = io.BytesIO()
    pq.write_table(table, out)
    return f"parquet: {kind}", out.getvalue()
