"""An overview in the forms that are not HTML: its parts one after the other."""

import json
from collections.abc import Mapping, Sequence

from harness_uq.overview import Overview
from harness_uq.report.cells import records_csv
from harness_uq.report.clean import json_text
from harness_uq.report.comparison_text import Format, comparisons_as
from harness_uq.report.latex import estimates_latex
from harness_uq.report.ranking_text import rankings_as
from harness_uq.report.tabular import estimates_markdown
from harness_uq.report.text import estimates_table
from harness_uq.results.estimate import SCHEMA
from harness_uq.results.flat import to_dicts


def overview_as(found: Overview, form: Format, *, errors: Sequence[Mapping[str, str]] = ()) -> str:
    """Scores, comparisons and rankings in the form asked for.

    Parameters
    ----------
    found : the results
    form : as in `comparisons_as`; JSON is `{"schema": 1, "estimates": [...], "comparisons": [...], "rankings": [...],
        "errors": [...]}`; in CSV the column `kind` says which of the three a line is
    errors : paths that could not be read, for the JSON form
    """
    if form == "json":
        parts = {"estimates": found.estimates, "comparisons": found.comparisons, "rankings": found.rankings}
        document = {name: [row.to_dict() for row in rows] for name, rows in parts.items()}
        whole = {"schema": SCHEMA, **document, "errors": [dict(error) for error in errors]}
        return json_text(json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False))
    if form == "csv":
        kinds = (("estimate", found.estimates), ("comparison", found.comparisons), ("ranking", found.rankings))
        return records_csv([{"kind": kind, **record} for kind, rows in kinds for record in to_dicts(rows)])
    printers = {"table": estimates_table, "markdown": estimates_markdown, "latex": estimates_latex}
    blocks = [printers[form](found.estimates).strip("\n")]
    if found.comparisons:
        blocks.append(comparisons_as(found.comparisons, form))
    if found.rankings:
        blocks.append(rankings_as(found.rankings, form))
    return "\n\n".join(blocks)
