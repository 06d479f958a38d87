import re

import pytest

from harness_uq_inspect.read.catalogue import load_catalogue


def entry_for(task):
    return next((entry for entry in load_catalogue().tasks if re.fullmatch(entry.pattern, task)), None)


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("drop", ("passage_hash",)),
        ("inspect_evals/squad", ("context_hash",)),
        ("inspect_evals/bbq", ("category+question_index",)),
        ("agentharm_benign", ("id_original",)),
        ("inspect_evals/mmlu_0_shot", ()),
    ],
)
def test_a_task_is_known_with_and_without_its_package(task, fields):
    assert entry_for(task).cluster_fields == fields


@pytest.mark.parametrize("task", ["dropped", "my_drop", "toy", "drop/other"])
def test_other_tasks_are_not_in_the_catalogue(task):
    assert entry_for(task) is None


def test_the_specific_entry_precedes_the_general_one():
    assert entry_for("cyse4_multiturn_phishing").cluster_fields == ("prompt_id",)
    assert entry_for("cyse4_mitre").cluster_fields == ()


def test_no_field_is_both_cluster_and_stratum_of_a_task():
    for entry in load_catalogue().tasks:
        assert not set(entry.cluster_fields) & set(entry.strata), entry.pattern
        assert entry.note
