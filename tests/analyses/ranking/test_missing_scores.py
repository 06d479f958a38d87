"""Rankings of systems of which some trials have no score."""

import numpy as np
import pytest

from harness_uq import rank
from harness_uq.commands.main import main
from harness_uq.data.task_log import log_of_array
from harness_uq.messages.catalogue import comparison as messages
from harness_uq.plots import plot_ranks
from harness_uq.results.ranking import Ranking


@pytest.fixture(scope="module")
def logs():
    rng = np.random.default_rng(3)
    difficulty, found = rng.normal(size=400), []
    for name, threshold in (("A", -0.6), ("B", -0.2), ("C", -0.5), ("D", 0.4)):
        values = (difficulty + rng.normal(size=400) > threshold).astype(float)
        if name in "AC":
            values[(rng.random(400) < 0.25) & (values == 0)] = np.nan
        found.append(log_of_array(values, name, clusters=None, metric="score"))
    return found


def test_bounds_give_rank_sets_without_probabilities(logs) -> None:
    dropped, open_ranks = rank(logs)[0], rank(logs, missing="bounds")[0]
    assert [row.system for row in open_ranks.systems] == [row.system for row in dropped.systems]
    for plain, row in zip(dropped.systems, open_ranks.systems, strict=True):
        assert row.prob_best is None
        assert row.expected_rank is None
        assert row.rank_set[0] <= plain.rank_set[0]
        assert plain.rank_set[1] <= row.rank_set[1]
        assert row.value == plain.value
    assert open_ranks.prob_better is None
    assert open_ranks.n_questions == 400
    assert open_ranks.systems[3].rank_set == (4, 4)


def test_rank_sets_contain_those_of_every_completion(logs) -> None:
    wide = {row.system: row.rank_set for row in rank(logs, missing="bounds")[0].systems}
    for policy in ("zero", "drop"):
        for row in rank(logs, missing=policy)[0].systems:
            assert wide[row.system][0] <= row.rank_set[0] <= row.rank_set[1] <= wide[row.system][1]


def test_leaders_that_depend_on_missing_scores_are_reported(logs) -> None:
    (warning,) = (one for one in rank(logs)[0].messages if one.code == messages.RANKS_DEPEND_ON_MISSING.code)
    assert warning.params["dropped"] == ("A",)
    assert warning.params["open"] == ("A", "C")
    assert not any(one.code == messages.RANKS_DEPEND_ON_MISSING.code for one in rank(logs, missing="drop")[0].messages)


def test_output_without_probabilities(logs) -> None:
    rankings = rank(logs, missing="bounds")
    (section,) = Ranking.KIND.document(rankings).sections
    best = next(column for column in section.columns if column.header == "P(best)")
    assert set(best.texts) == {"-"}
    assert "0.5" not in rankings[0].to_dict()


def test_the_plot_does_without_probabilities(logs) -> None:
    pytest.importorskip("matplotlib")
    assert plot_ranks(rank(logs, missing="bounds")[0]) is not None


def test_overall_refuses_bounds(logs) -> None:
    from dataclasses import replace

    both = [*logs, *(replace(log, task="other") for log in logs)]
    result = rank(both, missing="bounds", overall=True).overall
    assert not result.systems
    assert result.reason.code == messages.OVERALL_WITHOUT_BOUNDS.code
    assert rank(both, missing="zero", overall=True).overall.systems


def test_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "scores.csv"
    cells = [(q, s, "" if q % 7 == 0 and s == "a" else str(q * 7 % 3 % 2)) for q in range(90) for s in "ab"]
    rows = [",".join(map(str, cell)) for cell in cells]
    path.write_text("question,system,score\n" + "\n".join(rows) + "\n")
    assert main(["rank", str(path), "--missing", "bounds"]) == 0
    assert "95% ranks" in capsys.readouterr().out
    assert main(["estimate", str(path), "--missing", "zeros"]) == 2
    assert "Did you mean" in capsys.readouterr().err
