"""Answers that a filter could not parse, and metrics of a part of the questions."""

from harness_uq import estimate
from harness_uq_lm_eval.read.rows import is_unparsed
from tests.adapters.lm_eval.logs import one_task, row
from tests.message_checks import has

INVALID = ["[invalid]"]


def answer(doc_id: int, filter_name: str, text: str, score: float) -> dict[str, object]:
    return {**row(doc_id, filter_name=filter_name, em=score), "filtered_resps": [text]}


def test_an_answer_is_unparsed_if_no_filter_parses_it(tmp_path) -> None:
    records = [
        answer(0, "strict", "[invalid]", 0),
        answer(0, "flexible", "42", 1),
        answer(1, "strict", "[invalid]", 0),
        answer(1, "flexible", "[invalid]", 0),
        answer(2, "strict", "7", 1),
        answer(2, "flexible", "7", 1),
    ]
    log = one_task(tmp_path, records, {"em,strict": 1 / 3, "em,flexible": 2 / 3})
    assert log.ended_by is not None
    assert log.ended_by.counts() == {"completed": 2, "unparsed": 1}
    assert has(log, "unparsed-answers", n_unparsed=1, n_questions=3)


def test_unparsed_answers_keep_their_scores_unless_they_are_treated(tmp_path) -> None:
    records = [answer(k, "strict", "[invalid]" if k < 5 else "7", float(k >= 10)) for k in range(20)]
    one_task(tmp_path, records, {"em,strict": 0.5})
    (row_,) = estimate(str(tmp_path))
    assert (row_.value, row_.n_missing, row_.endings) == (0.5, 0, {"completed": 15, "unparsed": 5})
    (treated,) = estimate(str(tmp_path), treat={"unparsed": "drop"})
    assert treated.value == 10 / 15


def test_the_text_of_the_fallback_in_an_answer_is_no_failure(tmp_path) -> None:
    records = [answer(0, "strict", "the word [invalid]", 1), answer(1, "strict", "7", 1)]
    assert one_task(tmp_path, records, {"em,strict": 1.0}).ended_by is None
    assert not is_unparsed([["[invalid]"]])


def test_a_question_without_a_metric_has_no_missing_score(tmp_path) -> None:
    records = [row(k, acc=k % 2, **({"em": k % 3 == 0} if k % 2 else {})) for k in range(40)]
    one_task(tmp_path, records, {"acc,none": 0.5, "em,none": 7 / 20})
    plain, zero = ({one.metric: one for one in estimate(str(tmp_path), missing=policy)} for policy in ("drop", "zero"))
    assert plain["em"].value == zero["em"].value
    assert zero["em"].n_missing == 0


def test_a_score_that_is_nan_is_missing(tmp_path) -> None:
    records = [row(k, acc=float("nan") if k < 4 else float(k % 2)) for k in range(40)]
    one_task(tmp_path, records, {})
    (zero,) = estimate(str(tmp_path), missing="zero")
    assert (zero.n_missing, zero.value) == (4, 18 / 40)
