"""Read the results file of a run, for all versions of lm-eval since 0.4.0."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

import harness_uq.plugin_api as uq
from harness_uq_lm_eval.json_access import Table, integer, items, loads, real, table, text
from harness_uq_lm_eval.messages import NO_RESULTS, PREDATES_VERSION_4
from harness_uq_lm_eval.read.system_names import model_arguments, system_name
from harness_uq_lm_eval.results_block import (
    BLOCK,
    entries_of,
    native_std_errors,
    native_values,
    stored_interval,
    why_not_resampled,
)

MetricKey = tuple[str, str]

_BYPASS = "bypass"
_STDERR = "_stderr"
_RUN_SETTINGS = ("limit", "random_seed", "numpy_seed", "torch_seed", "fewshot_seed", "gen_kwargs")
_TASK_SETTINGS = ("output_type", "repeats", "generation_kwargs")
_DEFAULT_AGGREGATIONS = {
    "f1": "f1",
    "mcc": "matthews_corrcoef",
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "bleu": "bleu",
    "chrf": "chrf",
    "chrf++": "chrf++",
    "ter": "ter",
}
_VERSION = re.compile(r"v?\d[\w.+!-]*")
_REGISTERED = re.compile(r"[\w+.-]+")
_FUNCTION_NAME = re.compile(r"\s*(?:@.*\n\s*)*def (\w+)|<function (?:\w+\.)*(\w+) at ")


class NoResultsError(uq.LogError):
    """The JSON document is not a results file of lm-eval."""


class Results:
    """Content of a results file. Raises LogError if the file cannot be read or does not contain lm-eval results."""

    def __init__(self, path: str, tree: Table | None = None) -> None:
        """Read the file, or use the content `tree` of a run that has not been written yet."""
        self.path = path
        self.repeated_keys: list[str] = []
        self._tree = load(path, self.repeated_keys) if tree is None else tree
        self._harness_errors = native_std_errors(self._tree)
        self._harness_values = native_values(self._tree)
        self._stored = entries_of(self._tree)
        self.system = system_name(self._tree)
        logged_version = text(self._tree.get("lm_eval_version"))  # an error message if lm-eval is not installed
        self.version = logged_version if logged_version and _VERSION.fullmatch(logged_version) else None

    @property
    def rows(self) -> tuple[str, ...]:
        """Tasks and groups, in the order of the file."""
        return tuple(table(self._tree, "results"))

    def is_group(self, name: str) -> bool:
        """Whether the row aggregates tasks and not questions."""
        return bool(self._children(name)) or name in table(self._tree, "groups")

    def leaves(self, group: str) -> tuple[str, ...]:
        """Tasks of a group and of all groups within it, each once."""
        return tuple(dict.fromkeys(self._walk(group, frozenset())))

    def _walk(self, name: str, above: frozenset[str]) -> Iterator[str]:
        children = self._children(name)
        if not children and above:
            yield name
        for child in children:
            if child not in above:
                yield from self._walk(child, above | {name})

    def _children(self, name: str) -> tuple[str, ...]:
        return tuple(str(child) for child in items(table(self._tree, "group_subtasks").get(name)))

    def reported(self, name: str) -> dict[MetricKey, uq.HarnessResult]:
        """The harness's numbers for a task or group by (metric, filter)."""
        row = {**table(self._tree, "groups", name), **table(self._tree, "results", name)}
        results: dict[MetricKey, uq.HarnessResult] = {}
        for key, value in row.items():
            metric, comma, filter_name = self._split(name, key)
            is_scalar = value is None or isinstance(value, bool | int | float | str)
            if not comma or metric.endswith(_STDERR) or not is_scalar or self.is_bypassed(name, metric):
                continue
            stderr = real(row.get(f"{metric}{_STDERR},{filter_name}"))
            std_error = self._harness_errors.get((name, metric, filter_name), stderr)
            n = self._group_n(name, key) if self.is_group(name) else self.n_questions(name)
            own_value = self._harness_values.get((name, metric, filter_name), real(value))
            results[metric, filter_name] = uq.HarnessResult(own_value, std_error, n)
        return results

    def _split(self, task: str, key: str) -> tuple[str, str, str]:
        """Metric, comma and filter in the key of a row; both names may contain commas, but the filters are known."""
        known = [name for name in self.filters(task) if key.endswith(f",{name}")]
        if not known:
            return key.rpartition(",") if "," in key else (key, "", "")
        name = max(known, key=len)
        return key[: -len(name) - 1], ",", name

    def is_bypassed(self, task: str, metric: str) -> bool:
        """Whether the metric's value is 999, which means that it was not scored: `--predict_only`, or `bypass`."""
        return _BYPASS in (metric, self.aggregation(task, metric))

    def n_questions(self, task: str) -> int | None:
        """Number of questions that the harness scored; None if it is not logged."""
        effective = integer(table(self._tree, "n-samples", task).get("effective"))
        return integer(table(self._tree, "results", task).get("sample_len")) if effective is None else effective

    def _group_n(self, group: str, key: str) -> int | None:
        counted = integer(table(self._tree, "results", group, "sample_count").get(key))
        if counted is not None:
            return counted
        sizes = [self.n_questions(leaf) for leaf in self.leaves(group) if key in table(self._tree, "results", leaf)]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None

    def aggregation(self, task: str, metric: str) -> str | None:
        """Name of the function that aggregates the values of the questions; None if it is not logged."""
        for entry in items(table(self._tree, "configs", task).get("metric_list")):
            if _name(table(entry).get("metric")) == metric:
                return _name(table(entry).get("aggregation")) or _DEFAULT_AGGREGATIONS.get(metric)
        return None

    def has_own_aggregation(self, task: str, metric: str) -> bool:
        """Whether the task defines the function itself, so that its name does not tell what it computes."""
        listed = map(table, items(table(self._tree, "configs", task).get("metric_list")))
        written = [text(entry.get("aggregation")) for entry in listed if _name(entry.get("metric")) == metric]
        return any(function is not None and not _REGISTERED.fullmatch(function) for function in written)

    def _aggregations(self, task: str) -> dict[str, str]:
        listed = items(table(self._tree, "configs", task).get("metric_list"))
        pairs = [(_name(table(entry).get("metric")), _name(table(entry).get("aggregation"))) for entry in listed]
        return {metric: function for metric, function in pairs if metric and function}

    def filters(self, task: str) -> tuple[str, ...]:
        """Names of the task's filters in order; only `none` if it has no filters."""
        listed = items(table(self._tree, "configs", task).get("filter_list"))
        return tuple(text(table(entry).get("name")) or "none" for entry in listed) or ("none",)

    def task_hash(self, task: str) -> str | None:
        """SHA-256 of the hashes of document, prompt and target of all rows of the samples; None if unknown."""
        return text(table(self._tree, "task_hashes").get(task))

    def repeats(self, task: str) -> int:
        """Number of trials per question."""
        return integer(table(self._tree, "configs", task).get("repeats")) or 1

    def trials(self, task: str) -> list[Table] | None:
        """Entries about the trials of this task that a live run recorded; None if there is no record."""
        recorded = table(self._tree, BLOCK).get("trials")
        if recorded is None:
            return None
        return [table(entry) for entry in items(recorded) if table(entry).get("task") == task]

    def stored_interval(self, task: str, key: MetricKey, value: float | None) -> uq.StoredInterval | None:
        """The interval that the block contains for this value of a metric and filter; None if there is none."""
        entry = self._stored.get((task, *key))
        return None if entry is None or value is None else stored_interval(entry, value)

    def why_not_resampled(self, task: str, key: MetricKey) -> str | None:
        """Why the live run could not compute a bootstrap interval of a metric and filter; None if it did not try."""
        return why_not_resampled(self._stored.get((task, *key), {}))

    def num_fewshot(self, task: str) -> int | None:
        """Number of few-shot examples of each question; None if unknown."""
        logged = integer(table(self._tree, "n-shot").get(task))
        return integer(table(self._tree, "configs", task).get("num_fewshot")) if logged is None else logged

    def has_fixed_examples(self, task: str) -> bool:
        """Whether all questions have the same few-shot examples (sampler `first_n`)."""
        return table(self._tree, "configs", task, "fewshot_config").get("sampler") == "first_n"

    def declared(self, task: str) -> uq.ClusterDeclaration | None:
        """The cluster field in the task's own metadata."""
        fields = table(self._tree, "configs", task, "metadata", "uq").get("cluster")
        cluster = "+".join(str(field) for field in items(fields)) or text(fields)
        return uq.ClusterDeclaration(cluster, "metadata.uq.cluster") if cluster else None

    def facts(self, task: str) -> uq.RunMetadata:
        """Metadata of the run."""
        n_all = integer(table(self._tree, "n-samples", task).get("original"))
        is_limited = table(self._tree, "config").get("limit") is not None
        return uq.RunMetadata(n_all=n_all, is_limited=is_limited, settings=self._settings(task))

    def has_choices(self, task: str, metrics: Collection[str]) -> bool:
        """Whether each request of a sample is a choice of its question; mutual information needs further requests."""
        is_choice = table(self._tree, "configs", task).get("output_type") == "multiple_choice"
        return is_choice and "acc_mutual_info" not in metrics

    def higher_is_better(self, task: str) -> dict[str, bool]:
        """The direction of each metric for which it is logged."""
        directions = table(self._tree, "higher_is_better", task)
        return {metric: value for metric, value in directions.items() if isinstance(value, bool)}

    def _settings(self, task: str) -> dict[str, object]:
        """Settings that are relevant to the statistics, without the paths that results files also contain."""
        run, config = table(self._tree, "config"), table(self._tree, "configs", task)
        settings: dict[str, object] = {key: run.get(key) for key in _RUN_SETTINGS if run.get(key) is not None}
        settings |= {key: config[key] for key in _TASK_SETTINGS if config.get(key) is not None}
        settings |= {
            "num_fewshot": self.num_fewshot(task),
            "task_hash": self.task_hash(task),
            "task_version": table(self._tree, "versions").get(task),
            "chat_template_sha": text(self._tree.get("chat_template_sha")),
            "system_instruction_sha": text(self._tree.get("system_instruction_sha")),
            "aggregation": self._aggregations(task),
            "metadata": self._metadata(task),
        }
        return {key: value for key, value in settings.items() if value not in (None, {})}

    def _metadata(self, task: str) -> dict[str, object]:
        """The task's own metadata, without the model's arguments, which lm-eval adds to it."""
        foreign = {*model_arguments(self._tree), "config_source"}
        return {k: v for k, v in table(self._tree, "configs", task, "metadata").items() if k not in foreign}

    def start(self) -> str | None:
        """Start time of the run, ISO 8601 in UTC; None if it is not logged."""
        date = real(self._tree.get("date"))
        try:
            return None if date is None else datetime.fromtimestamp(date, UTC).replace(tzinfo=None).isoformat()
        except (ValueError, OverflowError, OSError):  # outside the range of years
            return None

    def task_of_file(self, stem: str) -> str | None:
        """Task of a samples file named `<model_args>_<task>` (0.4.0 to 0.4.2); None if it belongs to another run.

        Special characters are ignored, because versions differ in how they replace them.
        """
        arguments = text(table(self._tree, "config").get("model_args")) or ""
        plain = partial(re.sub, r"[\W_]+", "_")
        return next((task for task in self.rows if plain(f"{arguments}_{task}") == plain(stem)), None)


