import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq_inspect.read.questions import build_questions, dataset_order
from harness_uq_inspect.read.schema import Sample


def questions(*samples):
    return build_questions({str(sample.id): sample for sample in samples}, [str(sample.id) for sample in samples])


def hash_of(input_, *, id_="q", target="t"):
    return questions(Sample(id=id_, input=input_, target=target)).hashes[0]


def test_the_hash_is_of_the_input_alone():
    assert hash_of("What?") == hashlib.sha256(b"What?").hexdigest()
    assert hash_of("What?", id_="other", target="other") == hash_of("What?")


def test_ids_of_messages_do_not_enter_the_hash():
    message = {"role": "user", "content": "What?", "source": "input"}
    assert hash_of([message | {"id": "x"}]) == hash_of([message | {"id": "y"}]) != hash_of("What?")


@pytest.mark.parametrize("n", [5119, 5120, 5121, 9000])
def test_the_hash_of_a_summary_is_that_of_its_sample(inspect_log, n):
    """Samples and their truncated summaries must have the same hash."""
    from inspect_ai._util.content import ContentImage, ContentText
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    text = "word " * (n // 5) + "!" * (n % 5)
    pictured = [ContentText(text=text), ContentImage(image="data:image/png;base64,AAAA")]
    for input_ in (text, [ChatMessageSystem(content="Be brief."), ChatMessageUser(content=pictured)]):
        sample = inspect_log.EvalSample(id="q", epoch=1, input=input_, target="t")
        whole, summary = sample.model_dump(mode="json"), sample.summary().model_dump(mode="json")
        assert hash_of(whole["input"]) == hash_of(summary["input"])


def test_inputs_that_differ_beyond_what_summaries_keep_differ_by_target_or_id():
    first, second = "a" * 6000 + "1", "a" * 6000 + "2"
    assert hash_of(first, id_="1") != hash_of(second, id_="2")
    image = [{"role": "user", "content": [{"type": "image", "image": "x"}]}]
    assert hash_of(image, target="t") != hash_of(image, target="u")


def test_without_inputs_there_are_no_hashes():
    assert questions(Sample(id=1), Sample(id=2)).hashes == ()
    assert questions(Sample(id=1), Sample(id=2, input="x")).hashes[0] == ""


@pytest.mark.parametrize("pooled", [[3], [{"ref": 3}], {"refs": [3]}, []])
def test_an_input_that_refers_to_an_attachment_has_no_hash(pooled):
    assert questions(Sample(id=1, input=pooled), Sample(id=2, input="x")).hashes[0] == ""


def test_fields_are_the_leaves_of_the_metadata():
    metadata = [
        {"passage": "p", "n": 1, "deep": {"a": 1, "b": {"c": 1}}, "tags": ["x", "y"], "none": None},
        {"passage": "q", "n": 1, "deep": {"a": 2}, "tags": ["x", "y"]},
        {"passage": "p", "tags": ["y", "x"], "n": ""},
    ]
    fields = questions(*(Sample(id=i, metadata=m) for i, m in enumerate(metadata))).fields
    codes = {name: list(field.codes) for name, field in fields.items()}
    assert codes == {"passage": [0, 1, 0], "n": [0, 0, -1], "deep.a": [0, 1, -1], "tags": [0, 0, 1], "none": [-1] * 3}


def test_a_field_of_long_texts_is_marked_as_text():
    fields = questions(Sample(id=1, metadata={"long": "x" * 120, "short": "x" * 119, "number": 10**150})).fields
    assert {name: field.is_text for name, field in fields.items()} == {"long": True, "short": False, "number": False}


def test_ids_of_one_base_share_a_prefix():
    found = questions(Sample(id="7_en"), Sample(id="7_fr"), Sample(id="8_en"), Sample(id="9")).fields["id_prefix"]
    assert list(found.codes) == [0, 0, 1, 2]


@pytest.mark.parametrize("ids", [["a_1", "b_1"], ["x_1", "x_2"], [1, 2]])
def test_prefixes_that_group_nothing_or_everything_are_not_a_field(ids):
    assert "id_prefix" not in questions(*(Sample(id=i) for i in ids)).fields


def test_the_prompt_prefix_starts_after_the_shared_text():
    prompts = [f"Read.\nPassage: {passage * 100}\nQuestion {i}" for i, passage in enumerate(["one", "one", "two"])]
    prefix = questions(*(Sample(id=i, input=prompt) for i, prompt in enumerate(prompts))).prompt_prefix
    assert list(prefix.codes) == [0, 0, 1]
    assert questions(Sample(id=1, input="alone")).prompt_prefix is None
    assert questions(Sample(id=1), Sample(id=2)).prompt_prefix is None


def test_questions_are_in_the_order_of_the_data_set():
    assert dataset_order([3, 1, "b"], {"1": 0, "b": 0, "3": 0, "10": 0, "2": 0}) == ["3", "1", "b", "2", "10"]


@given(st.permutations(range(1, 12)))
def test_without_a_logged_order_questions_are_in_numerical_order(ids):
    assert dataset_order(None, {str(i): 0 for i in ids}) == [str(i) for i in range(1, 12)]


def test_a_question_without_a_document_has_no_fields():
    found = build_questions({"1": Sample(id=1, metadata={"a": 1}, input="x")}, ["1", "2"])
    np.testing.assert_array_equal(found.fields["a"].codes, [0, -1])
    assert found.hashes[1] == ""
