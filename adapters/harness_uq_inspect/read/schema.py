"""The parts of an Inspect AI log that are relevant to the scores, as msgspec types; all other parts are not decoded.

Field names are Inspect's own. Fields whose type differs between versions have type `object`.
"""

import json
import re
from collections.abc import Collection, Iterable
from mmap import mmap
from typing import Final, TypeAlias, TypeVar, cast

import msgspec

from harness_uq.plugin_api import LogError

Json: TypeAlias = dict[str, object]
Value: TypeAlias = "bool | int | float | str | list[object] | dict[str, object] | None"

Raw: TypeAlias = bytes | bytearray | mmap
Decoded = TypeVar("Decoded")
STOP_WHEN: Final = "harness_uq.stop_when"
_MAX_DIGITS: Final = 4300  # Python's limit for the conversion of text to an integer
_MOST_CHECKED: Final = 64 << 20  # bytes in which repeated names are searched, in about one second
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Dataset(msgspec.Struct):
    """`eval.dataset`."""

    samples: int | None = None
    sample_ids: list[int | str] | None = None
    shuffled: bool | None = None


class Config(msgspec.Struct):
    """`eval.config`."""

    limit: object = None
    epochs: int | None = None
    epochs_reducer: list[str] | None = None
    sample_id: object = None
    sample_shuffle: object = None


class Scorer(msgspec.Struct):
    """One of `eval.scorers`."""

    name: object = None
    metrics: object = None
    options: object = None


class Headline(msgspec.Struct):
    """`results.headline`, and `eval.headline_metric`, which the task declared."""

    scorer: str | None = None
    score: str | None = None
    metric: str | None = None
    reducer: str | None = None


class Spec(msgspec.Struct):
    """`eval`."""

    task: str
    model: str
    created: str | None = None
    task_id: str | None = None
    eval_id: str | None = None
    task_version: object = None
    task_args: Json | None = None
    task_args_passed: Json | None = None
    dataset: Dataset = msgspec.field(default_factory=Dataset)
    config: Config = msgspec.field(default_factory=Config)
    model_generate_config: Json | None = None
    model_args: Json | None = None
    solver: str | None = None
    metadata: Json | None = None
    scorers: list[Scorer] | None = None
    model_roles: object = None
    metrics: object = None
    packages: dict[str, str] | None = None
    headline_metric: Headline | None = None


class Plan(msgspec.Struct):
    """`plan`."""

    config: Json | None = None


class Metric(msgspec.Struct):
    """One of `results.scores[].metrics`; older logs call the parameters `options`."""

    name: str
    group: str | None = None
    value: float | None = None
    params: Json | None = None
    options: Json | None = None
    metadata: Json | None = None

    @property
    def bare_name(self) -> str:
        """The name without its package."""
        return self.name.rpartition("/")[2]

    @property
    def parameters(self) -> Json:
        """The parameters that the task passed; a function is recorded by its name alone."""
        return self.params or self.options or {}


class ScoreTotals(msgspec.Struct):
    """One of `results.scores`: the metrics of one score under one reducer."""

    name: str
    scorer: str | None = None
    reducer: str | None = None
    scored_samples: int | None = None
    metrics: dict[str, Metric] = {}


class EarlyStopping(msgspec.Struct):
    """`results.early_stopping`."""

    manager: str = "unnamed"
    early_stops: list[object] = []
    metadata: Json | None = None

    @property
    def is_anytime(self) -> bool:
        """Whether the rule was `stop_when(valid="anytime")`."""
        rule = (self.metadata or {}).get("rule")
        return self.manager == STOP_WHEN and isinstance(rule, dict) and rule.get("valid") == "anytime"

    @property
    def clusters(self) -> list[int] | None:
        """Cluster code of each planned question, in scheduled order, if `stop_when` logged them."""
        codes = (self.metadata or {}).get("clusters") if self.is_anytime else None
        if not isinstance(codes, list) or not all(isinstance(code, int) and 0 <= code < len(codes) for code in codes):
            return None
        return cast(list[int], codes)

    @property
    def cluster_key(self) -> str | None:
        """The metadata field that defines these clusters."""
        key = (self.metadata or {}).get("cluster") if self.clusters is not None else None
        return key if isinstance(key, str) else None


