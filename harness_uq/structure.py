"""Facts about the structure of a task's scores: clusters, trials and score type, each with its evidence.

Clusters come from the first source that names them: the user, the task itself, the catalogue of known tasks,
a plugin, or heuristics on the documents' fields. Heuristics act by themselves only on fields whose name or
repeated text says that questions share material, and only with 20 clusters or more; otherwise they hint.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from harness_uq.data import CandidateField, Classifications, Declaration, IntArray, Records, Scores, TaskLog
from harness_uq.errors import StructureError

ScoreType = Literal["binary", "graded", "bounded", "real", "record"]

PROMPT_PREFIX = "prompt_prefix"
MIN_AUTOMATIC_CLUSTERS = 20

_CLUSTER_NAME = re.compile(
    r"(^|[._ ])(passage|context|ctx|article|story|paragraph|document|doc|section|dialog|dialogue|conversation|title"
    r"|link|image|video|narrative|premise|seed|seed_question|template|question_index|decision_question|scenario)"
    r"(_?(id|hash|idx|index|key|name|str))?$",
    re.IGNORECASE,
)
_NEVER_A_CLUSTER = re.compile(
    r"(answer|label|choice|option|target|gold|solution|subject|category|topic|lang|language|level|difficulty|split"
    r"|source|type|domain|instruction|prompt_id|seed_number)",
    re.IGNORECASE,
)

# Per-question ranges of metrics that the harnesses ship; a value outside the range voids the entry.
_KNOWN_RANGES: tuple[tuple[str, tuple[float, float]], ...] = (
    (r"acc|acc_norm|acc_bytes|acc_mutual_info|acc_all|acc_greedy|em|exact_match|exact|f1|mc1|mc2|contains", (0.0, 1.0)),
    (
        r"pass@\d+|pass_at_\d+|pass_k_\d+|(prompt|inst)_level_(strict|loose)_acc|bleu_acc|rouge[12L]_acc|pct_stereotype",
        (0.0, 1.0),
    ),
    (r"rouge[12L]|rouge[12L]_max|bleu_max", (0.0, 100.0)),
    (r"brier_score", (0.0, 2.0)),
)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What is known of the tasks whose names match `pattern` (a regular expression, full match).

    Attributes
    ----------
    cluster_fields : alternatives in order of preference; `a+b` is a composite key, `prompt_prefix` the text that
        opens the prompt; empty where questions are known to be independent
    strata : fields that are categories of interest, never clusters
    item_fields : fields that identify an item across the tasks of a group, best first
    note : evidence, one line
    verified : the field was seen in the task's own definition, not only in the data set's public schema
    """

    pattern: str
    cluster_fields: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    note: str = ""
    verified: bool = False
    item_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """One finding and where it came from.

    Attributes
    ----------
    name : `clusters`, `trials`, `score type`…
    value : the finding in words
    evidence : its source in words
    """

    name: str
    value: str
    evidence: str


