"""Model `recorded` of lm-eval, which repeats the answers of a logged run: `--model_args path=RUN`.

The command line of harness_uq imports this module; lm-eval after 0.4.13 finds it through its entry points.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import lm_eval.models  # noqa: F401 - a model registered before this import would hide every built-in one
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import MODEL_REGISTRY, register_model

from harness_uq.plugin_api import LogError
from harness_uq_lm_eval.json_access import Table, table

NAME: Final = "recorded"
_FILE: Final = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl")


class RecordedLM(LM):  # type: ignore[misc]
    """Answers each request as the run in a folder did; the samples of the latest run count.

    Raises LogError if the folder contains no samples, or if they lack a question of the new run.
    """

    def __init__(self, path: str, **_of_the_harness: object) -> None:
        super().__init__()
        self._path = path
        self._rows = _read(Path(path))
        self._n_asked: Counter[tuple[object, ...]] = Counter()

    def loglikelihood(self, requests: Sequence[Instance]) -> list[tuple[float, bool]]:
        """Log-likelihood of each choice, and whether it is the most likely text."""
        return [(float(str(value)), is_greedy == "True") for value, is_greedy in map(self._response, requests)]

    def generate_until(self, requests: Sequence[Instance]) -> list[str]:
        """Text of each answer."""
        return [str(self._response(request)) for request in requests]

    def loglikelihood_rolling(self, requests: Sequence[Instance]) -> list[float]:
        """Log-likelihood of each text."""
        return [float(str(self._response(request))) for request in requests]

    def _response(self, request: Instance) -> Sequence[object]:
        """The logged response to a request; the harness repeats a request for each trial."""
        row = self._rows.get((request.task_name, request.doc_id), {})
        key = (request.task_name, request.doc_id, request.idx)
        trial = self._n_asked[key]
        self._n_asked[key] += 1
        try:
            if row["doc"] != request.doc:
                raise KeyError
            response: Sequence[object] = row["resps"][request.idx][trial]  # type: ignore[index]
        except (KeyError, IndexError):
            raise LogError(
                f"{self._path} has no answer {trial + 1} to question {request.doc_id} of {request.task_name}. "
                "Use the tasks and options of the logged run."
            ) from None
        return response


def _read(folder: Path) -> Mapping[tuple[str, int], Table]:
    """Row of each task and question in the samples files of a folder."""
    rows: dict[tuple[str, int], Table] = {}
    for file in sorted(folder.rglob("samples_*.jsonl")):
        if match := _FILE.fullmatch(file.name):
            for line in file.read_text(encoding="utf-8").splitlines():
                row = table(json.loads(line))
                rows[match[1], int(str(row["doc_id"]))] = row
    if not rows:
        raise LogError(f"Samples of lm-eval not found: {folder}. Give the folder of a run with --log_samples.")
    return rows


if NAME not in MODEL_REGISTRY:
    register_model(NAME)(RecordedLM)
