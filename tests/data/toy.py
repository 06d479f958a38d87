"""Small task logs for tests."""

from collections.abc import Mapping, Sequence

import numpy as np

from harness_uq.data.field_values import labels_of
from harness_uq.data.task_log import MetadataField, Questions, Scores, Source, TaskLog

TOY = Source("toy.json", "lm-eval")  # whose catalogue knows the usual metrics


def task_log(
    values: Sequence[object],
    *,
    system: str = "model",
    task: str = "toy",
    metric: str = "acc",
    filter_name: str = "none",
    fields: Mapping[str, Sequence[object]] | None = None,
    text_fields: Sequence[str] = (),
    ids: Sequence[str] | None = None,
    hashes: Sequence[str] = (),
    source: Source = TOY,
    **other: object,
) -> TaskLog:
    table = np.asarray(values, float)
    table = table[:, None] if table.ndim == 1 else table
    n = len(table)
    candidates = {
        name: MetadataField(codes(labels), name in text_fields, labels_of(map(str, dict.fromkeys(labels))))
        for name, labels in (fields or {}).items()
    }
    return TaskLog(
        system=system,
        task=task,
        source=source,
        questions=Questions(tuple(ids or map(str, range(n))), tuple(hashes), candidates),
        data=(Scores(metric, filter_name, table),),
        **other,
    )


def codes(labels: Sequence[object]) -> list[int]:
    known = {label: i for i, label in enumerate(dict.fromkeys(x for x in labels if x is not None))}
    return [-1 if label is None else known[label] for label in labels]
