"""The format `html`: one self-contained page."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, cast

from harness_uq.output.formats import RenderOptions, ResultSet

_TITLES = {"estimates": "Scores", "comparisons": "Comparison", "rankings": "Leaderboard", "plans": "Plan"}


@dataclass(frozen=True, slots=True)
class _Html:
    name: str = "html"
    suffix: str = ".html"
    accepts: Set[str] | None = frozenset(_TITLES)
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        from harness_uq.output.html import report_html

        lists = cast("dict[str, list[Any]]", results.lists)
        title = _TITLES[next(iter(lists))] if len(lists) == 1 else "Evaluation report"
        return report_html(
            *(lists.get(name, ()) for name in _TITLES),
            title=options.title or title,
            command=options.command,
            date=options.date,
        )


FORMAT = _Html()
