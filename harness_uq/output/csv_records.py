"""The format `csv`: flat records with fixed columns, and a column `kind` if there are several kinds of results."""

import csv
import io
from collections.abc import Set
from dataclasses import dataclass

from harness_uq.output.document import result_kind
from harness_uq.output.sanitize import csv_field
from harness_uq.results.declaration import record_columns
from harness_uq.results.result_set import RenderOptions, ResultSet


@dataclass(frozen=True, slots=True)
class _Csv:
    name: str = "csv"
    suffix: str = ".csv"
    accepts: Set[str] | None = None
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:  # noqa: ARG002 -- no options apply
        kinds = {name: result_kind(name) for name in results.tables}
        has_kind = len(kinds) > 1
        columns = [column for kind in kinds.values() for column in record_columns(kind.result_type)]
        records = [
            {**({"kind": name.removesuffix("s")} if has_kind else {}), **record}
            for name, rows in results.tables.items()
            for row in rows
            for one in kinds[name].declared(row)
            for record in one.to_records()
        ]
        out = io.StringIO()
        names = dict.fromkeys([*(["kind"] if has_kind else []), *columns])
        writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: csv_field(value) for name, value in record.items()} for record in records)
        return out.getvalue().strip("\n")


FORMAT = _Csv()
