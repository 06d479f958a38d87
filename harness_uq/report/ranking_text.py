"""Rankings as text, Markdown, LaTeX, CSV and JSON."""

from collections.abc import Mapping, Sequence

from harness_uq.plots.rows import counted, shorten
from harness_uq.report.attribution import footnotes
from harness_uq.report.cells import GUIDE, Section, document_json, records_csv, sections_markdown, sections_text
from harness_uq.report.columns import interval, number
from harness_uq.report.comparison_text import Format
from harness_uq.report.latex import rankings_latex
from harness_uq.report.leaderboard import group_text, ranking_answer, ranks_text
from harness_uq.report.page import Cells
from harness_uq.report.words import probability
from harness_uq.results.flat import to_dicts
from harness_uq.results.ranking import Ranking

MOST_IN_MATRIX = 20

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def rankings_as(
    rankings: Sequence[Ranking],
    form: Format,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    width: int | None = None,
) -> str:
    """Rankings in the form asked for.

    Parameters
    ----------
    rankings : in the order to print
    form : as in `comparisons_as`; JSON is `{"schema": 1, "rankings": [...], "errors": [...]}`
    errors : paths that could not be read, for the JSON form
    width : characters a line of the terminal form
    """
    if form == "json":
        return document_json("rankings", [ranking.to_dict() for ranking in rankings], errors)
    if form == "csv":
        return records_csv(to_dicts(rankings))
    if form == "latex":
        return rankings_latex(rankings).strip("\n")
    sections = [section for ranking in rankings for section in _sections(ranking)]
    said, guide = footnotes(rankings), _how_to_read(rankings)
    if form == "markdown":
        return sections_markdown(sections, {**said, GUIDE: list(guide.values())})
    return sections_text(sections, said, width, guide)


def _sections(ranking: Ranking) -> list[Section]:
    name = ranking.metric if ranking.filter == "none" else f"{ranking.metric} ({ranking.filter})"
    systems = ranking.systems
    sizes = f"{counted(len(systems), 'system')}, {counted(ranking.n_questions, 'question')}"
    level = f"{100 * systems[0].interval.level:g}%"
    columns = [
        Cells("System", [system.system for system in systems], is_number=False),
        Cells("Value", [number(system.value) for system in systems]),
        Cells(f"{level} interval", [interval(system.interval) for system in systems]),
        Cells("Rank set", [ranks_text(system.rank_set) for system in systems]),
        Cells("P(best)", [probability(system.prob_best) for system in systems], spare=1),
        Cells("Expected rank", [f"{system.expected_rank:.1f}" for system in systems], spare=5),
        Cells(f"{level} ranks", [ranks_text((s.rank_low, s.rank_high)) for s in systems], spare=3),
        Cells("Group", [group_text(system.group) for system in systems], is_number=False),
        Cells(
            _CORRECTIONS.get(ranking.correction or "", ""),
            [group_text(s.group_adjusted) for s in systems],
            is_number=False,
            spare=2,
        ),
        Cells("Bayes@N", ["-" if s.tied_rank is None else str(s.tied_rank) for s in systems], spare=4),
    ]
    sections = [Section(f"{ranking.task}, {name}: {sizes}", columns, answer=ranking_answer(ranking))]
    if 2 < len(systems) <= MOST_IN_MATRIX:
        sections.append(_matrix(ranking))
    return sections


def _matrix(ranking: Ranking) -> Section:
    names = [system.system for system in ranking.systems]
    columns = [Cells("", [f"{k + 1} {shorten(name, 28)}" for k, name in enumerate(names)], is_number=False)]
    for j in range(len(names)):
        shares = [row[j] for row in ranking.prob_better]
        columns.append(Cells(str(j + 1), ["." if i == j else _percent(p) for i, p in enumerate(shares)], spare=j))
    return Section(f"{ranking.task}: P(row is better than column), in per cent", columns)


def _percent(p: float) -> str:
    """Per cent without decimals; never 0 or 100."""
    return f"{min(max(100 * p, 1), 99):.0f}" if 0.01 <= p <= 0.99 else (">99" if p > 0.5 else "<1")


def _how_to_read(rankings: Sequence[Ranking]) -> dict[str, str]:
    """What the columns mean, by header, and the probabilities."""
    if not rankings:
        return {}
    systems = [system for ranking in rankings for system in ranking.systems]
    n, level = rankings[0].n_comparisons, systems[0].interval.level
    percent, tail = f"{100 * level:g}%", (1 - level) / 2
    correction = next((_CORRECTIONS[r.correction] for r in rankings if r.correction), None)
    error = max(ranking.diagnostics.get("mc_error", 0) for ranking in rankings)
    told = {
        f"{percent} interval": "each score by itself, as `harness-uq estimate` gives it on these questions.",
        f"{percent} ranks": "the ranks of one system by itself, given these data.",
        "Group": "systems that share a letter cannot be separated: the probability that the one is better lies between "
        f"{tail:g} and {1 - tail:g}. Not corrected for the number of comparisons, {n} in all.",
        "Probabilities": f"shares of draws of one posterior of all systems; their error is at most {error:.3f}.",
    }
    if any(system.rank_set for system in systems):
        told["Rank set"] = f"ranks that a system may have; those of all hold at once, with {percent} confidence."
    if correction:
        told[correction] = f"the same letters by paired tests, corrected for {counted(n, 'comparison')}."
    if any(system.tied_rank is not None for system in systems):
        told["Bayes@N"] = (
            "ranks on exactly these questions, neighbours tied below z = 1.645 (Hariri et al. 2025); ties chain and no "
            "error rate is controlled."
        )
    return {header: f"{header}: {text}" for header, text in told.items()}
