"""HELM: folders of runs with `run_spec.json` and `per_instance_stats.json`.

A question is an instance, or a perturbed copy of one; a trial is a choice of the examples in the prompt. Most
statistics are about prompts and requests, so metrics are chosen by name. The filter is the split and the perturbation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import content_of, decode, question_count
from harness_uq_formats.log_parts import differences, known_amounts, trial_endings
from harness_uq_formats.messages import FAILED_REQUESTS_SCORED, RUN_WITHOUT_RESULTS

NAME: Final = "helm"
_SPEC, _STATE, _STATS, _PER_INSTANCE = "run_spec.json", "scenario_state.json", "stats.json", "per_instance_stats.json"
_FILES: Final = (_PER_INSTANCE, _SPEC, _STATE, _STATS, "scenario.json")

_MAIN_METRICS: Final = (
    *("chain_of_thought_correctness", "ifeval_strict_accuracy", "wildbench_score_rescaled", "omni_math_accuracy"),
    *("math_equiv_chain_of_thought", "math_equiv", "final_number_exact_match", "exact_match_indicator"),
    *("NDCG@10", "RR@10", "rouge_2", "bleu_4", "f1_score", "quasi_exact_match", "exact_match"),
)
"""Main metrics of the leaderboards of HELM; the first one that a run has is its main metric."""

_BOOKKEEPING: Final = re.compile(
    r"num_.*|max_num_.*|estimated_num_.*|finish_reason_.*|training_.*_cost|inference_.*runtime|batch_size"
    r"|prompt_truncated|max_prob|predicted_index|logprob|logprob_per_byte"
)
_BEST_OF: Final = re.compile(r"(?:quasi_)?(?:prefix_)?exact_match@(\d+)")
_SHARES: Final = re.compile(
    r"(?:quasi_)?(?:prefix_)?exact_match(?:@\d+|_indicator)?|final_number_exact_match|math_equiv.*"
)
_BETWEEN_0_AND_1: Final = re.compile(
    r"rouge_\w|bleu_\d|f1_score|(?:NDCG|RR)@\d+|\w*accuracy|\w*correctness|\w*_rescaled"
)
_LOWER_IS_BETTER: Final = re.compile(r".*toxic.*|bits_per_byte|perplexity|.*_bias|bias_.*|edit_similarity")
_BLOCKED: Final = re.compile(
    r"(?:Grok API error: |The )?(?:content|prompt) (?:blocked|violates)|content_filter|(?:Received )?refusal\b",
    re.IGNORECASE,
)
"""Beginning of errors, and of reasons why a completion ended, of requests that a provider refused."""
_DESCRIPTIVE: Final = ("name", "robustness", "fairness", "computed_on", "seed")
_OF_MODEL: Final = ("model=", "model_deployment=")
_SETTINGS: Final = (
    *("method", "model_deployment", "temperature", "max_tokens", "num_outputs"),
    *("max_train_instances", "num_train_trials", "max_eval_instances"),
)
_PERTURBED: Final = "perturbed"

Perturbation = dict[str, Any]
Key = tuple[str, str]


class Adapter(msgspec.Struct):
    """`adapter_spec`."""

    model: str | None = None
    model_deployment: str | None = None
    method: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    num_outputs: int | None = None
    max_train_instances: int | None = None
    num_train_trials: int | None = None
    max_eval_instances: int | None = None


class ScenarioSpec(msgspec.Struct):
    """`scenario_spec`."""

    class_name: str = ""
    args: dict[str, Any] | None = None


class RunSpec(msgspec.Struct):
    """`run_spec.json`."""

    adapter_spec: Adapter
    name: str = ""
    scenario_spec: ScenarioSpec | None = None


class StatName(msgspec.Struct, gc=False):
    """`name` of a statistic."""

    name: str
    split: str | None = None
    sub_split: str | None = None
    perturbation: Perturbation | None = None


class Stat(msgspec.Struct):
    """A statistic; without values, it has no mean."""

    name: StatName
    count: float = 0
    mean: float | None = None

    @property
    def value(self) -> float | None:
        """The mean; None if the statistic has no values."""
        return self.mean if self.count else None


class InstanceStats(msgspec.Struct):
    """An entry of `per_instance_stats.json`; an instance has several if several metrics were computed."""

    instance_id: str
    stats: list[Stat]
    train_trial_index: int = 0
    perturbation: Perturbation | None = None


class Text(msgspec.Struct, gc=False):
    """`input` of an instance."""

    text: str | None = None


class Instance(msgspec.Struct):
    """`instance` of a request."""

    id: str | None = None
    perturbation: Perturbation | None = None
    input: Text | str | None = None


class FinishReason(msgspec.Struct, gc=False):
    """`finish_reason` of a completion."""

    reason: Any = None


class Completion(msgspec.Struct, gc=False):
    """A completion, without its text."""

    finish_reason: FinishReason | None = None


class RequestResult(msgspec.Struct):
    """`result` of a request."""

    success: bool = True
    error: str | None = None
    completions: list[Completion] = []

    @property
    def ending(self) -> str:
        """How the request ended. Some clients of HELM only give a blocked prompt as the reason of the completions."""
        if not self.success:
            return "refused" if _BLOCKED.match(self.error or "") else "error"
        reasons = [str(completion.finish_reason.reason) for completion in self.completions if completion.finish_reason]
        return "refused" if reasons and all(map(_BLOCKED.match, reasons)) else "completed"


class RequestState(msgspec.Struct):
    """A request."""

    instance: Instance
    train_trial_index: int = 0
    result: RequestResult | None = None


class ScenarioState(msgspec.Struct):
    """`scenario_state.json`."""

    request_states: list[RequestState]


@dataclass(slots=True)
class Values:
    """Statistics by question and trial.

    `instances`: instance of each question, in the order of the file. `scores`: value of each question and trial, by
    metric and filter. `usage`: the same for tokens and time. `without_value`: metrics and filters of statistics without
    values.
    """

    instances: dict[str, str] = field(default_factory=dict)
    trials: set[int] = field(default_factory=set)
    scores: dict[Key, dict[tuple[str, int], float]] = field(default_factory=dict)
    usage: dict[str, dict[tuple[str, int], float]] = field(default_factory=dict)
    without_value: set[Key] = field(default_factory=set)

    def add(self, entry: InstanceStats) -> None:
        """Add the statistics of an instance."""
        question = question_of(entry.instance_id, entry.perturbation)
        self.instances[question] = entry.instance_id
        self.trials.add(entry.train_trial_index)
        for stat in entry.stats:
            if stat.value is None:
                self.without_value.add((stat.name.name, filter_of(stat.name)))
                continue
            if stat.name.name in _USAGE:
                values = self.usage.setdefault(stat.name.name, {})
            elif _BOOKKEEPING.fullmatch(stat.name.name):
                continue
            else:
                values = self.scores.setdefault((stat.name.name, filter_of(stat.name)), {})
            values[question, entry.train_trial_index] = stat.value

    def matrix(self, values: Mapping[tuple[str, int], float]) -> NDArray[np.float64]:
        """Values as an array of questions and trials. Raises LogError if the array would be too large."""
        uq.check_cells(len(self.instances), len(self.trials))
        row_of = {question: row for row, question in enumerate(self.instances)}
        column_of = {trial: column for column, trial in enumerate(sorted(self.trials))}
        matrix = np.full((len(row_of), len(column_of)), np.nan)
        for (question, trial), value in values.items():
            matrix[row_of[question], column_of[trial]] = value
        return matrix


_USAGE: Final = ("num_prompt_tokens", "num_output_tokens", "inference_runtime")


# ---------------------------------------------------------------- files


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each folder with its specification and statistics; files are recognized by their names."""
    folders = dict[str, dict[str, str]]()
    for path in files:
        if (name := uq.paths.name_of(path)) in _FILES:
            folders.setdefault(uq.paths.folder_of(path), {})[name] = path
    runs, problems, claimed = list[uq.Run](), list[tuple[str, uq.Message | str]](), set[str]()
    for folder, members in folders.items():
        if _SPEC not in members or len(members) == 1:
            continue
        if not members.keys() & {_PER_INSTANCE, _STATS}:
            problems.append((members[_SPEC], RUN_WITHOUT_RESULTS(tool="HELM", missing=[_PER_INSTANCE, _STATS])))
            continue
        ordered = tuple(members[name] for name in _FILES if name in members)
        runs.append(uq.Run(folder, ordered))
        claimed.update(ordered)
    return uq.Discovery(tuple(runs), tuple(path for path in files if path not in claimed), tuple(problems))


