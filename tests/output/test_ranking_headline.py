"""The answer of a ranking: who is best, who may be, and what cannot be told."""

from dataclasses import replace

import pytest

from harness_uq.results.ranking import Ranking, group_text, ranking_answer, ranks_text
from tests.output.rendering import render
from tests.results import factory as make


def ranked(*ranks: tuple[int, int]) -> Ranking:
    base = make.ranking(len(ranks))
    pairs = enumerate(zip(base.systems, ranks, strict=True))
    systems = tuple(replace(one, system=f"s{k}", rank_low=low, rank_high=high) for k, (one, (low, high)) in pairs)
    return replace(base, systems=systems)


@pytest.mark.parametrize(
    ("ranking", "headline"),
    [
        (ranked((1, 1), (2, 3), (2, 3)), "s0 is better than all other systems."),
        (ranked((1, 1), (2, 2)), "s0 is better than s1."),
        (ranked((1, 2), (2, 3), (2, 3)), "s0 has the best score, and the ranks of no other system include 1."),
        (ranked((1, 2), (1, 3), (2, 3)), "s0 has the best score, but s1 may be as good or better."),
        (ranked(*[(1, 6)] * 6), "s0 has the best score, but s1, s2, s3 and 2 more may be as good or better."),
        (ranked((1, 2), (1, 2)), "s0 has the best score, but s1 may be as good or better."),
    ],
)
def test_the_headline_names_the_best_system_and_those_whose_ranks_include_1(ranking: Ranking, headline: str) -> None:
    assert ranking_answer(ranking) == headline


def test_several_rankings_are_one_table_with_a_row_and_the_leader_of_each() -> None:
    rankings = [replace(ranked(*ranks), task=f"t{k}") for k, ranks in enumerate([((1, 1), (2, 2)), ((1, 2), (1, 2))])]
    text = render(rankings, "table", width=100)
    lines = text.splitlines()
    assert lines[0] == "Best score in 2 rankings: s0 in 2. In 1 of them, the ranks of no other system include 1."
    header = next(k for k, line in enumerate(lines) if line.startswith("Task"))
    assert [(line.split()[0], line.split()[-2]) for line in lines[header + 1 : header + 3]] == [
        ("t0", "0"),
        ("t1", "1"),
    ]
    assert "s1" not in text


def test_a_table_for_each_task_is_printed_on_request_and_for_named_columns() -> None:
    rankings = [replace(make.ranking(3), task=f"t{k}") for k in range(2)]
    shown = (render(rankings, "table", summarize=False), render(rankings, "table", columns=("system", "rank-set")))
    assert all(text.count("System") == 2 for text in shown)
    assert "Rank set" in shown[1]
    assert shown[0].count("Group: systems share") == 1


def test_the_matrix_of_all_pairs_is_printed_with_all_columns() -> None:
    assert "probability that the system of the row" not in render([make.ranking(3)], "table")
    assert "probability that the system of the row" in render([make.ranking(3)], "table", columns=("all",))


def test_systems_with_the_same_best_score_share_it() -> None:
    ranking = ranked((1, 3), (1, 3), (1, 3))
    tied = [replace(system, value=ranking.systems[0].value) for system in ranking.systems[:2]]
    answer = ranking_answer(replace(ranking, systems=(*tied, ranking.systems[2])))
    assert answer == "s0 and s1 share the best score, but s2 may be as good or better."


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
def test_score_interval_ranks_and_group_never_give_way(width: int) -> None:
    text = render([make.ranking(8)], "table", width=width)
    assert max(map(len, text.splitlines())) <= width
    row = next(line for line in text.splitlines() if line.startswith("system-2/chat "))
    score = ["0.809", "[0.774,", "0.844]"] if width == 80 else ["0.8090", "[0.7740,", "0.8440]"]
    assert row.split()[-6:] == [*score, "1-5", "0.280", "ab"]
