"""Rankings of several systems on one task: the class with its columns, headlines, matrix and figure rows."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import IDENTICAL_SYSTEMS
from harness_uq.output.declared import INTERNAL, Declared, Result
from harness_uq.output.document import Cells, Column, Grid, GridCell, Kind, Section, table
from harness_uq.output.figures import axes as draw
from harness_uq.output.figures.marks import Board, Mark, RankMark, ends
from harness_uq.output.figures.ranks import plot_ranks
from harness_uq.output.short_names import shorten, shorten_names
from harness_uq.output.table_notes import footnotes, sentences, totals_sentence, warnings_of
from harness_uq.output.words import (
    counted,
    decimals_of,
    interval,
    interval_header,
    listed,
    metric_name,
    number,
    one_decimal,
    probability,
    task_title,
    whole_percent,
)
from harness_uq.results.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from harness_uq.data.task_log import FloatArray

MOST_IN_MATRIX = 20
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
_SHORTEST_RUN = 3
_MOST_FIRSTS = 3
_MOST_WRITTEN = 25  # systems of a figure
_RANKS = "range that contains the rank of the system with this probability."
_BEST = "probability that the system is the best one."
_GROUP = "systems share a letter if their ranks overlap."
_RIVALS = "number of other systems whose ranks include 1."
_RANK_SET = "possible ranks; the rank sets of all systems hold simultaneously."
_PAIRS = "systems share a letter if the order of the two is undecided; not corrected for the number of pairs."
_BAYES_AT_N = "tied ranks on exactly these questions (Hariri et al. 2025), whose error rate is not controlled."


@dataclass(frozen=True, slots=True)
class RankedSystem(Declared):
    """Score and rank of one system.

    `value`, `interval`: score on the common questions, with the interval of `estimate` for these questions.
    `prob_best`: probability that this system has the best score; None if trials without a score may have any score.
    `expected_rank`: posterior mean of the rank, 1 is best; None as for `prob_best`. `rank_low`, `rank_high`: credible
    interval of the rank of this system alone; the rank set if `prob_best` is None. `rank_set`: best and worst rank in
    the simultaneous rank sets, which all contain the true ranks with probability `interval.level`; None if not
    computed. `tie_group`: systems share a letter if their rank intervals overlap. `letters`: compact letter display of
    all pairs: the order of two systems that share a letter is undecided. `tied_rank`: rank with ties by Bayes@N
    z-scores (Hariri et al. 2025); None with one trial per question. `letters_adjusted`: letters of pairs by paired
    tests with correction for multiple testing; empty without tests, a dash for a system without a test.
    """

    json_properties: ClassVar = ("rank_interval",)

    system: str
    value: float
    interval: Interval
    prob_best: float | None
    expected_rank: float | None
    rank_low: int = field(metadata=INTERNAL)
    rank_high: int = field(metadata=INTERNAL)
    letters: str
    tied_rank: int | None = None
    letters_adjusted: str = ""
    rank_set: tuple[int, int] | None = None
    tie_group: str = ""

    @property
    def typical_rank(self) -> float:
        """The expected rank, or the middle of the rank set if it is unknown."""
        return (self.rank_low + self.rank_high) / 2 if self.expected_rank is None else self.expected_rank

    @property
    def rank_interval(self) -> tuple[int, int]:
        """Credible interval of the rank, for this system alone."""
        return self.rank_low, self.rank_high


@dataclass(frozen=True, slots=True)
class Neighbours(Declared):
    """Number of adjacent pairs of systems in a ranking whose order is undecided.

    `undecided`: pairs in which neither system is better with probability 1 - (1 - level) / 2. `undecided_simultaneous`:
    pairs that are undecided if all pairs are tested with one simultaneous error rate.
    """

    json_properties: ClassVar = ("undecided_share", "undecided_simultaneous_share")

    n_pairs: int
    undecided: int
    undecided_simultaneous: int

    @property
    def undecided_share(self) -> float | None:
        """Share of the pairs that are undecided individually; None without pairs."""
        return self.undecided / self.n_pairs if self.n_pairs else None

    @property
    def undecided_simultaneous_share(self) -> float | None:
        """Share of the pairs that are undecided after correction; None without pairs."""
        return self.undecided_simultaneous / self.n_pairs if self.n_pairs else None


@dataclass(frozen=True, slots=True)
class Ranking(Result):
    """Ranking of several systems on one task, metric and filter.

    Attributes
    ----------
    systems : best first
    prob_better : prob_better[i][j] = P(system i is better than system j), in the order of `systems`; None if trials
        without a score may have any score
    adjusted_p : adjusted_p[i][j], p-values of two-sided paired tests after the correction; None if not computed, NaN
        (null in JSON) if the difference of a pair is constant
    correction : `holm` or `bh`
    prob_rank : prob_rank[i][r] = P(rank of system i is r + 1), in the order of `systems`; None if not computed
    neighbours : number of adjacent pairs whose order is undecided; None if not computed
    n_questions : number of questions that all systems share
    n_comparisons : number of comparisons in all rankings: pairs × tasks × metrics × filters
    diagnostics : `mc_error`, the largest Monte Carlo standard error of P(best) and P(better), and `n_draws`
    """

    record_rows: ClassVar = "systems"

    task: str
    metric: str
    filter: str
    systems: tuple[RankedSystem, ...]
    prob_better: tuple[tuple[float, ...], ...] | None
    n_questions: int
    n_comparisons: int
    adjusted_p: tuple[tuple[float, ...], ...] | None = None
    correction: str | None = None
    prob_rank: tuple[tuple[float, ...], ...] | None = None
    neighbours: Neighbours | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()


def ranking_answer(ranking: Ranking) -> str:
    """The best system, and the others that may be as good.

    `ranking`: of at least one system.
    """
    best, *others = ranking.systems
    rivals = _rivals(ranking)
    identical = [message.text for message in ranking.messages if message.code == IDENTICAL_SYSTEMS.code]
    if identical and len(others) == 1:
        sentences = identical
    elif rivals or not others:
        sentences = [_leaders(ranking, rivals)]
    elif len(others) == 1:
        sentences = [f"{best.system} is better than {others[0].system}."]
    elif best.rank_high > 1:
        sentences = [f"{best.system} has the best score, and the ranks of no other system include 1."]
    else:
        sentences = [f"{best.system} is better than all other systems."]
    return " ".join([*sentences, totals_sentence([ranking])]).strip()


def rankings_answer(rankings: Sequence[Ranking]) -> str:
    """The headline of several rankings: how many each system leads, and how many leads are clear.

    `rankings`: at least one, of different tasks, metrics or filters.
    """
    firsts = Counter(ranking.systems[0].system for ranking in rankings if not _equals(ranking)).most_common()
    parts = [f"{system} in {times}" for system, times in firsts[:_MOST_FIRSTS]]
    if more := len(firsts) - len(parts):
        parts.append(f"{counted(more, 'other system')} in {sum(times for _, times in firsts[_MOST_FIRSTS:])}")
    if n_equal := sum(bool(_equals(ranking)) for ranking in rankings):
        parts.append(f"several systems in {n_equal}")
    n_clear = sum(not _rivals(ranking) for ranking in rankings)
    clear = f"In {n_clear or 'none'} of them, the ranks of no other system include 1."
    leaders = f"Best score in {counted(len(rankings), 'ranking')}: {', '.join(parts)}."
    return f"{leaders} {clear} {totals_sentence(rankings)}".strip()


def _rivals(ranking: Ranking) -> list[str]:
    """The systems other than the first whose ranks include 1."""
    return [other.system for other in ranking.systems[1:] if other.rank_low == 1]


def _equals(ranking: Ranking) -> list[str]:
    """The systems other than the first that have the same score."""
    best, *others = ranking.systems
    return [other.system for other in others if math.isclose(other.value, best.value)]


def _leaders(ranking: Ranking, rivals: Sequence[str]) -> str:
    """The systems with the best score, and the rivals with a worse score."""
    best, equals = ranking.systems[0].system, _equals(ranking)
    verb = "share" if equals else "has"
    rest = [name for name in rivals if name not in equals]
    doubt = f", but {listed(rest)} may be as good or better" if rest else ""
    return f"{listed([best, *equals])} {verb} the best score{doubt}."


def group_text(group: str, _: int = 0) -> str:
    """Letters of groups; three or more consecutive letters become a range.

    >>> group_text("abcdf"), group_text("a.b.c.ab"), group_text("ab")
    ('a-d.f', 'a-c.ab', 'ab')
    """
    letters = group.split(".") if "." in group else list(group)
    runs: list[list[str]] = []
    for letter in letters:
        if runs and _place(letter) == _place(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    if all(len(run) < _SHORTEST_RUN for run in runs):
        return group
    parts = [[f"{run[0]}-{run[-1]}"] if len(run) >= _SHORTEST_RUN else run for run in runs]
    return ".".join(part for run in parts for part in run)


def _place(name: str) -> int:
    """Position of a letter in the sequence `a` to `z`, `aa`, `ab` and so on."""
    place = 0
    for letter in name:
        place = 26 * place + ord(letter) - ord("a") + 1
    return place


def ranks_text(ranks: tuple[int, int] | None, _: int = 0) -> str:
    """The best and the worst rank; a dash if they are unknown.

    >>> ranks_text((1, 3)), ranks_text((2, 2))
    ('1-3', '2')
    """
    if ranks is None:
        return "-"
    low, high = ranks
    return str(low) if low == high else f"{low}-{high}"


def _sections(rankings: Sequence[Ranking], digits: int) -> Iterator[Section]:
    """A table of systems and a matrix of all pairs for each ranking; the legend of all tables is below the last."""
    legend: dict[str, str] = {}
    for ranking in rankings:
        systems = ranking.systems
        sizes = f"{counted(len(systems), 'system')}, {counted(ranking.n_questions, 'question')}"
        decimals = decimals_of(ranking.metric, min(abs(system.value) for system in systems), digits)
        title = f"{ranking.task}, {metric_name(ranking.metric, ranking.filter)}: {sizes}"
        section = table(title, _columns(ranking), systems, decimals, answer=ranking_answer(ranking))
        legend |= section.legend
        yield replace(section, legend=legend if ranking is rankings[-1] else {})
        if 2 < len(systems) <= MOST_IN_MATRIX and ranking.prob_better is not None:
            yield _matrix(ranking, ranking.prob_better)


def ranks_header(intervals: Sequence[Interval]) -> str:
    """Header of the column of ranks, with the level of these intervals of scores."""
    return interval_header(intervals).replace("interval", "ranks")


def rank_columns(header: str) -> list[Column]:
    """The columns of ranks that every table of ranked systems has: all follow from the same posterior of the ranks."""
    return [
        Column(header, "rank_interval", ranks_text, "ranks", legend=_RANKS),
        Column("P(best)", "prob_best", probability, "best", legend=_BEST),
        Column("Group", "tie_group", group_text, "group", is_number=False, legend=_GROUP),
        Column("Rank set", "rank_set", ranks_text, is_shown=False, legend=_RANK_SET),
        Column("Expected rank", "expected_rank", one_decimal, is_shown=False),
    ]


def _columns(ranking: Ranking) -> list[Column]:
    header = interval_header([ranking.systems[0].interval])
    correction = _CORRECTIONS.get(ranking.correction or "", "Adjusted")
    return [
        Column("System", "system", wraps=True),
        Column("Value", "value", number),
        Column(header, "interval", interval, "interval", spare=1),
        *rank_columns(ranks_header([ranking.systems[0].interval])),
        Column("Pairs", "letters", group_text, is_number=False, is_shown=False, legend=_PAIRS),
        Column(
            *(correction, "letters_adjusted", group_text, "adjusted-group"),
            is_number=False,
            is_shown=False,
            legend=f"like Pairs, by paired tests corrected for {counted(ranking.n_comparisons, 'comparison')}.",
        ),
        Column("Bayes@N", "tied_rank", is_number=True, is_shown=False, legend=_BAYES_AT_N),
    ]


def _leader_sections(rankings: Sequence[Ranking], digits: int) -> Iterator[Section]:
    """One table with a row for each of several rankings: its leader, and how many other systems may be as good."""
    if len(rankings) == 1:
        yield from _sections(rankings, digits)
        return

    def leader(get: Callable[[RankedSystem], Any]) -> Callable[[Ranking], Any]:
        return lambda ranking: get(ranking.systems[0])

    def name(ranking: Ranking) -> str:
        equals = _equals(ranking)
        return f"{counted(len(equals) + 1, 'system')} (equal)" if equals else ranking.systems[0].system

    def decimals(ranking: Ranking) -> int:
        return decimals_of(ranking.metric, min(abs(system.value) for system in ranking.systems), digits)

    header = interval_header([ranking.systems[0].interval for ranking in rankings])
    has_sizes = len({len(ranking.systems) for ranking in rankings}) > 1
    columns = [
        Column("Task", "task"),
        Column("Metric", lambda ranking: metric_name(ranking.metric, ranking.filter)),
        Column("Leader", name),
        Column("Value", leader(lambda system: system.value), number),
        Column(header, leader(lambda system: system.interval), interval, "interval", spare=2),
        Column("P(best)", leader(lambda system: system.prob_best), probability, "best", legend=_BEST),
        Column("Rivals", lambda ranking: len(_rivals(ranking)), is_number=True, legend=_RIVALS),
        Column("Systems", lambda ranking: len(ranking.systems), is_number=True, spare=2, is_shown=has_sizes),
        Column("Questions", "n_questions", is_number=True, spare=3),
    ]
    lines = ["The option --per-task prints the table of systems for each task."]
    yield table("", columns, rankings, decimals, answer=rankings_answer(rankings), lines=lines)


def _matrix(ranking: Ranking, prob_better: Sequence[Sequence[float]]) -> Section:
    names = [system.system for system in ranking.systems]
    labels = [f"{k} {name}" for k, name in enumerate(shorten_names(names, 15), 1)]
    columns = [Cells("", labels, False, name="matrix", is_shown=False)]
    for j in range(len(names)):
        shares = [row[j] for row in prob_better]
        texts = ["." if i == j else whole_percent(share) for i, share in enumerate(shares)]
        columns.append(Cells(str(j + 1), texts, spare=j, is_shown=False))
    title = f"{ranking.task}: probability that the system of the row is better than that of the column, in per cent"
    return Section(title, columns, is_optional=True)


def _grid(rankings: Sequence[Ranking], digits: int) -> Grid:
    """Systems by tasks, with the letters of their groups."""
    cells = {
        (system.system, task_title(*ranking.key)): GridCell(
            number(system.value, digits), interval(system.interval, digits), group_text(system.tie_group)
        )
        for ranking in rankings
        for system in ranking.systems
    }
    notes = [
        f"{interval_header([rankings[0].systems[0].interval])}s are below the scores.",
        "Systems that share a letter have overlapping ranks on that task.",
        *sentences(warnings_of(rankings)),
    ]
    return Grid(cells, "Scores with intervals and groups.", notes)


def _marks(rankings: Sequence[Ranking]) -> list[Mark]:
    return [
        Mark(
            group=task_title(*ranking.key),
            label=ranked.system,
            value=ranked.value,
            span=ends(ranked.interval),
            level=ranked.interval.level,
            scale=ranking.metric,
            system=ranked.system,
        )
        for ranking in rankings
        for ranked in ranking.systems
    ]


def _boards(rankings: Sequence[Ranking]) -> Iterator[Board]:
    for ranking in rankings:
        shares = ranking.prob_rank or [()] * len(ranking.systems)
        marks = [
            RankMark(one.system, one.typical_rank, one.rank_interval, one.rank_set, row, one.prob_best)
            for one, row in zip(ranking.systems, shares, strict=True)
        ]
        yield Board(task_title(*ranking.key), marks)


def pairwise_probabilities(ranking: Ranking, *, title: str | None = None) -> "Figure":
    """All pairs: probability that the system of the row is better than the system of the column.

    With up to 25 systems, the cells show the probabilities in per cent.

    Parameters
    ----------
    ranking : of at least one system
    title : above the figure; the task by default

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if the ranking holds no system
    MissingDependencyError : if matplotlib is not installed
    """
    draw.need_rows(ranking.systems, "systems")
    n = len(ranking.systems)
    side = min(max(0.42 * n, 1.6), 14.0)
    figure = draw.new_figure(side + 3.6, side + 1.8)
    figure.set_layout_engine("compressed")
    axes = figure.subplots()
    table = np.array(ranking.prob_better, float)
    np.fill_diagonal(table, np.nan)
    image = axes.imshow(table, vmin=0.0, vmax=1.0, cmap="PuOr_r")
    names = [shorten(system.system, 28) for system in ranking.systems]
    size = draw.SMALL if n <= 30 else max(4.0, draw.SMALL * 30 / n)
    axes.set_xticks(range(n), [str(k + 1) for k in range(n)], fontsize=size)
    axes.set_yticks(range(n), [f"{name}  {k + 1}" for k, name in enumerate(names)], fontsize=size)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    n_questions = counted(ranking.n_questions, "question")
    default_title = f"{task_title(*ranking.key)}: {n_questions}"
    axes.set_title(title or shorten(default_title, 90), fontsize=draw.TEXT + 1, color=draw.INK)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 3.0 / side))
    bar.set_label("P(row is better than column)", fontsize=draw.SMALL)
    bar.ax.tick_params(labelsize=draw.SMALL)
    if n <= _MOST_WRITTEN:
        _write_cells(axes, table)
    return draw.without_markup(figure)


def _write_cells(axes: "Axes", table: "FloatArray") -> None:
    for (i, j), value in np.ndenumerate(table):
        if np.isnan(value):
            axes.text(j, i, "–", ha="center", va="center", color=draw.GREY, fontsize=draw.SMALL)
            continue
        colour = "white" if abs(value - 0.5) > 0.35 else draw.INK
        axes.text(j, i, whole_percent(value), ha="center", va="center", color=colour, fontsize=draw.SMALL - 1)


Ranking.KIND = Kind(
    "rankings",
    Ranking,
    _sections,
    "Ranks of systems.",
    footnotes,
    summary=_leader_sections,
    displayed=(
        *("task", "metric", "system", "value", "interval_low", "interval_high", "prob_best", "expected_rank"),
        *("rank_low", "rank_high", "tie_group"),
    ),
    grid=_grid,
    shares=lambda ranking: [system.value for system in ranking.systems],
    scaled=("systems.value", "systems.interval"),
    marks=_marks,
    boards=_boards,
    figure=plot_ranks,
)
