import re
from collections import Counter
from importlib.metadata import version

import pytest

from harness_uq_lm_eval.read.catalogue import load_catalogue

# number of tasks in lm-eval 0.4.13, and of those that a pattern matches, counted with its TaskManager
COUNTED_VERSION = "0.4.13"
PACKAGED = 13_123
MATCHED = 10_689


def entry_of(task):
    return next(entry for entry in load_catalogue().tasks if re.fullmatch(entry.pattern, task))


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("drop", ("section_id", "passage")),
        ("multirc", ("idx.paragraph",)),
        ("squadv2", ("title", "context")),
        ("belebele_fra_Latn", ("link", "flores_passage")),
        ("bbq", ("category+question_index",)),
        ("agieval_lsat_lr", ("prompt_prefix",)),
        ("mmlu_professional_law", ("prompt_prefix",)),
        ("mmlu_anatomy", ()),
        ("gsm8k_cot_self_consistency", ()),
        ("lingoly_context", ("index",)),
    ],
)
def test_known_tasks_have_their_fields(task, fields):
    assert entry_of(task).cluster_fields == fields


def test_every_entry_has_a_reason():
    assert all(entry.note and not entry.note.endswith(".") for entry in load_catalogue().tasks)


def test_catalogue_patterns_are_unique():
    counts = Counter(entry.pattern for entry in load_catalogue().tasks)
    assert max(counts.values()) == 1


@pytest.mark.slow
@pytest.mark.harness
def test_the_catalogue_covers_the_packaged_tasks():
    lm_eval = pytest.importorskip("lm_eval.tasks")
    if version("lm_eval") != COUNTED_VERSION:
        pytest.skip(f"counted for lm-eval {COUNTED_VERSION}")
    tasks = lm_eval.TaskManager().all_subtasks
    matched = sum(any(re.fullmatch(entry.pattern, task) for entry in load_catalogue().tasks) for task in tasks)
    assert (len(tasks), matched) == (PACKAGED, MATCHED)
