"""The headline of rankings, and how groups and ranks are written."""

import math
from collections import Counter
from collections.abc import Sequence

from harness_uq.messages.catalogue.comparison import IDENTICAL_SYSTEMS
from harness_uq.output.phrases import listed, percent, totals_sentence
from harness_uq.plots.label_texts import counted
from harness_uq.results.ranking import Neighbours, Ranking

_SHORTEST_RUN = 3
_MOST_FIRSTS = 3


def ranking_answer(ranking: Ranking) -> str:
    """The best system, the others that may be best, and how many neighbours the data do not separate.

    Parameters
    ----------
    ranking : of at least one system
    """
    best, *others = ranking.systems
    rivals = _rivals(ranking)
    identical = [message.text for message in ranking.messages if message.code == IDENTICAL_SYSTEMS.code]
    if identical and len(others) == 1:
        sentences = identical
    elif best.rank_set is None or rivals:
        sentences = [_leaders(ranking, rivals)]
    elif len(others) == 1:
        sentences = [f"{best.system} is better than {others[0].system}."]
    else:
        sentences = [f"{best.system} is best, after correction for all pairs of systems."]
    if ranking.neighbours is not None and ranking.neighbours.n_pairs > 1:
        sentences.append(_neighbours(ranking.neighbours))
    return " ".join([*sentences, totals_sentence([ranking])]).strip()


def rankings_answer(rankings: Sequence[Ranking]) -> str:
    """The headline of several rankings: how many each system leads, and how many leads are clear.

    Parameters
    ----------
    rankings : at least one, of different tasks, metrics or filters
    """
    firsts = Counter(ranking.systems[0].system for ranking in rankings).most_common()
    n_clear = sum(not _rivals(ranking) for ranking in rankings if ranking.systems[0].rank_set)
    parts = [f"{system} leads {times}" for system, times in firsts[:_MOST_FIRSTS]]
    if more := len(firsts) - len(parts):
        parts.append(f"{counted(more, 'other system')} the rest")
    clear = "No task has" if not n_clear else f"{counted(n_clear, 'ranking')} {'has' if n_clear == 1 else 'have'}"
    sentences = [f"Of {counted(len(rankings), 'ranking')}, {', '.join(parts)}. {clear} a clear leader."]
    neighbours = [ranking.neighbours for ranking in rankings if ranking.neighbours is not None]
    if pairs := sum(one.n_pairs for one in neighbours):
        undecided = sum(one.undecided for one in neighbours)
        simultaneous = sum(one.undecided_simultaneous for one in neighbours)
        sentences.append(_neighbours(Neighbours(pairs, undecided, simultaneous)))
    return " ".join([*sentences, totals_sentence(rankings)]).strip()


def _rivals(ranking: Ranking) -> list[str]:
    """The systems other than the first that may be best."""
    return [other.system for other in ranking.systems[1:] if other.rank_set and other.rank_set[0] == 1]


def _leaders(ranking: Ranking, rivals: Sequence[str]) -> str:
    """The systems with the best score, and the rivals with a worse score."""
    best, *others = ranking.systems
    tied = [other.system for other in others if math.isclose(other.value, best.value)]
    verb = "share" if tied else "has"
    rest = [name for name in rivals if name not in tied]
    doubt = f", but {listed(rest)} may be as good or better" if rest else ""
    return f"{listed([best.system, *tied])} {verb} the best score{doubt}."


def _neighbours(counts: Neighbours) -> str:
    pairs, n, simultaneous = counts.n_pairs, counts.undecided, counts.undecided_simultaneous
    if not simultaneous and not n:
        return "The data separate all neighbours, also after correction for all pairs."
    if n == simultaneous == pairs:
        return f"The data separate none of the {counted(pairs, 'pair')} of neighbours."
    return (
        f"Of {counted(pairs, 'pair')} of neighbours, the data do not separate {n} ({percent(n / pairs)}) individually "
        f"and {simultaneous} ({percent(simultaneous / pairs)}) after correction for all pairs."
    )


def group_text(group: str) -> str:
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


def ranks_text(ranks: tuple[int, int] | None) -> str:
    """The best and the worst rank; a dash if they are unknown.

    >>> ranks_text((1, 3)), ranks_text((2, 2))
    ('1-3', '2')
    """
    if ranks is None:
        return "-"
    low, high = ranks
    return str(low) if low == high else f"{low}-{high}"
