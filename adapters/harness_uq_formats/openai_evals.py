"""Plugin that reads OpenAI evals: a JSON Lines file per run, with `spec` in the first line, then an event per line.

A question is a `sample_id`. Its score is `data.correct` of its event of type `match`; further such events are trials.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import harness_uq.plugin_api as uq


class OpenAIEvals:
    """Reads logs of OpenAI evals."""

    name = "openai-evals"
    reads_stores = True

    def parts(self, files: Sequence[str]) -> list[list[str]]:
        """Each file alone, because no run has several files."""
        return [[file] for file in files]

    def find(self, files: Sequence[str]) -> uq.Discovery:
        """A run for each file whose first line contains `spec`."""
        mine, problems = [], []
        for path in (path for path in files if path.endswith(".jsonl")):
            try:
                with uq.paths.open_binary(path) as file:
                    mine += [path] if file.read(16).startswith((b'{"spec":', b'{"spec" :')) else []
            except OSError as error:
                problems.append((path, f"the file cannot be read: {error}"))
        others = tuple(path for path in files if path not in mine)
        return uq.Discovery(tuple(uq.Run(path, (path,)) for path in mine), others, tuple(problems))

    def read(self, run: uq.Run) -> Iterator[uq.TaskLog]:
        """The one task of the run. Raises LogError if a line is damaged."""
        import numpy as np

        (path,), trials = run.files, dict[str, list[float]]()
        found: dict[str, Any] = {"spec": None, "final_report": None}
        with uq.paths.open_binary(path) as file:
            for number, content in enumerate(file, 1):
                try:
                    line = {} if content.isspace() else json.loads(content)
                    found |= {name: line[name] for name in found if name in line}
                    if line.get("type") == "match":
                        correct = {False: 0.0, True: 1.0}[line["data"]["correct"]]
                        trials.setdefault(str(line["sample_id"]), []).append(correct)
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                    raise uq.LogError(f"line {number}: this is not an event of OpenAI evals ({error!r})") from None
        n_trials = max(map(len, trials.values()), default=0)
        uq.check_cells(len(trials), n_trials)
        values = np.array([[*row, *[np.nan] * (n_trials - len(row))] for row in trials.values()])
        try:
            spec, accuracy = found["spec"], (found["final_report"] or {}).get("accuracy")
            system, task, time = ", ".join(spec["completion_fns"]), str(spec["eval_name"]), spec.get("created_at")
        except (KeyError, TypeError, AttributeError) as error:
            raise uq.LogError(f"the specification or the report of the run is incomplete ({error!r})") from None
        yield uq.TaskLog(
            system=system,
            task=task,
            source=uq.Source(path, self.name, time=time if isinstance(time, str) else None),
            questions=uq.Questions(tuple(trials)),
            data=(uq.Scores("accuracy", "none", values, levels=(0.0, 1.0), is_complete=True),) if trials else (),
            reported={("accuracy", "none"): uq.HarnessResult(accuracy)} if isinstance(accuracy, float) else {},
        )


@uq.hookimpl
def harness_uq_harnesses() -> list[OpenAIEvals]:
    """Register the reader."""
    return [OpenAIEvals()]
