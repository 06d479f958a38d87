"""Comparisons and rankings for the HTML report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.output.columns import format_interval, format_number
from harness_uq.output.comparison_headline import comparison_sentence
from harness_uq.output.html.forest import ForestView, Legend, forest_views
from harness_uq.output.html.tables import TableView
from harness_uq.output.phrases import difference_header, percent, probability
from harness_uq.output.ranking_headline import group_text, ranks_text
from harness_uq.plots.figure_rows import comparison_title, pair_rows
from harness_uq.plots.label_texts import percent_text, task_title
from harness_uq.results.comparison import Comparison
from harness_uq.results.ranking import RankedSystem, Ranking

MOST_IN_MATRIX = 40

_SHADES = 5
_PAIR_CAPTION = (
    "Differences by task. Corr.: correlation of the scores of the two systems over questions. Only A:B: number of "
    "questions that only A and only B answered correctly. Matched: questions that both answered. Var. reduction: share "
    "of the variance that pairing by question removes."
)


@dataclass(frozen=True, slots=True)
class PairView:
    """All comparisons of two systems."""

    title: str
    forest: list[ForestView]
    legend: Legend | None
    verdicts: tuple[tuple[str, str, str], ...]
    table: TableView


def pair_views(comparisons: Sequence[Comparison]) -> list[PairView]:
    """Comparisons by pair of systems: forest plot, verdicts (task, verdict, sentence) and table."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for row in comparisons:
        pairs.setdefault((row.system_a, row.system_b), []).append(row)
    views = []
    for (a, b), rows in pairs.items():
        forest, legend = forest_views(pair_rows(rows))
        verdicts = tuple((comparison_title(row), row.headline_verdict, comparison_sentence(row)) for row in rows)
        views.append(PairView(f"A: {a}; B: {b}", forest, legend, verdicts, _pair_table(rows)))
    return views


def _pair_table(rows: Sequence[Comparison]) -> TableView:
    cells: list[tuple[str, bool, Callable[[Comparison], str]]] = [
        ("Task", False, comparison_title),
        ("A", True, lambda row: format_number(row.value_a)),
        ("B", True, lambda row: format_number(row.value_b)),
        ("A − B", True, lambda row: format_number(row.difference.value if row.difference else None)),
        (
            difference_header(rows),
            True,
            lambda row: format_interval(row.difference.interval if row.difference else None),
        ),
        ("P(A > B)", True, lambda row: probability(row.prob_positive)),
        ("P(not worse)", True, lambda row: probability(row.prob_noninferior) if row.margin else "-"),
        ("Odds ratio", True, lambda row: format_number(row.odds_ratio, 2)),
        ("Corr.", True, lambda row: format_number(row.correlation, 2)),
        ("Only A:B", True, lambda row: f"{row.table.only_a}:{row.table.only_b}" if row.table else "-"),
        ("Matched", True, _matched),
        ("Var. reduction", True, lambda row: percent(row.variance_reduction)),
        ("Clusters", False, lambda row: f"{row.n_clusters} {row.cluster_key}" if row.n_clusters else "-"),
        ("Method", False, lambda row: row.method),
    ]
    filled = [cell for cell in cells if any(cell[2](row) != "-" for row in rows)]
    body = tuple(tuple(text(row) for _, _, text in filled) for row in rows)
    return TableView(_PAIR_CAPTION, tuple(c[0] for c in filled), tuple(c[1] for c in filled), (("", body),))


def _matched(row: Comparison) -> str:
    if row.n_matched is None:
        return "-"
    left_out = (row.n_unmatched_a or 0) + (row.n_unmatched_b or 0)
    return f"{row.n_matched} ({left_out} not)" if left_out else str(row.n_matched)


@dataclass(frozen=True, slots=True)
class RankLine:
    """A system of a ranking: its cells, and its ranks as places in percent, with shades (place, width, opacity).

    Attributes
    ----------
    is_apart : whether the data separate this system from the next one
    """

    place: int
    system: RankedSystem
    value: str
    interval: str
    rank_set: str
    letters: str
    ranks: str
    prob_best: str
    left: float
    right: float
    dot: float
    ends: tuple[float, float] | None
    shades: tuple[tuple[float, float, float], ...]
    row: tuple[tuple[str, str], ...]
    is_apart: bool


@dataclass(frozen=True, slots=True)
class RankView:
    """A ranking with its matrix of all pairs, unless that is too large; `has_ties` if there are ranks with ties."""

    title: str
    ranking: Ranking
    lines: tuple[RankLine, ...]
    has_ties: bool
    has_matrix: bool


def rank_view(ranking: Ranking) -> RankView:
    """A ranking for the template."""
    lines = tuple(_rank_line(ranking, k) for k in range(len(ranking.systems)))
    title = task_title(ranking.task, ranking.metric, ranking.filter)
    has_ties = any(system.tied_rank is not None for system in ranking.systems)
    has_matrix = 2 < len(lines) <= MOST_IN_MATRIX and ranking.prob_better is not None
    return RankView(title, ranking, lines, has_ties, has_matrix)


def _rank_line(ranking: Ranking, k: int) -> RankLine:
    system, n = ranking.systems[k], len(ranking.systems)
    shares = ranking.prob_rank[k] if ranking.prob_rank is not None else ()
    tail = (1 - system.interval.level) / 2
    probabilities = () if ranking.prob_better is None else ranking.prob_better[k]
    darkness = max(1.0, n / 10)  # of many systems, each rank has little probability
    return RankLine(
        k + 1,
        system,
        format_number(system.value),
        format_interval(system.interval),
        ranks_text(system.rank_set),
        group_text(system.letters),
        ranks_text((system.rank_low, system.rank_high)),
        probability(system.prob_best),
        _across(system.rank_low - 0.5, n),
        _across(system.rank_high - 0.5, n),
        _across(system.typical_rank - 0.5, n),
        None if system.rank_set is None else (_across(system.rank_set[0] - 1, n), _across(system.rank_set[1], n)),
        tuple(
            (_across(r, n), _across(1, n), round(min(1.0, p * darkness), 3)) for r, p in enumerate(shares) if p >= 0.005
        ),
        tuple(("–", "self") if j == k else _heat(p) for j, p in enumerate(probabilities)),
        is_apart=k + 1 < len(probabilities) and not tail <= probabilities[k + 1] <= 1 - tail,
    )


def _across(ranks: float, n: int) -> float:
    """Place in percent of a line that is `n` ranks long."""
    return round(100 * ranks / n, 2)


def _heat(p: float) -> tuple[str, str]:
    """Text of a cell in percent and the class of its shade: `a1`…`a5` for the row, `b1`…`b5` for the column."""
    strength = min(int(abs(p - 0.5) * 2 * _SHADES) + 1, _SHADES)
    return percent_text(p), f"{'a' if p >= 0.5 else 'b'}{strength}"
