"""The tool that compares results of commands with stored ones, and a small part of this comparison."""

import copy
import json
import random
import re
import subprocess
import sys
from importlib.metadata import version

import golden
import pytest
from golden_cases import Case, all_cases
from golden_compare import IntendedChange, compare, compare_repeated, find_drawn, flatten, is_wording

STORED = {
    "exit": 0,
    "rows": [{"task": "exam", "value": 0.5, "n": 20, "low": None}],
    "messages": [{"code": "UQ104", "text": "The interval uses 3 clusters.", "params": {"n": 3}}],
    "prob_best": [0.7, 0.3],
}


def _differences(change, drawn=None):
    new = copy.deepcopy(STORED)
    change(new)
    return compare("case", STORED, new, drawn or {}, n_seeds=6)[1]


def test_equal_results_have_no_differences():
    assert _differences(lambda new: None) == []


@pytest.mark.parametrize(
    ("factor", "differs"), [(1 + 1e-10, False), (1 + 1e-8, True)], ids=["rounding", "another number"]
)
def test_numbers_agree_to_a_relative_error_of_a_billionth(factor, differs):
    found = _differences(lambda new: new["rows"][0].update(value=0.5 * factor))
    assert [one.path for one in found] == (["rows.0.value"] if differs else [])


@pytest.mark.parametrize(
    "change",
    [
        lambda new: new["rows"][0].update(n=20.0),
        lambda new: new["rows"][0].update(low=0.1),
        lambda new: new["rows"][0].update(task="exams"),
        lambda new: new.update(exit=3),
        lambda new: new["messages"][0]["params"].update(n=4),
        lambda new: new["messages"][0].update(text="The interval uses 4 clusters."),
    ],
    ids=["type", "no value", "text", "exit code", "parameter", "number in a text"],
)
def test_everything_else_agrees_exactly(change):
    assert len(_differences(change)) == 1


def test_the_order_of_keys_is_part_of_the_result():
    def reorder(new):
        new["rows"][0] = dict(reversed(new["rows"][0].items()))

    assert [one.path for one in _differences(reorder)] == ["rows.0.(keys)"]


def test_one_more_message_does_not_move_the_others():
    more = {"code": "UQ105", "text": "More.", "params": {}}
    paths = [one.path for one in _differences(lambda new: new["messages"].insert(0, more))]
    assert "messages.(items)" in paths
    assert not any(path.startswith("messages.UQ104") for path in paths)


def test_the_last_printed_digit_of_a_number_may_differ_by_one():
    old, near, far = ({"stderr": f"Scores from {low} to 0.9."} for low in ("0.12", "0.13", "0.14"))
    assert compare("case", old, near, {}, n_seeds=6)[1] == []
    assert len(compare("case", old, far, {}, n_seeds=6)[1]) == 1


def test_wording_is_told_apart_from_parameters():
    text = _differences(lambda new: new["messages"][0].update(text="Only 3 clusters."))
    parameter = _differences(lambda new: new["messages"][0]["params"].update(n=4))
    assert list(map(is_wording, text + parameter)) == [True, False]


def _with_draws(mean, seed):
    rng = random.Random(seed)
    best = rng.gauss(mean, (mean * (1 - mean) / 10_000) ** 0.5)
    return {"prob_best": [best, 1 - best, 0.0], "value": 0.5}


def test_numbers_that_differ_between_seeds_may_differ_by_four_monte_carlo_errors():
    drawn = find_drawn([_with_draws(0.7, seed) for seed in range(6)])
    assert set(drawn) == {"prob_best.0", "prob_best.1", "prob_best.2"}  # also the one that is 0 with each seed
    stored = _with_draws(0.7, 0)
    assert compare("case", stored, _with_draws(0.7, 100), drawn, n_seeds=6)[1] == []
    differing = compare("case", stored, _with_draws(0.74, 100), drawn, n_seeds=6)[1]
    assert [one.path for one in differing] == ["prob_best.0", "prob_best.1"]


def test_a_repeated_case_compares_means_of_several_seeds():
    drawn = find_drawn([_with_draws(0.7, seed) for seed in range(6)])
    differing = compare("case", _with_draws(0.7, 0), _with_draws(0.74, 100), drawn, n_seeds=6)[1]
    for mean, n_left in ((0.7, 0), (0.74, 2)):
        repeated = find_drawn([_with_draws(mean, seed) for seed in range(200, 208)])
        assert len(compare_repeated(differing, drawn, repeated, n_seeds=6, n_repeated=8)) == n_left


def test_an_intended_change_has_a_bound():
    (difference,) = _differences(lambda new: new["rows"][0].update(value=0.52))
    assert IntendedChange("ca*", "rows.*.value", "a reason", 0.03).allows(difference)
    assert not IntendedChange("ca*", "rows.*.value", "a reason", 0.01).allows(difference)
    assert not IntendedChange("other*", "*", "a reason").allows(difference)


def test_flat_paths_name_messages_by_code():
    assert flatten(STORED)["messages.UQ104.params.n"] == 3


def test_names_of_cases_are_unique_and_all_have_stored_results():
    cases = [case for case in all_cases() if not case.shared]
    stored = {name for file in map(golden._file_of, cases) for name in golden._read(file)}
    assert {case.name for case in cases} - stored == set()


def test_a_part_of_the_results_is_as_stored():
    recorded = json.loads((golden.STORED / "environment.json").read_text(encoding="utf-8"))
    installed = {name: version(name) for name in recorded}
    if installed != recorded:
        pytest.skip(f"the results were recorded with {recorded}, not with {installed}")
    names = [word for case in _part(seconds=3) for word in ("--only", case.name)]
    command = [sys.executable, golden.ROOT / "tools" / "golden.py", "check", "--jobs", "1", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d{4,} values", done.stdout)


def _part(seconds: float) -> list[Case]:
    """Quick cases of all commands that together take so many seconds."""
    times = golden._read("seconds")
    cases = [case for case in all_cases() if times.get(case.name, 1) < 0.2 and not case.shared]
    random.Random(1).shuffle(cases)
    part, total = [], 0.0
    for case in cases:
        total += times[case.name] + 0.05  # of which a process takes a part
        if total > seconds:
            break
        part.append(case)
    return part