def parts(files: Sequence[str]) -> list[list[str]]:
    """The files of each run, which lie in one folder; files with other names than those of HELM stay alone."""
    groups = dict[str, list[str]]()
    for path in files:
        is_member = uq.paths.name_of(path) in _FILES
        groups.setdefault(uq.paths.folder_of(path) if is_member else path, []).append(path)
    return list(groups.values())


def read(run: uq.Run, *, with_resources: bool = False) -> Iterator[uq.TaskLog]:
    """The one task of the run. Raises LogError if a file of the run cannot be read."""
    path_of = {uq.paths.name_of(path): path for path in run.files}
    spec = _read_member(path_of, _SPEC, RunSpec)
    values = Values()
    if _PER_INSTANCE in path_of:
        for entry in _read_member(path_of, _PER_INSTANCE, list[InstanceStats]):
            values.add(entry)
    totals = _read_member(path_of, _STATS, list[Stat]) if _STATS in path_of else []
    states = _read_member(path_of, _STATE, ScenarioState).request_states if _STATE in path_of else []
    uq.check_cells(len(values.instances), len(values.scores), uq.MAX_SCORES)
    yield _task_log(spec, values, totals, states, run.files[0], with_resources=with_resources)


def _read_member(path_of: Mapping[str, str], name: str, kind: type[Any]) -> Any:
    try:
        content = content_of(path_of[name])
    except uq.LogError as error:
        raise uq.LogError(f"{name}: {error.message.text}") from error
    return decode(content, kind, whose=name)


