"""Run Inspect in many ways with HARNESS_UQ set, in one process: `python live_runs.py FOLDER`.

Beside every log FOLDER/<case>/… stands what `eval()` returned: FOLDER/<case>.returned.json.
"""

import json
import os
import sys
from pathlib import Path

from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry, eval_set
from inspect_ai.log import edit_score, read_eval_log, recompute_metrics, write_eval_log
from inspect_ai.scorer import ScoreEdit
from live_tasks import everything, failing_once, gaps, growing, make, middle, plain, precomputed, right

FIXED = {"model": "mockllm/model", "display": "none", "log_level": "warning", "log_realtime": False}


def main(folder: Path) -> None:
    run(folder, "eval", everything())
    run(folder, "json", everything(), log_format="json")
    run(folder, "nan_json", make(gaps(), n=20, passages=False), log_format="json")
    run(folder, "clustered", make(right(), name="clustered", epochs=4))
    run(folder, "no_samples", make(right(), name="clustered", epochs=4), log_samples=False)
    run(folder, "errors", make(right(), n=12, passages=False, fails_on=(3, 4)), fail_on_error=False)
    run(folder, "median", make(middle(), n=12, passages=False))
    run(folder, "two", [make(right(), name="one"), make(right(), name="two")], max_tasks=2)
    os.environ["HARNESS_UQ_KEEP_STDERR"] = "1"
    run(folder, "unswapped", plain())
    del os.environ["HARNESS_UQ_KEEP_STDERR"]
    os.environ["HARNESS_UQ_LEVEL"] = "most"
    run(folder, "wrong_level", plain())
    del os.environ["HARNESS_UQ_LEVEL"]
    (log,) = inspect_eval(make(right(), name="clustered", epochs=4), log_dir="memory://logs", **FIXED)
    keep(folder, "remote", [log])
    keep(folder, "remote_read_back", [read_eval_log(log.location)])
    set_and_retry(folder)
    flaky(folder)
    grown(folder)
    edits(folder)
    del os.environ["HARNESS_UQ"]
    run(folder, "unset", everything())


def run(folder, case, tasks, **options):
    logs = inspect_eval(tasks, log_dir=str(folder / case), **FIXED, **options)
    keep(folder, case, logs)


def keep(folder, case, logs):
    returned = [
        {
            "location": log.location,
            "status": log.status,
            "has_samples": log.samples is not None,
            "results": log.results.model_dump(mode="json", exclude_none=True) if log.results else None,
            "metadata": log.metadata,
        }
        for log in logs
    ]
    (folder / f"{case}.returned.json").write_text(json.dumps(returned))


def set_and_retry(folder):
    _, logs = eval_set(
        [plain(once=str(folder / "once"))],
        log_dir=str(folder / "set"),
        retry_attempts=2,
        retry_wait=0.01,
        retry_immediate=False,
        **FIXED,
    )
    keep(folder, "set", logs)
    (failed,) = inspect_eval(plain(once=str(folder / "again")), log_dir=str(folder / "failed"), **FIXED)
    keep(folder, "failed", [failed])
    logs = eval_retry(failed, log_dir=str(folder / "retried"), display="none", log_level="error")
    keep(folder, "retried", logs)


def flaky(folder):
    """Each question fails in one of its two epochs and is then retried, with and without samples in the log."""
    for case, logs_samples in (("flaky", True), ("flaky_no_samples", False)):
        os.environ["FLAKY"] = str(folder / f"{case}.flags")
        run(folder, case, failing_once(), fail_on_error=False, log_samples=logs_samples)
        (log,) = (folder / case).iterdir()
        logs = eval_retry(read_eval_log(str(log)), log_dir=str(folder / f"{case}_retried"), display="none")
        keep(folder, f"{case}_retried", logs)
    del os.environ["FLAKY"]


def grown(folder):
    """Questions created during the run, and scores from a file, if this version of Inspect supports them."""
    if source := growing():
        run(folder, "grown", source)
    (folder / "ratings.json").write_text(json.dumps([{"id": f"{i}_en", "value": "CI"[i % 2]} for i in range(7)]))
    if rated := precomputed(str(folder / "ratings.json")):
        run(folder, "rated", rated)


def edits(folder):
    """One log with its metrics recomputed, one with a score edited."""
    (path,) = (folder / "clustered").iterdir()
    for case, value in (("recomputed", None), ("edited", "C")):
        (folder / case).mkdir()
        log = read_eval_log(str(path))
        if value:
            wrong = next(one for one in log.samples if one.scores["right"].value == "I")
            edit_score(log, wrong.id, "right", ScoreEdit(value=value), epoch=wrong.epoch)
        else:
            recompute_metrics(log)
        write_eval_log(log, str(folder / case / path.name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
