"""Which questions of different tasks are one item."""

import pytest

from harness_uq import Questions, Reported, Source, TaskLog
from harness_uq_lm_eval.read.shared_items import Identifiers, with_items


def log(task, n=0, subtasks=()):
    questions, reported = Questions(tuple(map(str, range(n)))), {("acc", "none"): Reported(None)}
    return TaskLog("m", task, Source("p", "lm-eval"), questions, (), reported, subtasks=subtasks)


def items(tasks, targets=None):
    """Items that each task's questions get in a group of them all; `tasks` maps names to their documents."""
    found = {}
    for name, docs in tasks.items():
        found[name] = Identifiers(name)
        for place, doc in enumerate(docs):
            found[name].add(place, doc, (targets or {}).get(name, ["t"] * len(docs))[place])
    logs = [*(log(name, len(docs)) for name, docs in tasks.items()), log("group", subtasks=tuple(tasks))]
    return {one.task: one.questions.items for one in with_items(logs, found)}


def ids(*values, name="id"):
    return [{name: value} for value in values]


def test_identifiers_in_words_join():
    found = items({"a": ids("x1", "y2", "x3"), "b": ids("x3", "x1", "y2")})
    assert found["a"] == ("x1", "y2", "x3")
    assert found["b"] == ("x3", "x1", "y2")
    assert found["group"] == ()


def test_numbers_alone_do_not_join():
    assert items({"a": ids(*range(50)), "b": ids(*range(50))})["a"] == ()


def test_numbers_join_where_the_targets_agree():
    targets = [str(i * 7 % 5) for i in range(50)]
    found = items({"a": ids(*range(50)), "b": ids(*range(50))}, {"a": targets, "b": targets})
    assert found["a"] == found["b"] == tuple(map(str, range(50)))


def test_constant_targets_are_no_witness():
    targets = {"a": ["yes"] * 50, "b": ["yes"] * 50}
    assert items({"a": ids(*range(50)), "b": ids(*range(50))}, targets)["a"] == ()


def test_a_task_with_other_targets_stays_apart():
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
def test_no_identifier_no_items(docs):
    assert items({"a": docs, "b": docs})["a"] == ()


def test_few_common_items_do_not_join():
    first, second = ids(*(f"a{i}" for i in range(10))), ids("a0", *(f"b{i}" for i in range(9)))
    assert items({"a": first, "b": second})["a"] == ()
