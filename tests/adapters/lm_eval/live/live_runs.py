"""Run the real lm-eval on the tasks of `live_tasks`, in this process."""

import json
from pathlib import Path

import harness_uq_lm_eval
from tests.adapters.lm_eval.live import live_tasks


def simple_evaluate(folder: Path, tasks=live_tasks.EVERYTHING, *, uq="bayes", settings=None, lm=None, **options):
    """`lm_eval.simple_evaluate` within a live session, or without one if `uq` is None."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(folder), include_defaults=False)
    model = live_tasks.HashLM() if lm is None else lm
    arguments = {"model": model, "tasks": list(tasks), "task_manager": manager, **options}
    if uq is None:
        return lm_eval.simple_evaluate(**arguments)
    with harness_uq_lm_eval.uq(uq, **(settings or {})):
        return lm_eval.simple_evaluate(**arguments)


def save(results, folder: Path, output: Path, name="hash") -> Path:
    """Write results and samples as `lm-eval run --log_samples` does, and return the path of the results file."""
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(output))
    tracker.general_config_tracker.log_experiment_args(
        model_source="hash",
        model_args=f"path={name}",
        system_instruction="",
        chat_template="",
        fewshot_as_multiturn=False,
    )
    results = dict(results)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    (path,) = output.rglob("results_*.json")
    return path


def entries(results) -> dict[tuple[str, str, str], dict[str, object]]:
    """Entries of the block by (task, metric, filter)."""
    return {(e["task"], e["metric"], e["filter"]): e for e in results["uq"]["estimates"]}


def as_json(results):
    """Results as they are read from a file."""
    from lm_eval.utils import handle_non_serializable

    return json.loads(json.dumps({k: v for k, v in results.items() if k != "samples"}, default=handle_non_serializable))
