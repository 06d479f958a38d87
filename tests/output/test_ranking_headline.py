"""The answer of a ranking: who is best, who may be, and what cannot be told."""

from dataclasses import replace

import pytest

from harness_uq.results.ranking import Neighbours, Ranking, group_text, ranking_answer, ranks_text
from tests.output.rendering import render
from tests.results import factory as make


def ranked(*sets: tuple[int, int] | None, neighbours: Neighbours | None = None) -> Ranking:
    base = make.ranking(len(sets))
    pairs = enumerate(zip(base.systems, sets, strict=True))
    systems = tuple(replace(system, system=f"s{k}", rank_set=found) for k, (system, found) in pairs)
    return replace(base, systems=systems, neighbours=neighbours)


@pytest.mark.parametrize(
    ("ranking", "said"),
    [
        (ranked((1, 1), (2, 3), (2, 3)), "s0 is best, after correction for all pairs of systems."),
        (ranked((1, 1), (2, 2), neighbours=Neighbours(1, 0, 0)), "s0 is better than s1."),
        (ranked((1, 2), (1, 3), (2, 3)), "s0 has the best score, but s1 may be as good or better."),
        (ranked(*[(1, 6)] * 6), "s0 has the best score, but s1, s2, s3 and 2 more may be as good or better."),
        (ranked(None, None), "s0 has the best score."),
        (
            ranked((1, 2), (1, 2), neighbours=Neighbours(1, 1, 1)),
            "s0 has the best score, but s1 may be as good or better.",
        ),
        (
            ranked((1, 1), (2, 2), (3, 4), (3, 4), neighbours=Neighbours(3, 1, 2)),
            "s0 is best, after correction for all pairs of systems. Of 3 pairs of neighbours, the data do not "
            "separate 1 (33 %) individually and 2 (67 %) after correction for all pairs.",
        ),
    ],
)
def test_the_answer_names_the_best_its_rivals_and_what_is_open(ranking: Ranking, said: str) -> None:
    assert ranking_answer(ranking) == said


def test_systems_with_the_same_best_score_share_it() -> None:
    ranking = ranked((1, 3), (1, 3), (1, 3))
    tied = [replace(system, value=ranking.systems[0].value) for system in ranking.systems[:2]]
    answer = ranking_answer(replace(ranking, systems=(*tied, ranking.systems[2])))
    assert answer == "s0 and s1 share the best score, but s2 may be as good or better."


def test_neighbours_of_whom_all_or_none_are_told_apart_are_said_in_words() -> None:
    said = [ranking_answer(ranked((1, 1), (2, 2), (3, 3), neighbours=Neighbours(2, n, n))) for n in (0, 2)]
    assert said[0].endswith("The data separate all neighbours, also after correction for all pairs.")
    assert said[1].endswith("The data separate none of the 2 pairs of neighbours.")


def test_letters_in_a_row_are_told_by_their_ends() -> None:
    assert [group_text(text) for text in ("a", "abc", "abd", "", "-", "y.z.aa.ab")] == [
        "a",
        "a-c",
        "abd",
        "",
        "-",
        "y-ab",
    ]


def test_ranks_are_one_number_or_two() -> None:
    assert [ranks_text(pair) for pair in ((1, 1), (2, 10), None)] == ["1", "2-10", "-"]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_score_interval_rank_set_and_group_never_give_way(width: int) -> None:
    text = render([make.ranking(8)], "table", width=width)
    assert max(map(len, text.splitlines())) <= width
    header = next(line for line in text.splitlines() if line.startswith("System"))
    assert all(name in header for name in ("Value", "95% interval", "Rank set", "Group"))
