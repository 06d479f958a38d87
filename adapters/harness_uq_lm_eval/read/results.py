"""The results file of a run, whichever version of lm-eval wrote it."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from harness_uq import Declaration, LogError, Reported, RunFacts
from harness_uq.logs.places import read_bytes
from harness_uq_lm_eval.block import BLOCK, harness_std_errors
from harness_uq_lm_eval.jsontree import Table, integer, items, loads, real, table, text
from harness_uq_lm_eval.read.systems import model_arguments, system_name

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
_REGISTERED = re.compile(r"[\w+.-]+")
_FUNCTION_NAME = re.compile(r"\s*(?:@.*\n\s*)*def (\w+)|<function (?:\w+\.)*(\w+) at ")


class NoResultsError(LogError):
    """A JSON document that is something else."""


class Results:
    """What the results file says of the run and of each task.

    Raises
    ------
    LogError : if the file cannot be read or holds no lm-eval results
    """

    def __init__(self, path: str, tree: Table | None = None) -> None:
        """Read the file, or take its content from a run that has not been written yet."""
        self.path = path
        self.repeated_keys: list[str] = []
        self._tree = load(path, self.repeated_keys) if tree is None else tree
        self._harness_errors = harness_std_errors(self._tree)
        self.system = system_name(self._tree)
        self.version = text(self._tree.get("lm_eval_version"))

    @property
    def rows(self) -> tuple[str, ...]:
        """Tasks and groups, in the order of the file."""
        return tuple(table(self._tree, "results"))

    def is_group(self, name: str) -> bool:
        """Whether the row aggregates tasks rather than questions."""
        return bool(self._children(name)) or name in table(self._tree, "groups")

    def leaves(self, group: str) -> tuple[str, ...]:
        """Tasks under a group, those of groups within it included, each once."""
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

    def reported(self, name: str) -> dict[MetricKey, Reported]:
        """The harness's numbers for a task or group by (metric, filter)."""
        row = {**table(self._tree, "groups", name), **table(self._tree, "results", name)}
        found: dict[MetricKey, Reported] = {}
        for key, value in row.items():
            metric, comma, filter_name = self._split(name, key)
            if not comma or metric.endswith(_STDERR) or not _is_scalar(value) or self.is_bypassed(name, metric):
                continue
            written = real(row.get(f"{metric}{_STDERR},{filter_name}"))
            std_error = self._harness_errors.get((name, metric, filter_name), written)
            n = self._group_n(name, key) if self.is_group(name) else self.n_questions(name)
            found[metric, filter_name] = Reported(real(value), std_error, n)
        return found

    def _split(self, task: str, key: str) -> tuple[str, str, str]:
        """Metric, comma and filter of a row's key; the names may hold commas, and the task's filters are known."""
        known = [name for name in self.filters(task) if key.endswith(f",{name}")]
        if not known:
            return key.rpartition(",") if "," in key else (key, "", "")
        name = max(known, key=len)
        return key[: -len(name) - 1], ",", name

    def is_bypassed(self, task: str, metric: str) -> bool:
        """Whether the metric's value is 999, which is no score: `--predict_only`, or aggregation `bypass`."""
        return _BYPASS in (metric, self.aggregation(task, metric))

    def n_questions(self, task: str) -> int | None:
        """Questions that the harness scored, None where it does not say."""
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
        """Name of the function that makes the metric of the questions' values, None where it is not logged."""
        for entry in items(table(self._tree, "configs", task).get("metric_list")):
            if _name(table(entry).get("metric")) == metric:
                return _name(table(entry).get("aggregation")) or _DEFAULT_AGGREGATIONS.get(metric)
        return None

    def has_own_aggregation(self, task: str, metric: str) -> bool:
        """Whether the task brings the function, which then is known by what it gives and not by its name."""
        listed = map(table, items(table(self._tree, "configs", task).get("metric_list")))
        written = [text(entry.get("aggregation")) for entry in listed if _name(entry.get("metric")) == metric]
        return any(function is not None and not _REGISTERED.fullmatch(function) for function in written)

    def _aggregations(self, task: str) -> dict[str, str]:
        listed = items(table(self._tree, "configs", task).get("metric_list"))
        pairs = [(_name(table(entry).get("metric")), _name(table(entry).get("aggregation"))) for entry in listed]
        return {metric: function for metric, function in pairs if metric and function}

    def filters(self, task: str) -> tuple[str, ...]:
        """Names of the task's filters in order; `none` alone where it has none."""
        listed = items(table(self._tree, "configs", task).get("filter_list"))
        return tuple(text(table(entry).get("name")) or "none" for entry in listed) or ("none",)

    def task_hash(self, task: str) -> str | None:
        """SHA-256 of the hashes of document, prompt and target of every row of the samples, None where unknown."""
        return text(table(self._tree, "task_hashes").get(task))

    def repeats(self, task: str) -> int:
        """Trials a question."""
        return integer(table(self._tree, "configs", task).get("repeats")) or 1

    def trials(self, task: str) -> list[Table] | None:
        """What a live run recorded of the trials of this task, None where it recorded nothing."""
        recorded = table(self._tree, BLOCK).get("trials")
        if recorded is None:
            return None
        return [table(entry) for entry in items(recorded) if table(entry).get("task") == task]

    def num_fewshot(self, task: str) -> int | None:
        """Examples in front of each question, None where unknown."""
        logged = integer(table(self._tree, "n-shot").get(task))
        return integer(table(self._tree, "configs", task).get("num_fewshot")) if logged is None else logged

    def has_fixed_examples(self, task: str) -> bool:
        """Whether every question has the same examples in front (sampler `first_n`)."""
        return table(self._tree, "configs", task, "fewshot_config").get("sampler") == "first_n"

    def declared(self, task: str) -> Declaration | None:
        """The cluster field that the task's own metadata names."""
        named = table(self._tree, "configs", task, "metadata", "uq").get("cluster")
        cluster = "+".join(str(part) for part in items(named)) or text(named)
        return Declaration(cluster, "metadata.uq.cluster") if cluster else None

    def facts(self, task: str) -> RunFacts:
        """What the file says of the run."""
        n_all = integer(table(self._tree, "n-samples", task).get("original"))
        is_limited = table(self._tree, "config").get("limit") is not None
        return RunFacts(n_all=n_all, is_limited=is_limited, settings=self._settings(task))

    def higher_is_better(self, task: str) -> dict[str, bool]:
        """The direction of each metric of which the file says it."""
        said = table(self._tree, "higher_is_better", task)
        return {metric: value for metric, value in said.items() if isinstance(value, bool)}

    def _settings(self, task: str) -> dict[str, object]:
        """Settings that bear on the statistics; none of the paths that a results file also holds."""
        run, own = table(self._tree, "config"), table(self._tree, "configs", task)
        settings: dict[str, object] = {key: run.get(key) for key in _RUN_SETTINGS if run.get(key) is not None}
        settings |= {key: own[key] for key in _TASK_SETTINGS if own.get(key) is not None}
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
        """The task's own metadata: lm-eval mixes the model's arguments into it."""
        foreign = {*model_arguments(self._tree), "config_source"}
        return {k: v for k, v in table(self._tree, "configs", task, "metadata").items() if k not in foreign}

    def start(self) -> str | None:
        """When the run began, ISO 8601 in UTC, None where it is not logged."""
        date = real(self._tree.get("date"))
        try:
            return None if date is None else datetime.fromtimestamp(date, UTC).replace(tzinfo=None).isoformat()
        except (ValueError, OverflowError, OSError):  # in no year
            return None

    def task_of_file(self, stem: str) -> str | None:
        """Task of a samples file named `<model_args>_<task>` (0.4.0 to 0.4.2), None where it is another run's.

        Versions differ in which characters of the arguments they replace, and by what.
        """
        arguments = text(table(self._tree, "config").get("model_args")) or ""
        return next((task for task in self.rows if _plain(f"{arguments}_{task}") == _plain(stem)), None)


