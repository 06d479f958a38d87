"""Results as flat records, ready for a data frame."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import RankedSystem, Ranking

Result: TypeAlias = Estimate | Comparison | Ranking | Plan
Cell: TypeAlias = str | int | float | None
Record: TypeAlias = dict[str, Cell]

_MATRICES = ("prob_better", "adjusted_p", "prob_rank")
# what stands in for an absent part, so that every record of a kind has the same names
_ABSENT: Mapping[str, Mapping[str, None]] = {
    "interval": dict.fromkeys(("low", "high", "level", "kind")),
    "difference": dict.fromkeys(("value", "std_error", "interval")),
    "table": dict.fromkeys(("both_right", "only_a", "only_b", "both_wrong")),
}


def to_dicts(results: Iterable[Result]) -> list[Record]:
    """Flat records with the names of the JSON form, nested ones joined by `_`: `pandas.DataFrame(to_dicts(rows))`.

    An estimate and a comparison give one record, a ranking one a system, a plan one a design. Beside the ends of an
    interval, `…_low` and `…_high`, stand their distances from the value, `…_low_delta` and `…_high_delta`, which is
    what `inspect_viz.transform.ci_bounds("value", lower="interval_low_delta", upper="interval_high_delta")` takes.
    Lists of sentences are joined by `; `; matrices of a ranking stay in the JSON form.

    Parameters
    ----------
    results : estimates, comparisons, rankings or plans

    Returns
    -------
    One dict a row; missing is None, never NaN

    >>> from harness_uq.logs.data import Source
    >>> from harness_uq.results.estimate import Interval
    >>> row = Estimate("model", "task", "acc", "none", "mean", "population", "beta", 0.75, 0.1,
    ...     Interval(0.5, 1.0, 0.95, "hdi"), Source("run.json", "lm-eval"))
    >>> record = to_dicts([row])[0]
    >>> record["interval_low_delta"], record["interval_high"], record["interval_kind"]
    (0.25, 1.0, 'hdi')
    """
    return [record for result in results for record in _records(result)]


def _records(result: Result) -> list[Record]:
    document = result.to_dict()
    if isinstance(result, Ranking):
        shared = {name: item for name, item in document.items() if name not in ("systems", *_MATRICES)}
        systems = zip(result.systems, _sequence(document["systems"]), strict=True)
        return [_ranked_record(ranked, {**_mapping(system), **shared}) for ranked, system in systems]
    if isinstance(result, Plan):
        shared = {name: item for name, item in document.items() if name not in ("rows", "recommended")}
        return [
            _flat({**_mapping(row), "is_recommended": row == document["recommended"], **shared})
            for row in _sequence(document["rows"])
        ]
    return [_with_deltas(_flat(document))]


def _ranked_record(ranked: RankedSystem, document: Mapping[str, object]) -> Record:
    best, worst = ranked.rank_set or (None, None)
    ends = {
        "rank_low": ranked.rank_low,
        "rank_high": ranked.rank_high,
        "rank_set_low": best,
        "rank_set_high": worst,
    }
    rest = {name: item for name, item in document.items() if name not in ("rank_interval", "rank_set")}
    return _with_deltas(_flat({**rest, **ends}))


def _with_deltas(record: Record) -> Record:
    """The record with the distances of its interval's ends from its value."""
    prefix = "" if "value" in record else "difference_"
    name, value = f"{prefix}interval", record[f"{prefix}value"]
    low, high = record[f"{name}_low"], record[f"{name}_high"]
    return {**record, f"{name}_low_delta": _less(value, low), f"{name}_high_delta": _less(high, value)}


def _less(a: Cell, b: Cell) -> float | None:
    return a - b if isinstance(a, int | float) and isinstance(b, int | float) else None


def _flat(value: Mapping[str, object], prefix: str = "") -> Record:
    flat: Record = {}
    for name, item in value.items():
        part = _ABSENT.get(name) if item is None else item
        if isinstance(part, Mapping):
            flat |= _flat(part, f"{prefix}{name}_")
        elif isinstance(item, list):
            flat[prefix + name] = "; ".join(map(str, item))
        else:
            flat[prefix + name] = item if isinstance(item, str | int | float) else None
    return flat


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []
