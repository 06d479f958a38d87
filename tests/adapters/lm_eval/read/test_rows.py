import json

import pytest

from harness_uq import LogError
from harness_uq_lm_eval.read.rows import Decoder, iterate, prompt, repeated_keys, value

decode = Decoder()


def written(tmp_path, content):
    path = tmp_path / "samples.jsonl"
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_lines_are_rows_and_blank_lines_are_none(tmp_path):
    path = written(tmp_path, '{"doc_id": 0}\n\n{"doc_id": 1}\n')
    assert [(number, value(decode(line)["doc_id"])) for number, line in iterate(path)] == [(1, 0), (3, 1)]


@pytest.mark.parametrize("indent", [2, 4])
def test_an_indented_array_gives_its_objects_with_their_first_lines(tmp_path, indent):
    records = [{"doc_id": 0, "doc": {"a": {"b": [1, 2]}}}, {"doc_id": 1, "doc": {}}]
    path = written(tmp_path, json.dumps(records, indent=indent))
    found = list(iterate(path))
    assert [json.loads(text) for _, text in found] == records
    assert [number for number, _ in found] == [2, 13]


def test_an_array_on_one_line_gives_its_objects(tmp_path):
    path = written(tmp_path, json.dumps([{"doc_id": 0}, {"doc_id": 1}]))
    assert [json.loads(text) for _, text in iterate(path)] == [{"doc_id": 0}, {"doc_id": 1}]


def test_an_empty_array_has_no_rows(tmp_path):
    assert list(iterate(written(tmp_path, "[]"))) == []


def test_a_truncated_array_on_one_line_is_an_error(tmp_path):
    with pytest.raises(LogError, match="not a valid JSON array"):
        list(iterate(written(tmp_path, '[{"doc_id": 0}, {"doc')))


def test_a_truncated_indented_array_gives_its_complete_objects(tmp_path):
    text = json.dumps([{"doc_id": 0, "acc": 1}, {"doc_id": 1, "acc": 0}], indent=2)
    (_, first), (number, second) = iterate(written(tmp_path, text[:-20]))
    assert json.loads(first) == {"doc_id": 0, "acc": 1}
    assert number == 6
    with pytest.raises(ValueError, match=r"delimiter|Expecting|Unterminated"):
        decode(second)


def test_rows_with_nan_and_infinity_are_read_although_json_has_neither():
    row = decode(b'{"doc_id": 3, "doc": {"x": NaN}, "acc": -Infinity, "pass@1": 0.5}')
    assert (value(row["doc_id"]), value(row["acc"]), value(row["pass@1"])) == (3, float("-inf"), 0.5)


def test_numbers_and_texts_that_are_passed_over_unchecked_are_still_read():
    row = decode(b'{"doc_id": 1, "doc": {"big": 1e999, "text": "a\xffb"}, "arguments": [["\xff", 1e999]]}')
    assert value(row["doc"]) == {"big": float("inf"), "text": "a\ufffdb"}
    assert prompt(row["arguments"]) == "\ufffd"


def test_rows_with_and_without_nan_may_alternate():
    decoder = Decoder()
    rows = [decoder(b'{"doc_id": %d, "acc": %s}' % (i, b"NaN" if i % 3 else b"1")) for i in range(9)]
    assert [value(row["acc"]) == 1 for row in rows] == [i % 3 == 0 for i in range(9)]


@pytest.mark.parametrize(
    "text", [b'{"doc_id": 1, "acc": 1.', b"", b"[1, 2]", b'{"acc": 1}', b'"doc_id"', b"\xff\xfe{}"]
)
def test_rows_that_are_not_samples_are_a_value_error(text):
    with pytest.raises(ValueError, match=r".+"):
        decode(text)


@pytest.mark.parametrize(
    "arguments",
    [
        {"gen_args_0": {"arg_0": "Q: 1", "arg_1": " a"}, "gen_args_1": {"arg_0": "other"}},
        {"gen_args_0": {"arg_0": ["Q: 1"], "arg_1": {"until": []}}},  # a chat, 0.4.9
        [["Q: 1", " a"], ["other", " b"]],  # before 0.4.3
    ],
)
def test_the_prompt_is_the_first_text_of_the_first_request(arguments):
    row = decode(json.dumps({"doc_id": 0, "arguments": arguments}).encode())
    assert prompt(row["arguments"]) == "Q: 1"
    assert prompt(arguments) == "Q: 1"


@pytest.mark.parametrize("arguments", [None, {}, [], {"gen_args_0": {}}, {"gen_args_0": {"arg_0": 5}}])
def test_without_a_request_there_is_no_prompt(arguments):
    row = decode(json.dumps({"doc_id": 0, "arguments": arguments}).encode())
    assert prompt(row["arguments"]) is None


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")], ids=["json.dumps", "compact"])
@pytest.mark.parametrize("acc", ["0.0", "12345678901234567890", '{"acc": 1}'])
def test_repeated_keys_are_found_with_all_separators_and_lengths(separators, acc):
    comma, colon = separators
    members = [f'"doc_id"{colon}1', f'"doc"{colon}{{"acc": "é"}}', f'"acc"{colon}1.0']
    for repeated in ([], ["acc"]):
        line = ("{" + comma.join([*members, *(f'"{name}"{colon}{acc}' for name in repeated)]) + "}\n").encode()
        assert repeated_keys(line, decode(line), ("doc_id", "acc")) == repeated
