"""What was found of the tasks' structure, in every form."""

from collections.abc import Mapping, Sequence

from harness_uq.estimating.analysis import TaskStructure
from harness_uq.report.cells import Section, document_json, records_csv, sections_markdown
from harness_uq.report.comparison_text import Format
from harness_uq.report.latex import sections_latex
from harness_uq.report.page import Cells
from harness_uq.report.text import structures_text


def structures_as(found: Sequence[TaskStructure], form: Format, *, errors: Sequence[Mapping[str, str]] = ()) -> str:
    """The structures as `table`, `markdown`, `latex`, `csv` or `json`.

    JSON is `{"schema": 1, "structures": [...], "errors": [...]}` with a record a task, metric and filter.
    """
    match form:
        case "table":
            return structures_text(found)
        case "json":
            return document_json("structures", structure_records(found), errors)
        case "csv":
            return records_csv(structure_records(found))
    hints = {"Hints": [hint for item in found for hint in item.clusters.hints]}
    section = Section("Structure", _columns(structure_records(found)))
    return sections_markdown([section], hints) if form == "markdown" else sections_latex([section])


def structure_records(found: Sequence[TaskStructure]) -> list[dict[str, object]]:
    """One flat record a task, metric and filter; missing is None."""
    records: list[dict[str, object]] = []
    for item in found:
        for (metric, filter_name), structure in item.metrics.items():
            facts = {fact.name: fact for fact in structure.facts}
            records.append(
                {
                    "system": item.log.system,
                    "task": item.log.task,
                    "metric": metric,
                    "filter": filter_name,
                    "n_questions": structure.n_questions,
                    "n_trials": structure.max_trials,
                    "n_cells": structure.n_cells,
                    "n_clusters": structure.n_clusters,
                    "cluster_key": structure.cluster_key,
                    "cluster_evidence": facts["clusters"].evidence,
                    "score_type": structure.score_type,
                    "score_evidence": facts["score type"].evidence,
                    "path": item.log.source.path,
                }
            )
    return records


def _columns(records: Sequence[Mapping[str, object]]) -> list[Cells]:
    headers = {
        "system": "System",
        "task": "Task",
        "metric": "Metric",
        "filter": "Filter",
        "n_questions": "Questions",
        "n_trials": "Trials",
        "n_clusters": "Clusters",
        "cluster_key": "By",
        "cluster_evidence": "Evidence",
        "score_type": "Scores",
    }
    numbers = {"n_questions", "n_trials", "n_clusters"}
    return [
        Cells(header, ["-" if r[name] is None else str(r[name]) for r in records], name in numbers)
        for name, header in headers.items()
    ]