@dataclass(frozen=True, slots=True)
class StructureOptions:
    """What the user says about the structure.

    Attributes
    ----------
    cluster : field for every task, `none` to switch clusters off, None or `auto` to detect
    cluster_by_task : field, `none` or `auto` by task name; stronger than `cluster`
    ranges : (low, high) by metric name
    """

    cluster: str | None = None
    cluster_by_task: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def cluster_of(self, task: str) -> str | None:
        """The field the user wants for `task`, None where the user left it open."""
        wanted = self.cluster_by_task.get(task, self.cluster)
        return None if wanted == "auto" else wanted

    def check_names(self, tasks: Iterable[str], metrics: Iterable[str]) -> None:
        """Make sure that the tasks and metrics named are among those of the logs.

        Raises
        ------
        StructureError : if a name is not

        >>> StructureOptions.parse(["dorp=passage"]).check_names(["drop", "squad"], ["f1"])
        Traceback (most recent call last):
        harness_uq.errors.StructureError: no task is called 'dorp'; there are drop, squad
        """
        for kind, named, known in (
            ("task", self.cluster_by_task, sorted(set(tasks))),
            ("metric", self.ranges, sorted(set(metrics))),
        ):
            if unknown := [name for name in named if name not in known]:
                raise StructureError(f"no {kind} is called {unknown[0]!r}; there are {', '.join(known)}")

    @classmethod
    def parse(
        cls, clusters: Iterable[str], ranges: Mapping[str, tuple[float, float]] | None = None
    ) -> "StructureOptions":
        """Options from `FIELD`, `TASK=FIELD`, `none` and `auto`; of several for every task the last counts.

        >>> StructureOptions.parse(["passage", "drop=none"]).cluster_of("drop")
        'none'
        """
        named = list(clusters)
        general = [item for item in named if "=" not in item]
        by_task = dict(item.rsplit("=", 1) for item in named if "=" in item)
        return cls(general[-1] if general else None, by_task, ranges or {})


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Cluster labels of a task's questions.

    Attributes
    ----------
    key : name of the field, None where questions count as independent
    codes : int (n_questions,), None where there is no key; a question without a value is its own cluster
    fact : the finding with its evidence
    hints, warnings : for the report
    """

    key: str | None
    codes: IntArray | None
    fact: Fact
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """Structure of the data of one metric.

    Attributes
    ----------
    score_type : `binary`, `graded`, `bounded`, `real`, or `record` where the metric is no average of scores
    bounds : (low, high) of a score; None for `real` and `record`
    n_questions, max_trials, n_cells : scored questions, most trials a question, scored cells
    n_clusters, cluster_key : None where questions count as independent
    facts : findings with their evidence
    hints, warnings : for the report
    """

    score_type: ScoreType
    bounds: tuple[float, float] | None
    n_questions: int
    max_trials: int
    n_cells: int
    n_clusters: int | None
    cluster_key: str | None
    facts: tuple[Fact, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


# ---------------------------------------------------------------- clusters


def find_clusters(
    log: TaskLog,
    options: StructureOptions,
    *,
    catalogue: Sequence[CatalogueEntry] = (),
    suggestions: Iterable[str] = (),
) -> Clusters:
    """Cluster labels of the task's questions, from the strongest source that names a field it has.

    Parameters
    ----------
    log : the task
    options : what the user says
    catalogue : known tasks; the first matching pattern counts
    suggestions : fields that plugins propose, best first

    Raises
    ------
    StructureError : if the user names a field that this task's questions do not have
    """
    if (wanted := options.cluster_of(log.task)) is not None:
        return _from_user(log, wanted)
    if log.declared is not None and (found := _from_declaration(log, log.declared)):
        return found
    entry = next((e for e in catalogue if re.fullmatch(e.pattern, log.task)), None)
    if entry is not None and (found := _from_catalogue(log, entry)):
        return found
    for name in suggestions:
        if (candidate := _candidate(log, name)) is not None:
            return _labelled(name, candidate, "suggested by a plugin")
    return _from_heuristics(log, entry)


def _from_user(log: TaskLog, wanted: str) -> Clusters:
    if wanted == "none":
        return _independent("the user says so (--cluster none)")
    candidate = _candidate(log, wanted)
    if candidate is None:
        raise StructureError(f"task {log.task!r} has no field {wanted!r} to cluster by; its fields are {_fields(log)}")
    return _labelled(wanted, candidate, "named by the user (--cluster)")


def _from_declaration(log: TaskLog, declared: Declaration) -> Clusters | None:
    name, origin = declared.cluster, declared.origin
    if name == "none":
        return _independent(f"declared in the task ({origin})")
    candidate = _candidate(log, name)
    return None if candidate is None else _labelled(name, candidate, f"declared in the task ({origin})")


def _from_catalogue(log: TaskLog, entry: CatalogueEntry) -> Clusters | None:
    for name in entry.cluster_fields:
        candidate = _candidate(log, name)
        if candidate is not None and candidate.n_distinct < len(log.questions):
            return _labelled(name, candidate, f"catalogue of known tasks: {entry.note or entry.pattern}")
    return None


def _from_heuristics(log: TaskLog, entry: CatalogueEntry | None) -> Clusters:
    named = {
        name: candidate
        for name, candidate in _all_candidates(log).items()
        if _looks_like_a_cluster(name, candidate) and not (entry and name in entry.strata)
    }
    strong = {name: c for name, c in named.items() if c.n_distinct >= MIN_AUTOMATIC_CLUSTERS}
    hints = _hints({name: c for name, c in named.items() if name not in strong})
    if not strong:
        return _independent("no field says that questions share material", hints)
    name = _coarsest(strong)
    evidence = "repeated text" if strong[name].is_text or name == PROMPT_PREFIX else "name of the field"
    return _labelled(name, strong[name], f"heuristic: {evidence}, {strong[name].n_distinct} values")


def _looks_like_a_cluster(name: str, candidate: CandidateField) -> bool:
    n = len(candidate.codes) - candidate.n_missing
    distinct = candidate.n_distinct
    if _NEVER_A_CLUSTER.search(name) or distinct < 2 or n < len(candidate.codes) / 2:
        return False
    if candidate.is_text or name == PROMPT_PREFIX:
        return 1 - distinct / n >= 0.05
    return bool(_CLUSTER_NAME.search(name)) and distinct / n <= 0.98


def _coarsest(candidates: Mapping[str, CandidateField]) -> str:
    """The field with the fewest values among those that nest the most finely grained one."""
    finest = max(candidates, key=lambda name: candidates[name].n_distinct)
    nesting = [name for name, c in candidates.items() if _nests(c.codes, candidates[finest].codes)]
    return min(nesting, key=lambda name: (candidates[name].n_distinct, candidates[name].is_text, name))


def _nests(outer: IntArray, inner: IntArray) -> bool:
    pairs = np.unique(np.stack([inner, outer]), axis=1).shape[1]
    return bool(pairs == len(np.unique(inner)))


def _hints(candidates: Mapping[str, CandidateField]) -> tuple[str, ...]:
    """One hint for all fields; of fields that group alike the shortest name stands for all."""
    by_codes: dict[bytes, str] = {}
    for name in sorted(candidates, key=lambda name: (name == PROMPT_PREFIX, len(name), name)):
        by_codes.setdefault(np.unique(candidates[name].codes, return_inverse=True)[1].tobytes(), name)
    if not by_codes:
        return ()
    fields = ", ".join(f"{name} ({candidates[name].n_distinct} groups)" for name in by_codes.values())
    first = next(iter(by_codes.values()))
    return (f"fields that group the questions: {fields}; where such groups share material, say --cluster {first}",)


def _independent(evidence: str, hints: tuple[str, ...] = ()) -> Clusters:
    return Clusters(None, None, Fact("clusters", "questions count as independent", evidence), hints)


def _labelled(name: str, candidate: CandidateField, evidence: str) -> Clusters:
    codes = candidate.codes
    missing = codes < 0
    warnings: tuple[str, ...] = ()
    if missing.any():
        codes = np.where(missing, codes.max(initial=-1) + 1 + np.cumsum(missing), codes)
        n = int(missing.sum())
        warnings = (f"cluster field {name!r} is missing on {n} of {len(codes)} questions; each counts as its own",)
    _, codes = np.unique(codes, return_inverse=True)
    if codes.max(initial=-1) + 1 == len(codes):
        return _independent(f"every question has a {name!r} of its own ({evidence})")
    fact = Fact("clusters", f"{codes.max() + 1} by {name}", evidence)
    return Clusters(name, codes.astype(np.int64), fact, warnings=warnings)


def _candidate(log: TaskLog, name: str) -> CandidateField | None:
    """The field `name`; `a+b` combines two, and `doc.` or `metadata.` in front may be left out."""
    candidates = _all_candidates(log)
    parts = []
    for part in name.split("+"):
        bare = part.strip().removeprefix("doc.").removeprefix("metadata.")
        if bare not in candidates:
            return None
        parts.append(candidates[bare])
    if len(parts) == 1:
        return parts[0]
    table = np.stack([part.codes for part in parts], axis=1)
    _, codes = np.unique(table, axis=0, return_inverse=True)
    return CandidateField(np.where((table < 0).any(axis=1), -1, codes.ravel()), any(p.is_text for p in parts))


def _all_candidates(log: TaskLog) -> dict[str, CandidateField]:
    candidates = dict(log.questions.fields)
    if log.questions.prompt_prefix is not None:
        candidates[PROMPT_PREFIX] = log.questions.prompt_prefix
    return candidates


def _fields(log: TaskLog) -> str:
    return ", ".join(sorted(_all_candidates(log))) or "unknown (the log holds no documents)"


# ---------------------------------------------------------------- score type and trials


def detect(data: Scores | Classifications | Records, clusters: Clusters, options: StructureOptions) -> Structure:
    """Structure of the data of one metric, given the clusters of its task's questions."""
    scored = data.is_scored
    codes = clusters.codes[scored] if clusters.codes is not None else data.clusters
    n_clusters = None if codes is None else len(np.unique(codes))
    score_type, bounds, fact = score_type_of(data, options.ranges)
    cells = _cells(data)[scored]
    max_trials = int(cells.sum(axis=1).max(initial=0))
    key, cluster_fact = clusters.key, clusters.fact
    if clusters.codes is None and n_clusters is not None:
        key, cluster_fact = "cluster", Fact("clusters", str(n_clusters), "given with the scores")
    facts = [cluster_fact, fact, Fact("trials", _trials(max_trials), "the log")]
    hints = clusters.hints
    if score_type == "real" and isinstance(data, Scores):
        hints += (f"the range of {data.metric!r} is unknown; --range {data.metric}=LO,HI gives a bounded interval",)
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=int(scored.sum()),
        max_trials=max_trials,
        n_cells=int(cells.sum()),
        n_clusters=n_clusters,
        cluster_key=key if n_clusters is not None else None,
        facts=tuple(facts),
        hints=hints,
        warnings=clusters.warnings,
    )


