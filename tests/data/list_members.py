"""List the members of files that other tools wrote, without their contents, and those that the code of a tool writes.

    python -m tests.data.list_members ../shared/data tests/data/members.json

A text is listed as an empty text, a number as 0, and all entries of a list, or of a map whose keys are names, as one.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

ANY = "*"  # stands for all keys of a map, which are names of tasks, metrics, models or variables

FILES: Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "promptfoo 0.123.1": (
        "promptfoo",
        {
            "own_run*.json": (
                *("results.results.namedScores", "results.results.vars", "results.results.testCase.vars"),
                *("results.results.gradingResult.namedScores", "results.results.gradingResult.namedScoreWeights"),
                *("results.prompts.metrics.namedScores", "results.prompts.metrics.namedScoresCount"),
                *("results.prompts.metrics.namedScoreWeights", "config.tests.vars", "config.providers.config"),
            )
        },
    ),
    "harbor 0.25.0": (
        "harbor_tb/harbor_job",
        {
            "result.json": ("stats.evals", "stats.evals.*.reward_stats", "stats.evals.*.reward_stats.*"),
            "*/result.json": ("verifier_result.rewards",),
        },
    ),
    "terminal-bench 0.2": (
        "terminal_bench/20250711_openhands_claude-4-sonnet/openhands-sonnet4",
        {
            "run_metadata.json": (),
            "results.json": ("pass_at_k", "results.parser_results"),
            "*/*/results.json": ("parser_results",),
        },
    ),
    "helm 0.5": (
        "helm/*",
        {
            "run_spec.json": ("scenario_spec.args", "metric_specs.args"),
            "per_instance_stats.json": (),
            "scenario_state.json": (),
        },
    ),
    "every-eval-ever 0.3.0": (
        "every_eval_ever/data/demo-source/demo-org/demo-model",
        {"*[0-9].json": (), "*_samples.jsonl": ()},
    ),
}
"""Folder of each tool with its version, and the maps in each kind of its files."""

_LIGHTEVAL_TASK = {
    **dict.fromkeys(("name", "prompt_function", "hf_repo", "hf_subset"), ""),
    **dict.fromkeys(("hf_data_files", "solver", "scorer", "sample_fields", "sample_to_fewshot", "filter")),
    **dict.fromkeys(("hf_revision", "hf_filter", "few_shots_split", "few_shots_select", "generation_size")),
    **dict.fromkeys(("generation_grammar", "stop_sequence", "num_samples")),
    "hf_avail_splits": [""],
    "evaluation_splits": [""],
    **dict.fromkeys(("original_num_docs", "effective_num_docs", "num_fewshots", "version"), 0),
    "metrics": [
        {
            **dict.fromkeys(("metric_name", "category", "sample_level_fn", "corpus_level_fn"), ""),
            "higher_is_better": True,
            "batched_compute": False,
        }
    ],
    "must_remove_duplicate_docs": False,
}
_LIGHTEVAL_SUMMARY = {"hashes": {ANY: ""}, "truncated": 0, "non_truncated": 0, "padded": 0, "non_padded": 0}

WRITTEN: Mapping[str, Mapping[str, Any]] = {
    # EvaluationTracker.results and the loggers of lighteval, commit 3fd15266
    "lighteval 0.13.1.dev0": {
        "results/*/*/results_*.json": {
            "config_general": {
                "lighteval_sha": "",
                "num_fewshot_seeds": 0,
                "max_samples": None,
                "job_id": 0,
                "start_time": 0,
                "end_time": 0,
                "total_evaluation_time_secondes": "",
                "model_config": {
                    "model_name": "",
                    "generation_parameters": {ANY: 0},
                    "system_prompt": None,
                    "cache_dir": "",
                },
                "model_name": "",
            },
            "results": {ANY: {ANY: 0}},
            "versions": {ANY: 0},
            "config_tasks": {ANY: _LIGHTEVAL_TASK},
            "summary_tasks": {ANY: _LIGHTEVAL_SUMMARY},
            "summary_general": _LIGHTEVAL_SUMMARY,
        }
    },
    # RunSpec, Event and RecorderBase of openai/evals, commit 00414586
    "openai-evals 3.0.1": {
        "*.jsonl spec": {
            "spec": {
                "completion_fns": [""],
                "eval_name": "",
                "base_eval": "",
                "split": "",
                "run_config": {ANY: None},
                "created_by": "",
                "run_id": "",
                "created_at": "",
            }
        },
        "*.jsonl sample_id": {
            "run_id": "",
            "event_id": 0,
            "sample_id": "",
            "type": "",
            "data": {ANY: None},
            "created_by": "",
            "created_at": "",
        },
        "*.jsonl final_report": {"final_report": {ANY: 0}},
    },
}
"""Members that the code of a tool writes, if no file of others is at hand. A member after the name of a file is that of
the lines that are meant."""


def members(data: Path) -> dict[str, dict[str, Any]]:
    """Members of each kind of file by tool, from the files in a folder and from `WRITTEN`."""
    listed: dict[str, dict[str, Any]] = {tool: dict(files) for tool, files in WRITTEN.items()}
    for tool, (folder, files) in FILES.items():
        listed[tool] = {
            pattern: reduce(merged, (shape(content, maps) for content in _contents(data / "formats", folder, pattern)))
            for pattern, maps in files.items()
        }
    return dict(sorted(listed.items()))


def _contents(data: Path, folder: str, pattern: str) -> Iterator[Any]:
    paths = sorted(data.glob(f"{folder}/{pattern}"))
    if not paths:
        raise FileNotFoundError(f"{data / folder / pattern}")
    for path in paths:
        text = path.read_text(encoding="utf-8")
        yield from map(json.loads, text.splitlines()) if path.suffix == ".jsonl" else [json.loads(text)]


def shape(value: Any, maps: tuple[str, ...] = (), path: str = "") -> Any:
    """The value without its contents; the path of a member in a list is that of the list."""
    match value:
        case dict() if path in maps:
            return {ANY: reduce(merged, (shape(one, maps, f"{path}.{ANY}") for one in value.values()))} if value else {}
        case dict():
            return {key: shape(one, maps, f"{path}.{key}".lstrip(".")) for key, one in value.items()}
        case list():
            return [reduce(merged, (shape(one, maps, path) for one in value))] if value else []
        case bool() | None:
            return value and False
        case str():
            return ""
    return 0


def merged(first: Any, second: Any) -> Any:
    """One shape for two values of one member, with the members of both."""
    if isinstance(first, dict) and isinstance(second, dict):
        common = {key: merged(first[key], second[key]) for key in first if key in second}
        return first | second | common
    if isinstance(first, list) and isinstance(second, list):
        return [reduce(merged, [*first, *second])] if first or second else []
    return second if first is None else first


def with_members(own: Any, listed: Any) -> Any:
    """Our own content with all members that are listed; those that it lacks have their empty value."""
    if isinstance(own, dict) and isinstance(listed, dict):
        if ANY in listed:
            return {key: with_members(value, listed[ANY]) for key, value in own.items()}
        return {**_empty(listed), **{key: with_members(value, listed.get(key)) for key, value in own.items()}}
    if isinstance(own, list) and isinstance(listed, list) and listed:
        return [with_members(value, listed[0]) for value in own]
    return own


def _empty(listed: Any) -> Any:
    if isinstance(listed, dict):
        return {key: _empty(value) for key, value in listed.items() if key != ANY}
    if isinstance(listed, list):
        return [_empty(one) for one in listed if isinstance(one, dict)]
    return listed


def paths_of(value: Any, listed: Any, path: str = "") -> Iterator[str]:
    """Paths of the members of a value; the keys of maps and the entries of lists count as one."""
    if isinstance(value, dict):
        is_map = isinstance(listed, dict) and ANY in listed
        for key, one in value.items():
            name = f"{path}.{ANY if is_map else key}"
            yield name
            below = listed.get(ANY if is_map else key) if isinstance(listed, dict) else None
            yield from paths_of(one, below, name)
    elif isinstance(value, list):
        for one in value:
            yield from paths_of(one, listed[0] if isinstance(listed, list) and listed else None, f"{path}[]")


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(members(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