def load(path: str, repeated: list[str] | None = None) -> Table:
    """The content of the results file at `path`; `repeated` receives keys that occur twice in one object. Raises
    LogError if it cannot be read, or as `parsed`.
    """
    try:
        return _checked(loads(uq.paths.read_bytes(path), repeated))
    except OSError as error:
        raise uq.LogError(uq.FILE_UNREADABLE(reason=str(error.strerror))) from None
    except ValueError as error:
        raise uq.LogError(uq.INVALID_JSON(reason=str(error))) from None


def parsed(content: bytes) -> Table:
    """The content of a results file without any replacement, so that it can be written again. Raises NoResultsError if
    it is valid JSON, but not a results file, and LogError if it is not JSON, or was written by lm-eval before 0.4.
    """
    try:
        return _checked(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise uq.LogError(uq.INVALID_JSON(reason=str(error))) from None


def is_results(tree: object) -> bool:
    """Whether an object is the content of a results file of lm-eval 0.4 or later."""
    return isinstance(tree, Mapping) and all(isinstance(tree.get(key), Mapping) for key in ("results", "configs"))


def _checked(tree: object) -> Table:
    if is_results(tree):
        return table(tree)
    if isinstance(tree, Mapping) and _predates_version_4(tree):
        raise uq.LogError(PREDATES_VERSION_4())
    raise NoResultsError(NO_RESULTS())


def _predates_version_4(tree: Mapping[object, object]) -> bool:
    """Whether lm-eval before 0.4 wrote the content. Other tools, such as lighteval, write `results` and `versions`."""
    config = tree.get("config")
    return {"results", "versions"} <= tree.keys() and isinstance(config, Mapping) and "model" in config


def _name(function: object) -> str | None:
    """Name of a metric or aggregation; a function is logged as its source or, earlier, as its address."""
    source = text(function)
    match = _FUNCTION_NAME.match(source) if source else None
    return (match[1] or match[2]) if match else source