def _trials(n: int) -> str:
    return f"{n} trial{'s' if n != 1 else ''} a question"


def _cells(data: Scores | Classifications | Records) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    if isinstance(data, Scores):
        return np.isfinite(data.values)
    if isinstance(data, Classifications):
        return data.predictions >= 0
    return data.is_scored[:, None]


def score_type_of(
    data: Scores | Classifications | Records, ranges: Mapping[str, tuple[float, float]]
) -> tuple[ScoreType, tuple[float, float] | None, Fact]:
    """Score type and bounds: the user's range > the table of known metrics > declared levels > all values 0 or 1."""
    if not isinstance(data, Scores):
        return "record", None, Fact("score type", "not an average of scores", "kind of the metric")
    values = data.values[np.isfinite(data.values)]
    if data.metric in ranges:
        bounds = ranges[data.metric]
        _check_range(data.metric, values, bounds)
        return _bounded_or_binary(values, bounds, "named by the user (--range)")
    if data.levels is not None:
        bounds = (min(data.levels), max(data.levels))
        if set(np.unique(values)) <= {0.0, 1.0} and bounds == (0.0, 1.0):
            return "binary", bounds, Fact("score type", "binary", "levels declared by the harness, all 0 or 1")
        return "graded", bounds, Fact("score type", f"graded {data.levels}", "levels declared by the harness")
    named = (data.metric, data.reduction or "")
    known = next((r for pattern, r in _KNOWN_RANGES if any(re.fullmatch(pattern, name) for name in named)), None)
    if known is not None and values.size and known[0] <= values.min() and values.max() <= known[1]:
        return _bounded_or_binary(values, known, "table of known metrics")
    if values.size and np.isin(values, (0.0, 1.0)).all():
        return "binary", (0.0, 1.0), Fact("score type", "binary", "all values are 0 or 1")
    return "real", None, Fact("score type", "unbounded", "no range is known")


def _bounded_or_binary(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float], evidence: str
) -> tuple[ScoreType, tuple[float, float], Fact]:
    if bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return "binary", bounds, Fact("score type", "binary", f"{evidence}; all values are 0 or 1")
    return "bounded", bounds, Fact("score type", f"bounded to [{bounds[0]:g}, {bounds[1]:g}]", evidence)


def _check_range(
    metric: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float]
) -> None:
    low, high = bounds
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise StructureError(f"--range {metric}={low:g},{high:g} excludes a logged value: {outside[0]:g}")
