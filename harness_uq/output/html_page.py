"""The format `html`: one self-contained page."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, cast

from harness_uq.results.result_set import OVERALL, RenderOptions, ResultSet

_TITLES = {"estimates": "Scores", "comparisons": "Comparison", "rankings": "Leaderboard", "plans": "Plan"}
_OTHERS = ("resource_use", "breakdowns", "difference_breakdowns", "histories")


@dataclass(frozen=True, slots=True)
class _Html:
    name: str = "html"
    suffix: str = ".html"
    accepts: Set[str] | None = frozenset({OVERALL, *_TITLES, *_OTHERS})
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        from harness_uq.output.html import report_html

        lists = cast("dict[str, list[Any]]", results.lists)
        names = list(results.tables)
        titles = {**_TITLES, OVERALL: "Leaderboard", "histories": "Scores over time"}
        title = titles.get(names[0], "Leaderboard") if len(names) == 1 else "Evaluation report"
        return report_html(
            *(lists.get(name, ()) for name in _TITLES),
            **{name: lists.get(name, ()) for name in _OTHERS},
            overall=next(iter(lists.get(OVERALL, ())), None),
            title=options.title or title,
            command=options.command,
            date=options.date,
        )


FORMAT = _Html()