# ---------------------------------------------------------------- names


def variant_of(perturbation: Perturbation | None) -> str:
    """Name of a perturbation with its settings, such as `typos prob=0.05`; empty for an original instance."""
    if not perturbation:
        return ""
    settings = [f"{name}={perturbation[name]}" for name in sorted(perturbation) if name not in _DESCRIPTIVE]
    return " ".join([str(perturbation.get("name")), *settings])


def question_of(instance: str, perturbation: Perturbation | None) -> str:
    """Identifier of a question: that of the instance, and the perturbation of a copy."""
    if not perturbation:
        return instance
    seed = perturbation.get("seed")
    return f"{instance} [{variant_of(perturbation)}{'' if seed is None else f' seed={seed}'}]"


def filter_of(name: StatName) -> str:
    """The split of a statistic, with the perturbation."""
    return ", ".join(filter(None, (name.split, name.sub_split, variant_of(name.perturbation)))) or "none"


def task_of(spec: RunSpec) -> str:
    """The scenario with its arguments and settings, without the model."""
    if not spec.name:
        scenario = spec.scenario_spec or ScenarioSpec("helm")
        arguments = ",".join(f"{name}={value}" for name, value in sorted((scenario.args or {}).items()))
        return ":".join(filter(None, (scenario.class_name.rpartition(".")[2], arguments)))
    scenario_name, _, arguments = spec.name.partition(":")
    kept = [argument for argument in arguments.split(",") if argument and not argument.startswith(_OF_MODEL)]
    return f"{scenario_name}:{','.join(kept)}" if kept else scenario_name


def _precedence(method: str | None) -> dict[str, int]:
    """Rank of the main metrics; the exact match is the main one of multiple choice."""
    is_choice = (method or "").startswith("multiple_choice")
    names = ("exact_match", *_MAIN_METRICS) if is_choice else _MAIN_METRICS
    return {name: -rank for rank, name in enumerate(reversed(names))}


# ---------------------------------------------------------------- task logs


def _task_log(
    spec: RunSpec,
    values: Values,
    totals: Sequence[Stat],
    states: Sequence[RequestState],
    path: str,
    *,
    with_resources: bool,
) -> uq.TaskLog:
    adapter = spec.adapter_spec
    rank_of = _precedence(adapter.method)
    keys = sorted(values.scores, key=lambda key: (rank_of.get(key[0], 1), key[1] != "test", "," in key[1]))
    reported = {
        (stat.name.name, filter_of(stat.name)): stat
        for stat in totals
        if not stat.name.perturbation or stat.name.perturbation.get("computed_on", _PERTURBED) == _PERTURBED
    }
    instances = list(values.instances.values())
    originals = len(set(instances))
    scores = [_scores(key, values, adapter, instances) for key in keys]
    is_sample = adapter.max_eval_instances is not None and originals >= adapter.max_eval_instances
    return uq.TaskLog(
        system=adapter.model or adapter.model_deployment or "unknown model",
        task=task_of(spec),
        source=uq.Source(path, NAME),
        questions=uq.Questions(
            tuple(values.instances),
            _hashes(values.instances, states),
            {"instance_id": _codes(instances)} if originals < len(instances) else {},
        ),
        data=(
            *scores,
            *_totals_alone(reported, values, rank_of),
        ),
        reported={key: uq.HarnessResult(stat.value) for key, stat in reported.items() if key in values.scores},
        facts=uq.RunMetadata(
            is_limited=is_sample,
            is_random_subset=is_sample,
            settings={name: value for name in _SETTINGS if (value := getattr(adapter, name)) is not None},
        ),
        higher_is_better={key[0]: False for key in keys if _LOWER_IS_BETTER.fullmatch(key[0])},
        messages=tuple(_messages(states, scores, reported)),
        resources=_resources(values, adapter) if with_resources else None,
        ended_by=_endings(values, states),
    )


