"""Scores from 0 to 1 in per cent, for tables."""

from collections.abc import Iterable
from dataclasses import replace

from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.overall import Overall
from harness_uq.results.ranking import Ranking
from harness_uq.results.result_set import ResultSet

PERCENT_DIGITS = 2


def in_percent(results: ResultSet) -> ResultSet:
    """The results with all scores multiplied by 100 whose values and intervals lie between 0 and 1.

    Scores with a known range other than 0 to 1, or without one, are not changed.
    """
    return replace(results, lists={name: [_scaled(row) for row in rows] for name, rows in results.lists.items()})


def _scaled(result: object) -> object:
    match result:
        case Estimate() if _is_estimate_of_share(result):
            return replace(
                result,
                value=_times(result.value),
                std_error=_times(result.std_error),
                interval=None if result.interval is None else _interval(result.interval),
                harness=replace(
                    result.harness, value=_times(result.harness.value), std_error=_times(result.harness.std_error)
                ),
            )
        case Comparison() if _are_shares((result.value_a, result.value_b)):
            return _comparison(result)
        case Ranking() if _are_shares(system.value for system in result.systems):
            systems = [replace(one, value=100 * one.value, interval=_interval(one.interval)) for one in result.systems]
            return replace(result, systems=tuple(systems))
        case Overall() if _are_shares(system.value for system in result.systems):
            return _overall(result)
        case _:
            return result


def _is_estimate_of_share(row: Estimate) -> bool:
    if row.structure is not None and row.structure.score_type != "record" and row.structure.bounds != (0.0, 1.0):
        return False
    return _are_shares((row.value,))


def _are_shares(values: Iterable[float | None]) -> bool:
    return all(value is None or 0 <= value <= 1 for value in values)


def _comparison(row: Comparison) -> Comparison:
    difference = row.difference
    return replace(
        row,
        value_a=_times(row.value_a),
        value_b=_times(row.value_b),
        minimum_detectable_effect=_times(row.minimum_detectable_effect),
        margin=100 * row.margin,
        difference=None
        if difference is None
        else replace(
            difference,
            value=100 * difference.value,
            std_error=100 * difference.std_error,
            interval=_interval(difference.interval),
        ),
    )


def _overall(result: Overall) -> Overall:
    systems = [
        replace(one, value=100 * one.value, interval=_interval(one.interval), std_error=_times(one.std_error))
        for one in result.systems
    ]
    differences = [
        replace(
            one,
            value=100 * one.value,
            interval=_interval(one.interval),
            single_interval=_interval(one.single_interval),
        )
        for one in result.differences
    ]
    return replace(result, systems=tuple(systems), differences=tuple(differences))


def _interval(interval: Interval) -> Interval:
    return replace(interval, low=100 * interval.low, high=100 * interval.high)


def _times(value: float | None) -> float | None:
    return None if value is None else 100 * value
