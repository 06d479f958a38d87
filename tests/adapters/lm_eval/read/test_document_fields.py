import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness_uq_lm_eval.read.document_fields import PREFIX_LENGTH, DocumentFields, PromptPrefixes


def candidates(*documents):
    fields = DocumentFields()
    for document in documents:
        fields.add(document)
    return fields.candidates()


def codes_of(*prompts):
    prefixes = PromptPrefixes()
    for prompt in prompts:
        prefixes.add(prompt)
    found = prefixes.candidate()
    return None if found is None else found.codes.tolist()


def test_equal_values_share_a_code_by_first_appearance():
    found = candidates({"passage": "b"}, {"passage": "a"}, {"passage": "b"})
    assert found["passage"].codes.tolist() == [0, 1, 0]


def test_leaves_to_depth_two_have_dotted_names():
    found = candidates({"idx": {"paragraph": 7, "deep": {"x": 1}}, "plain": 1})
    assert sorted(found) == ["idx.paragraph", "plain"]


def test_a_name_with_a_dot_beside_an_object_is_one_field():
    found = candidates({"a.b": 0, "a": {"b": 1}}, {"a.b": 0, "a": {"b": 2}}, {"a": {"b": 1}}, {"a": {"b": None}})
    assert found["a.b"].codes.tolist() == [0, 1, 0, -1]


def test_missing_and_null_are_minus_one_wherever_they_stand():
    found = candidates({"a": 1}, {"a": None, "b": 2}, {}, {"b": 2})
    assert found["a"].codes.tolist() == [0, -1, -1, -1]
    assert found["b"].codes.tolist() == [-1, 0, -1, 0]


def test_numbers_whose_hashes_python_confuses_stay_apart():
    assert hash(-1) == hash(-2)
    assert candidates({"n": -1}, {"n": -2}, {"n": -1})["n"].codes.tolist() == [0, 1, 0]


def test_lists_are_leaves_compared_by_content():
    found = candidates({"options": ["x", "y"]}, {"options": ["y", "x"]}, {"options": ["x", "y"]})
    assert found["options"].codes.tolist() == [0, 1, 0]


def test_a_field_is_a_text_from_120_characters_on_average():
    found = candidates(
        {"long": "x" * 119, "short": "x" * 118, "list": ["word"] * 30}, {"long": "x" * 121, "short": "x" * 121}
    )
    assert {name for name, field in found.items() if field.is_text} == {"long", "list"}


def test_a_document_that_is_no_object_has_no_fields():
    assert candidates("just a text", None) == {}


def test_the_opening_follows_the_prefix_that_all_prompts_share():
    assert codes_of("Read: A story. Q1", "Read: B story. Q2", "Read: A story. Q3") == [0, 1, 2]
    passages = {name: name * PREFIX_LENGTH for name in "AB"}
    assert codes_of(*(f"Read: {passages[name]} Q{i}" for i, name in enumerate("ABAB"))) == [0, 1, 0, 1]


def test_prompts_that_were_not_logged_are_missing():
    assert codes_of("Q: a", None, "Q: b") == [0, -1, 1]
    assert codes_of(None, None) is None


def two_pass_codes(prompts):
    start = next(n for n in range(len(prompts[0]), -1, -1) if all(p.startswith(prompts[0][:n]) for p in prompts))
    openings = [prompt[start : start + PREFIX_LENGTH] for prompt in prompts]
    return [list(dict.fromkeys(openings)).index(opening) for opening in openings]


@given(st.lists(st.text(alphabet="ab\n", max_size=3 * PREFIX_LENGTH), min_size=1, max_size=8), st.text(max_size=30))
def test_one_pass_finds_the_openings_that_two_passes_find(tails, head):
    prompts = [head + tail for tail in tails]
    assert codes_of(*prompts) == two_pass_codes(prompts)


@given(st.integers(1, 5), st.integers(2, 12))
def test_one_pass_agrees_where_the_shared_prefix_shrinks_with_every_prompt(step, n):
    prompts = ["x" * (n - i) * step * 40 + "y" * 300 for i in range(n)]
    assert codes_of(*prompts) == two_pass_codes(prompts)


def test_shared_text_and_mean_length_describe_the_prompts():
    prefixes = PromptPrefixes()
    for prompt in ("Q: ab", "Q: b", "Q: abc"):
        prefixes.add(prompt)
    assert prefixes.shared_text == "Q: "
    assert np.isclose(prefixes.mean_length, 5)
