"""Recognise questions of different tasks that are the same item."""

import pytest

from harness_uq import Questions, Source, TaskLog
from harness_uq.data.task_log import HarnessResult
from harness_uq_lm_eval.read.shared_items import Identifiers, with_items


def log(task, n=0, subtasks=()):
    questions, reported = Questions(tuple(map(str, range(n)))), {("acc", "none"): HarnessResult(None)}
    return TaskLog("m", task, Source("p", "lm-eval"), questions, (), reported, subtasks=subtasks)


def items(tasks, targets=None):
    """Items of each task's questions in a group of all tasks; `tasks` maps names to documents."""
    found = {}
    for name, docs in tasks.items():
        found[name] = Identifiers(name)
        for place, doc in enumerate(docs):
            found[name].add(place, doc, (targets or {}).get(name, ["t"] * len(docs))[place])
    logs = [*(log(name, len(docs)) for name, docs in tasks.items()), log("group", subtasks=tuple(tasks))]
    return {one.task: one.questions.items for one in with_items(logs, found)}


def ids(*values, name="id"):
    return [{name: value} for value in values]


def test_identifiers_that_are_not_running_numbers_are_joined():
    found = items({"a": ids("5733be28", "Mercury_7175875", "e4a01"), "b": ids("e4a01", "5733be28", "Mercury_7175875")})
    assert found["a"] == ("5733be28", "Mercury_7175875", "e4a01")
    assert found["b"] == ("e4a01", "5733be28", "Mercury_7175875")
    assert found["group"] == ()


@pytest.mark.parametrize("form", ["{}", "q{}", "test-{}", "validation_{}_0", "p{}", "{}/en"])
@pytest.mark.parametrize("start", [0, 1, 1000])
def test_unrelated_tasks_whose_identifiers_restart_stay_apart(form, start):
    tasks = {
        name: [{"id": form.format(start + i), "question": f"A question of {name}, the {i}th?"} for i in range(50)]
        for name in ("a", "b")
    }
    targets = {"a": [str(i % 4) for i in range(50)], "b": [str(i * 7 % 4) for i in range(50)]}
    assert items(tasks, targets) == {"a": (), "b": (), "group": ()}


@pytest.mark.parametrize("n", [10, 50])
def test_identifiers_that_restart_join_where_a_text_of_the_documents_is_the_same(n):
    tasks = {
        name: [{"id": f"q{i}", "premise": f"The {i} birds sing.", "hint": f"{name} {i} is it?"} for i in order]
        for name, order in (("a", range(n)), ("b", range(n)[::-1]))
    }
    found = items(tasks)
    assert found["a"] == found["b"][::-1] == tuple(f"q{i}" for i in range(n))


def test_a_text_that_all_questions_share_confirms_nothing():
    tasks = {name: [{"id": f"q{i}", "instruction": "Answer with one word."} for i in range(50)] for name in "ab"}
    assert items(tasks)["a"] == ()


def test_running_numbers_alone_are_not_joined():
    assert items({"a": ids(*range(50)), "b": ids(*range(50))})["a"] == ()


def test_running_numbers_are_joined_if_the_targets_agree():
    targets = [str(i * 7 % 5) for i in range(50)]
    found = items({"a": ids(*range(50)), "b": ids(*range(50))}, {"a": targets, "b": targets})
    assert found["a"] == found["b"] == tuple(map(str, range(50)))


def test_constant_targets_confirm_nothing():
    targets = {"a": ["yes"] * 50, "b": ["yes"] * 50}
    assert items({"a": ids(*range(50)), "b": ids(*range(50))}, targets)["a"] == ()


def test_a_task_with_other_targets_is_not_joined():
    targets = [str(i * 7 % 5) for i in range(50)]
    other = [str(i * 3 % 5 + 5) for i in range(50)]
    tasks = {"a": ids(*range(50)), "b": ids(*range(50)), "c": ids(*range(50))}
    found = items(tasks, {"a": targets, "b": targets, "c": other})
    assert found["a"] == found["b"]
    assert not set(found["c"]) & set(found["a"])


def test_the_place_in_the_data_set_is_not_a_field_of_that_name():
    identifiers = Identifiers("xnli_de")
    for place in range(3):
        identifiers.add(place, {"doc_id": f"own {place}"}, "t")
    assert identifiers.values["doc_id"] == ["0", "1", "2"]


def test_the_catalogue_may_join_places_in_the_data_set():
    docs = [{"question": f"q{i}"} for i in range(4)]
    found = items({"mgsm_direct_en": docs, "mgsm_direct_de": docs})
    assert found["mgsm_direct_en"] == found["mgsm_direct_de"] == ("0", "1", "2", "3")


def test_a_composite_key_joins():
    docs = [{"link": f"l{i // 2}", "question_number": i % 2} for i in range(6)]
    found = items({"belebele_deu_Latn": docs, "belebele_fra_Latn": docs[::-1]})
    assert found["belebele_deu_Latn"] == found["belebele_fra_Latn"][::-1]
    assert len(set(found["belebele_deu_Latn"])) == 6


@pytest.mark.parametrize("docs", [ids("x", "x", "y"), ids("x", None, "y"), [{}, {}, {}]])
def test_without_identifiers_there_are_no_items(docs):
    assert items({"a": docs, "b": docs})["a"] == ()


def test_tasks_with_few_common_items_are_not_joined():
    first, second = (ids("5733be28", *(f"{name}{7**i}" for i in range(9))) for name in "ab")
    assert items({"a": first, "b": second})["a"] == ()


@pytest.mark.parametrize(
    ("text", "counts"),
    [("", False), ("one", False), ("two words", False), (" a", False), ("a b c", True), ("a  b", True)],
)
def test_only_texts_with_two_blanks_can_confirm_shared_items(text: str, counts: bool) -> None:
    identifiers = Identifiers("task")
    identifiers.add(0, {"text": text}, "t")
    assert ("doc.text" in identifiers.content_hashes) == counts