class Results(msgspec.Struct):
    """`results`."""

    total_samples: int = 0
    completed_samples: int = 0
    scores: list[ScoreTotals] = []
    early_stopping: EarlyStopping | None = None
    metadata: Json | None = None
    headline: Headline | None = None


class Header(msgspec.Struct):
    """A log without its samples."""

    version: int
    eval: Spec
    status: str = "started"
    plan: Plan | None = None
    results: Results | None = None
    invalidated: bool = False


class Provenance(msgspec.Struct):
    """Who edited a score."""

    author: str = "unknown"


class ScoreEdit(msgspec.Struct):
    """One of the states of an edited score; the original score has no provenance."""

    provenance: Provenance | None = None


class Score(msgspec.Struct, gc=False):
    """One score of one sample."""

    value: Value = None
    history: list[ScoreEdit] | None = None

    @property
    def authors(self) -> tuple[str, ...]:
        """Who entered or changed the score."""
        return tuple(edit.provenance.author for edit in self.history or () if edit.provenance is not None)

    @property
    def is_entered(self) -> bool:
        """Whether there was no score before the first edit."""
        return any(edit.provenance is not None for edit in (self.history or ())[:1])


class Sample(msgspec.Struct, gc=False):
    """A sample or its summary: `error` and `limit` are objects in a sample and texts in a summary."""

    id: int | str
    epoch: int = 1
    input: object = None
    choices: list[object] | None = None
    target: object = None
    metadata: Json | None = None
    scores: dict[str, Score] | None = None
    error: object = None
    limit: object = None
    invalidation: object = None


class ReducedSample(msgspec.Struct, gc=False):
    """The score of one question, reduced over its epochs."""

    sample_id: int | str | None = None
    value: Value = None


class Reduction(msgspec.Struct):
    """The reduced scores of one scorer under one reducer."""

    scorer: str
    samples: list[ReducedSample]
    reducer: str | None = None


class JsonLog(Header):
    """A `.json` log."""

    samples: list[Sample] | None = None
    reductions: list[Reduction] | None = None


def decode(content: Raw, kind: type[Decoded], *, whose: str) -> Decoded:
    """Decode JSON to `kind`.

    Inspect writes NaN and Infinity as bare constants, which are not JSON. msgspec rejects these and lone surrogates;
    such content is decoded with the standard library. Raises LogError if the content is not JSON, or does not match
    `kind`; `whose` names the content in the message.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _decode_leniently(bytes(content), kind, whose, error)


def _decode_leniently(content: bytes, kind: type[Decoded], whose: str, first: Exception) -> Decoded:
    try:
        # an integer with too many digits for Python becomes its text
        tree = json.loads(content, parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else digits)
        return msgspec.convert(_replace_surrogates(tree), kind)
    except msgspec.ValidationError as error:
        raise LogError(f"{whose} does not have the format that Inspect AI writes: {error}") from first
    except RecursionError:
        raise LogError(f"{whose} is nested too deeply to be read") from first
    except ValueError as error:
        raise LogError(f"{whose} is not valid JSON, perhaps because it is incomplete: {error}") from first


def _replace_surrogates(value: object) -> object:
    """The value with lone surrogates, which UTF-8 cannot encode, replaced in all texts."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(name): _replace_surrogates(item) for name, item in value.items()}
    return value


class _RepeatedError(Exception):
    """A name occurs twice in an object; the message is the name."""


def repeated_name(content: Raw) -> str | None:
    """The first name that occurs twice in one object; None if there is none, or if the content is too long or not JSON.

    >>> repeated_name(b'{"a": {"b": 1, "b": 2}}'), repeated_name(b'[{"a": 1}, {"a": 2}]')
    ('b', None)
    """
    if len(content) > _MOST_CHECKED:
        return None
    try:
        json.loads(bytes(content), object_pairs_hook=_refuse_repeats, parse_int=str, parse_float=str)
    except _RepeatedError as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def may_repeat(content: Raw, samples: Collection[Sample]) -> bool:
    """Whether names of the samples occur more often than samples and scores; fast, with few false positives."""
    n_scores = sum(len(sample.scores or ()) for sample in samples)
    expected = {b'"scores"': len(samples), b'"epoch"': len(samples), b'"value"': n_scores}
    text = bytes(content)
    return any(text.count(name) > n for name, n in expected.items())


def _refuse_repeats(pairs: Iterable[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise _RepeatedError(name)
        seen.add(name)