def load(path: str, repeated: list[str] | None = None) -> Table:
    """The content of the results file at `path`; `repeated` takes keys that come twice in one object.

    Raises
    ------
    LogError : if it cannot be read, or as `parsed`
    """
    try:
        return _checked(loads(read_bytes(path), repeated))
    except OSError as error:
        raise LogError(f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise LogError(f"no valid JSON, perhaps cut off: {error}") from None


def parsed(content: bytes) -> Table:
    """What a results file says, to be written again: nothing in it is replaced.

    Raises
    ------
    NoResultsError : if it is valid JSON of another kind
    LogError : if it is no JSON, or was written by lm-eval before 0.4
    """
    try:
        return _checked(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise LogError(f"no valid JSON, perhaps cut off: {error}") from None


def _checked(tree: object) -> Table:
    if is_results(tree):
        return table(tree)
    if isinstance(tree, Mapping) and {"results", "versions"} <= tree.keys():
        raise LogError("written by lm-eval before 0.4, which is not read")
    raise NoResultsError("holds no lm-eval results")


def is_results(tree: object) -> bool:
    """Whether a JSON document is a results file of lm-eval 0.4 or later."""
    return isinstance(tree, Mapping) and all(isinstance(tree.get(key), Mapping) for key in ("results", "configs"))


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _name(function: object) -> str | None:
    """Name of a metric or aggregation; a function is logged as its source or, earlier, as its address."""
    written = text(function)
    found = _FUNCTION_NAME.match(written) if written else None
    return (found[1] or found[2]) if found else written


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name)
