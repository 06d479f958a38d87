"""OpenAI evals: a JSON Lines file per run, with `spec` in the first line and an event per line after it.

A question is a `sample_id`, and its score is `data.correct` of its event of type `match`. Further such events
are further trials.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from harness_uq.plugin_api import Discovery, HarnessResult, LogError, Questions, Run, Scores, Source, TaskLog
from harness_uq_formats.json_files import decode, finite_number, head_of, lines_of
from harness_uq_formats.trial_grid import TrialGrid


class Spec(msgspec.Struct):
    """`spec`."""

    eval_name: str
    completion_fns: list[str]
    created_at: str | None = None


class Line(msgspec.Struct):
    """A line: the specification, an event, or the report at the end."""

    spec: Spec | None = None
    sample_id: str | None = None
    type: str | None = None
    data: Any = None
    final_report: Any = None


def find(files: Sequence[str]) -> Discovery:
    """A run for each file whose first line contains `spec`."""
    mine, problems = [], []
    for file in files:
        try:
            if file.endswith(".jsonl") and head_of(file).lstrip().startswith((b'{"spec":', b'{"spec" :')):
                mine.append(Run(file, (file,)))
        except LogError as error:
            problems.append((file, error.message))
    found = {run.name for run in mine}
    return Discovery(tuple(mine), tuple(file for file in files if file not in found), tuple(problems))


def read(run: Run, *, with_resources: bool = False) -> Iterator[TaskLog]:  # noqa: ARG001 -- events have no usage per sample
    """The one task of the run.

    Raises
    ------
    LogError : if a line is damaged
    """
    (path,) = run.files
    grid, scores, spec, report = TrialGrid(), list[float](), None, None
    for number, content in enumerate(lines_of(path), 1):
        line = decode(content, Line, whose=f"line {number}")
        spec, report = spec or line.spec, line.final_report or report
        if line.type == "match" and line.sample_id is not None:
            correct = line.data.get("correct") if isinstance(line.data, dict) else None
            if not isinstance(correct, bool):
                raise LogError(f"line {number}: `data.correct` of a match is {correct!r} and not true or false")
            grid.add(line.sample_id)
            scores.append(float(correct))
    if spec is None:
        raise LogError("the file has no line with `spec`")
    accuracy = report.get("accuracy") if isinstance(report, dict) else None
    value = finite_number(accuracy)
    yield TaskLog(
        system=", ".join(spec.completion_fns),
        task=spec.eval_name,
        source=Source(path, "openai-evals", time=spec.created_at),
        questions=Questions(grid.questions),
        data=(Scores("accuracy", "none", grid.matrix(scores), levels=(0.0, 1.0)),) if scores else (),
        reported={} if value is None else {("accuracy", "none"): HarnessResult(value)},
    )