def _messages(
    states: Sequence[RequestState], scores: Sequence[uq.Scores], reported: Mapping[Key, Stat]
) -> Iterator[uq.Message]:
    """Failed requests, and means that differ from those of HELM, which are means of the means of the trials."""
    if n_failed := sum(state.result is not None and not state.result.success for state in states):
        yield FAILED_REQUESTS_SCORED(tool="HELM", n_failed=n_failed, n_requests=len(states))
    for data in scores:
        if (total := reported.get((data.metric, data.filter))) is not None:
            trials = [column[np.isfinite(column)] for column in data.values.T]
            yield from differences(data.metric, [float(one.mean()) for one in trials if one.size], total.value, "HELM")


def _codes(instances: Sequence[str]) -> uq.MetadataField:
    code_of = {instance: code for code, instance in enumerate(dict.fromkeys(instances))}
    return uq.MetadataField(np.array([code_of[instance] for instance in instances]))


def _hashes(questions: Mapping[str, str], states: Sequence[RequestState]) -> tuple[str, ...]:
    """Hash of the text of each question; none if a text is unknown."""
    hash_of = dict[str, str]()
    for state in states:
        given = state.instance.input
        text = given.text if isinstance(given, Text) else given
        if text and state.instance.id:
            digest = blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
            hash_of[question_of(state.instance.id, state.instance.perturbation)] = digest
    return tuple(map(hash_of.__getitem__, questions)) if questions.keys() <= hash_of.keys() else ()


def _scores(key: Key, values: Values, adapter: Adapter, instances: Sequence[str]) -> uq.Scores:
    metric, filter_name = key
    matrix = values.matrix(values.scores[key])
    scored = matrix[np.isfinite(matrix)]
    is_share = bool(_SHARES.fullmatch(metric)) and bool(np.isin(scored, (0, 1)).all())
    is_bounded = is_share or bool(_BETWEEN_0_AND_1.fullmatch(metric) and scored.min() >= 0 and scored.max() <= 1)
    match = _BEST_OF.fullmatch(metric)
    n_outputs = min(int(match[1]), adapter.num_outputs or 1) if match else 1
    rows = [instance for instance, row in zip(instances, matrix, strict=True) if np.isfinite(row).any()]
    return uq.Scores(
        metric,
        filter_name,
        matrix,
        clusters=_codes(instances).codes if len(set(rows)) < len(rows) else None,
        levels=(0.0, 1.0) if is_share else None,
        logged_trials=max(n_outputs, matrix.shape[1]),
        reduction="mean" if matrix.shape[1] > 1 else None,
        bounds=(0.0, 1.0) if is_bounded else None,
        bounds_source="its name" if is_bounded and not is_share and scored.min() == scored.max() else None,
        event=f"pass@{n_outputs}" if n_outputs > 1 else None,
        # a question of another split is not a question whose score is missing
        is_complete=key not in values.without_value,
    )


def _totals_alone(
    reported: Mapping[Key, Stat], values: Values, rank_of: Mapping[str, int]
) -> Iterator[uq.AggregateScore]:
    """Totals of the main metrics if the run has no statistics of instances."""
    if values.instances:
        return
    keys = [key for key in reported if key[0] in rank_of and reported[key].value is not None]
    n_questions = {key[1]: stat.value for key, stat in reported.items() if key[0] == "num_instances"}
    for key in sorted(keys, key=lambda key: (rank_of[key[0]], key[1] != "test", "," in key[1])):
        reason, n = f"the run has no {_PER_INSTANCE}", question_count(n_questions.get(key[1]))
        yield uq.AggregateScore(*key, value=reported[key].value, n=n, reason=reason)


def _endings(values: Values, states: Sequence[RequestState]) -> uq.TrialEndings | None:
    """How the trials ended; None without requests. A trial with several requests ended like the first that failed."""
    ending_of = dict[tuple[str, int], str]()
    for state in states:
        trial = question_of(state.instance.id or "", state.instance.perturbation), state.train_trial_index
        is_known = trial[0] in values.instances and trial[1] in values.trials
        if is_known and state.result is not None and ending_of.get(trial, "completed") == "completed":
            ending_of[trial] = state.result.ending
    if not ending_of:
        return None
    return trial_endings(values.matrix({trial: uq.ending_code(ending) for trial, ending in ending_of.items()}))


def _resources(values: Values, adapter: Adapter) -> uq.Resources:
    tokens_in, tokens_out, seconds = (known_amounts(values.matrix(values.usage.get(name, {}))) for name in _USAGE)
    usage = uq.TokenUsage(adapter.model or "unknown model", input_tokens=tokens_in, output_tokens=tokens_out)
    return uq.Resources((usage,), total_time=seconds)
