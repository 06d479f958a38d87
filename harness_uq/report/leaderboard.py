"""What a ranking comes to, in sentences, and its ranks as text."""

from collections import Counter
from collections.abc import Sequence

from harness_uq.report.words import named
from harness_uq.results.ranking import Neighbours, Ranking

_SHORTEST_RUN = 3
_MOST_FIRSTS = 3


def ranking_answer(ranking: Ranking) -> str:
    """Who is best, who else may be, and how many neighbours the data cannot tell apart.

    Parameters
    ----------
    ranking : of at least one system
    """
    best, *others = ranking.systems
    rivals = _rivals(ranking)
    if best.rank_set is None:
        said = [f"{best.system} scores best."]
    elif rivals:
        said = [f"{best.system} scores best; {named(rivals)} may be as good or better."]
    elif len(others) == 1:
        said = [f"{best.system} is better than {others[0].system}."]
    else:
        said = [f"{best.system} is best, with all pairs of systems tested at once."]
    if ranking.neighbours is not None and ranking.neighbours.n_pairs > 1:
        said.append(_untold(ranking.neighbours))
    return " ".join(said)


def rankings_answer(rankings: Sequence[Ranking]) -> str:
    """As `ranking_answer`, of several rankings together: how many each system leads, and what cannot be told.

    Parameters
    ----------
    rankings : at least one, of different tasks, metrics or filters
    """
    n = len(rankings)
    firsts = Counter(ranking.systems[0].system for ranking in rankings).most_common()
    told = sum(not _rivals(ranking) for ranking in rankings if ranking.systems[0].rank_set)
    parts = [f"{system} leads {times}" for system, times in firsts[:_MOST_FIRSTS]]
    if more := len(firsts) - len(parts):
        parts.append(f"{more} others the rest")
    said = [
        f"Of {n} rankings {', '.join(parts)}; the leader is told apart from every other system in {told or 'none'}."
    ]
    found = [ranking.neighbours for ranking in rankings if ranking.neighbours is not None]
    if pairs := sum(one.n_pairs for one in found):
        undecided, at_once = (sum(getattr(one, k) for one in found) for k in ("undecided", "undecided_at_once"))
        said.append(_untold(Neighbours(pairs, undecided, at_once)))
    return " ".join(said)


def _rivals(ranking: Ranking) -> list[str]:
    """Who may be best besides the first."""
    return [other.system for other in ranking.systems[1:] if other.rank_set and other.rank_set[0] == 1]


def _untold(found: Neighbours) -> str:
    pairs, n, at_once = found.n_pairs, found.undecided, found.undecided_at_once
    if not at_once and not n:
        return "All neighbours are told apart, also with all pairs tested at once."
    if n == at_once == pairs:
        return f"None of the {pairs} pairs of neighbours can be told apart."
    return (
        f"Of {pairs} pairs of neighbours {n} ({n / pairs:.0%}) cannot be told apart one by one, "
        f"{at_once} ({at_once / pairs:.0%}) with all pairs tested at once."
    )


def group_text(group: str) -> str:
    """Letters of groups, three or more in a row as the first and the last.

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
    """Place of a letter among `a` to `z`, `aa`, `ab` and so on."""
    place = 0
    for letter in name:
        place = 26 * place + ord(letter) - ord("a") + 1
    return place


def ranks_text(ranks: tuple[int, int] | None) -> str:
    """The best and the worst rank; a dash where they are unknown.

    >>> ranks_text((1, 3)), ranks_text((2, 2))
    ('1-3', '2')
    """
    if ranks is None:
        return "-"
    low, high = ranks
    return str(low) if low == high else f"{low}-{high}"
