"""Write small files of other tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness_uq import TaskLog
from harness_uq.io.plugins.protocols import Run
from harness_uq.io.readers import Reading, read_logs
from harness_uq_formats.reader import FORMATS, FormatReader

READERS = {name: FormatReader(name, module) for name, module in FORMATS.items()}
Json = dict[str, object]


class ResourceReader(FormatReader):
    """Reads the resources of each trial, but does not add them to the metrics."""

    def read(self, run: Run) -> Iterator[TaskLog]:
        """The tasks of the run."""
        return self._format().read(run, with_resources=True)


def read(*paths: Path, with_resources: bool = False) -> Reading:
    """What the readers of this adapter alone read."""
    kind = ResourceReader if with_resources else FormatReader
    readers = {name: kind(name, module) for name, module in FORMATS.items()}
    return read_logs([str(path) for path in paths], harnesses=readers)


def write_json(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def write_lines(path: Path, lines: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


# ---------------------------------------------------------------- Terminal-Bench


def terminal_trial(task: str, is_resolved: bool | None, *, run: str, k: int = 1, n: int = 1, **more: object) -> Json:
    trial = {
        "id": f"{run}-{task}-{k}",
        "trial_name": f"{task}.{k}-of-{n}.{run}",
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": is_resolved,
        "failure_mode": "unset",
        "parser_results": None,
        "total_input_tokens": 0,
        "total_output_tokens": 0,
        "trial_started_at": "2026-01-01T00:00:00+00:00",
        "trial_ended_at": "2026-01-01T00:01:30+00:00",
    }
    return trial | more


def write_terminal_run(folder: Path, trials: Sequence[Json], *, size: int | None = None, **metadata: object) -> Path:
    """A run folder with the files of the run and of each trial."""
    content = {
        "run_id": folder.name,
        "uuid": f"uuid of {folder.name}",
        "dataset_name": "toy-core",
        "dataset_version": "0.1",
        "agent_name": "agent",
        "model_name": "lab/model",
        "dataset_size": len({str(trial["task_id"]) for trial in trials}) if size is None else size,
        "n_attempts": 1,
        "start_time": "2026-01-01T00:00:00+00:00",
    }
    write_json(folder / "run_metadata.json", content | metadata)
    n_resolved = sum(bool(trial["is_resolved"]) for trial in trials)
    write_json(
        folder / "results.json",
        {"id": "x", "results": list(trials), "n_resolved": n_resolved, "accuracy": n_resolved / len(trials)},
    )
    for trial in trials:
        write_json(folder / str(trial["task_id"]) / str(trial["trial_name"]) / "results.json", trial)
    return folder


def resolved(run: str, outcomes: Mapping[str, bool | None]) -> list[Json]:
    """One trial of each task."""
    return [terminal_trial(task, outcome, run=run) for task, outcome in outcomes.items()]


# ---------------------------------------------------------------- Harbor


def harbor_trial(task: str, reward: object, *, k: int = 1, agent: str = "pi", **more: object) -> Json:
    """`reward` is a number, a dictionary of rewards or None."""
    rewards = reward if isinstance(reward, dict) or reward is None else {"reward": reward}
    trial = {
        "id": f"{task}-{k}",
        "task_name": f"org/{task}",
        "trial_name": f"{task}__{k:07}",
        "task_id": {"org": "org", "name": task},
        "source": "org/set",
        "task_checksum": f"checksum of {task}",
        "config": {"agent": {"name": agent, "model_name": "lab/model", "kwargs": {}}, "job_id": "job"},
        "agent_info": {"name": agent, "version": "1.0", "model_info": {"name": "model", "provider": "lab"}},
        "agent_result": {"n_input_tokens": 10, "n_cache_tokens": 4, "n_output_tokens": 3, "cost_usd": 0.5},
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": None,
        "step_results": None,
        "started_at": f"2026-01-01T00:00:0{k}.5Z",
        "finished_at": f"2026-01-01T00:01:0{k}.5Z",
    }
    return trial | more


def error(kind: str) -> Json:
    return {"exception_type": kind, "exception_message": "it failed", "exception_traceback": "", "occurred_at": ""}


def write_job(
    folder: Path, trials: Sequence[Json], *, means: Mapping[str, object] | None = None, n_total: int | None = None
) -> Path:
    """A job folder; `means` are the metrics of agent pi."""
    evals = {} if means is None else {"pi__model__org/set": {"n_trials": len(trials), "metrics": [dict(means)]}}
    job = {
        "id": "job",
        "started_at": "2026-01-01T00:00:00",
        "n_total_trials": len(trials) if n_total is None else n_total,
    }
    write_json(folder / "result.json", job | {"stats": {"n_completed_trials": len(trials), "evals": evals}})
    for trial in trials:
        write_json(folder / str(trial["trial_name"]) / "result.json", trial)
    return folder


# ---------------------------------------------------------------- Every Eval Ever


def eee_result(name: str, score: float, *, dataset: str = "bench", **config: object) -> Json:
    """A result with the identifier `name`."""
    return {
        "evaluation_result_id": name,
        "evaluation_name": f"{dataset} {name}",
        "source_data": {"dataset_name": dataset, "source_type": "other"},
        "metric_config": {"metric_id": name, "lower_is_better": False, **config},
        "score_details": {"score": score, "uncertainty": {"standard_error": {"value": 0.125}, "num_samples": 4}},
    }


def eee_record(results: Sequence[Json], **more: object) -> Json:
    record = {
        "schema_version": "0.3.0",
        "evaluation_id": "run",
        "evaluation_timestamp": "1750000000",
        "retrieved_timestamp": "1750000001",
        "source_metadata": {"source_name": "x", "source_type": "documentation"},
        "eval_library": {"name": "unknown", "version": "unknown"},
        "model_info": {"name": "m", "id": "lab/m"},
        "evaluation_results": list(results),
    }
    return record | more


def eee_line(sample: str, score: float | None, *, result: str | None = "acc", **more: object) -> Json:
    line = {
        "schema_version": "0.3.0",
        "evaluation_id": "run",
        "model_id": "lab/m",
        "evaluation_name": "bench acc",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": "q", "reference": []},
        "output": {"raw": ["a"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": False},
    }
    return line | ({} if result is None else {"evaluation_result_id": result}) | more


def write_eee(folder: Path, record: Json, lines: Sequence[Json] = (), *, name: str = "record") -> Path:
    """A record with its samples."""
    if lines:
        write_lines(folder / f"{name}_samples.jsonl", lines)
    return write_json(folder / f"{name}.json", record)
