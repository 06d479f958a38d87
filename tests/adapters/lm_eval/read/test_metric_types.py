import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq import Scores, estimate
from harness_uq.data.task_log import AggregateScore, Classifications, HarnessResult, SufficientStatistics
from harness_uq_lm_eval.read.metric_types import MetricType, interpret
from harness_uq_lm_eval.read.metric_values import MetricValues
from tests.adapters.lm_eval.logs import Folder, data_of, one_task, rows
from tests.message_checks import has, names_of


def read(values, metric="acc", *, n=None, reported=None, aggregation=None, **about):
    """Interpretation of a column with these values for questions 0, 1, …"""
    column = MetricValues()
    for question, value in enumerate(values):
        column.add(question, value)
    number = None if reported is None else HarnessResult(reported, None, len(values))
    known = MetricType(metric, "none", n or len(values), aggregation=aggregation, reported=number, **about)
    return interpret(column, known)


def scores(found):
    assert isinstance(found.data, Scores)
    return found.data.values[:, 0].tolist()


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("logged", "score"),
    [(1, 1.0), (0.25, 0.25), (True, 1.0), (False, 0.0), ("0.75", 0.75), ("True", 1.0), ("False", 0.0), ("1e-3", 1e-3)],
)
def test_numbers_are_scores_however_they_were_logged(logged, score):
    assert scores(read([logged])) == [score]


def test_a_question_without_the_metric_has_no_score_and_the_report_says_so():
    found = read([1, 0, 1], n=5, reported=2 / 3)
    np.testing.assert_array_equal(scores(found), [1, 0, 1, math.nan, math.nan])
    assert names_of(found.notes) == ["scored-on-part"]
    assert has(found, "scored-on-part", label="acc", n_scored=3, n_questions=5)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no score (null)"),
        (math.nan, "the score NaN"),
        ("nan", "the score NaN"),
        (math.inf, "an infinite score"),
        (-math.inf, "an infinite score"),
        pytest.param(10**400, "an infinite score", id="400 digits"),
        ("no answer", "a score that is not a number"),
        ({"a": 1}, "a score that is not a number"),
    ],
)
def test_values_that_are_not_finite_are_omitted_with_a_warning(value, words):
    found = read([1, 0, value])
    np.testing.assert_array_equal(scores(found), [1, 0, math.nan])
    assert names_of(found.warnings) == ["unusable-scores"]
    assert has(found, "unusable-scores", n_left_out=1, problem=words)


def test_nanmean_leaves_nan_out_by_design():
    assert read([1, math.nan, 0], aggregation="nanmean", reported=0.5).warnings == ()


def test_a_metric_without_any_score_keeps_the_reported_value():
    found = read([None, None], reported=0.5)
    assert found.data == AggregateScore("acc", "none", 0.5, 0, "No question has a score")


def test_minus_one_marks_other_lengths_in_metrics_named_after_a_length():
    found = read([1, -1, 0.5], "4096", aggregation="aggregate_metrics", reported=0.75)
    np.testing.assert_array_equal(scores(found), [1, math.nan, 0.5])
    assert has(found, "other-context-length")


def test_minus_one_is_a_score_elsewhere():
    assert scores(read([1, -1, 0.5], "bleu_diff")) == [1, -1, 0.5]


def test_scores_whose_aggregation_is_not_their_mean_are_totals():
    found = read([0, 0, 1], aggregation="worst", reported=0.0)
    assert isinstance(found.data, AggregateScore)
    assert found.data.reason == "lm-eval combines the questions by worst, which is not their mean"
    assert (found.data.value, found.data.n) == (0.0, 3)


def test_a_median_is_the_upper_of_the_two_in_the_middle():
    found = read([3, 1, 2, 7], aggregation="median", reported=3)  # lm-eval: sorted(x)[len(x) // 2]
    assert found.data.statistic == "median"
    assert found.data.statistics.tolist() == [[3], [1], [2], [7]]


def test_another_median_is_a_total():
    found = read([3, 1, 2, 7], aggregation="median", reported=2.5)
    assert found.data.reason == "median of the samples is 3, but the results file reports 2.5"


def test_a_median_that_is_also_the_mean_is_no_mean():
    assert isinstance(read([1, 2, 3], aggregation="median", reported=2).data, SufficientStatistics)


def test_a_custom_aggregation_that_gives_the_mean_is_a_mean():
    assert scores(read([0, 0, 1], aggregation="my_mean", reported=1 / 3)) == [0, 0, 1]


def test_a_custom_aggregation_cannot_be_checked_on_trimmed_samples():
    found = read([0, 0, 1], aggregation="my_mean", reported=0.6, is_complete=False)
    assert isinstance(found.data, AggregateScore)
    assert "cannot be compared" in found.data.reason


def test_a_mean_that_differs_from_the_results_file_is_a_warning():
    found = read([1, 0, 1, 0], aggregation="mean", reported=0.75)
    assert names_of(found.warnings) == ["value-not-reproduced"]
    assert has(found, "value-not-reproduced", label="acc", value=0.5, reported=0.75)


def test_a_mean_that_differs_by_rounding_is_not():
    assert read([0.1] * 10, aggregation="mean", reported=0.1 + 1e-15).warnings == ()


def test_trimmed_samples_are_not_compared_with_the_results_file():
    assert read([1, 0], reported=0.75, is_complete=False).warnings == ()


def test_trials_that_a_filter_reduced_are_stated():
    found = read([1, 0], logged_trials=4)
    assert (found.data.logged_trials, found.data.reduction) == (4, "none")
    assert (read([1, 0]).data.logged_trials, read([1, 0]).data.reduction) == (1, None)


# ---------------------------------------------------------------- other kinds


def test_likelihoods_with_lengths_are_records_of_a_perplexity():
    # expected: exp(60 / 30) and (60 / 30) / ln 2
    words = read([[-20.0, 10], [-40.0, 20]], "word_perplexity", aggregation="weighted_perplexity", reported=math.exp(2))
    assert isinstance(words.data, SufficientStatistics)
    assert words.data.statistic == "perplexity"
    assert words.data.statistics.tolist() == [[-20, 10], [-40, 20]]
    assert words.warnings == ()
    bits = read([[-20.0, 10], [-40.0, 20]], "bits_per_byte", reported=2 / math.log(2))
    assert (bits.data.statistic, bits.warnings) == ("bits_per_byte", ())


def test_a_perplexity_of_single_likelihoods_counts_each_question_once():
    found = read([-1.0, -3.0], "perplexity", aggregation="perplexity", reported=math.exp(2))
    assert found.data.statistic == "perplexity"
    assert found.data.statistics.tolist() == [[-1, 1], [-3, 1]]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("values", "metric", "rest"),
    [
        ([[-20.0, 10], [-math.inf, 20]], "word_perplexity", "7.38906"),
        ([-2.0, -math.inf], "perplexity", "7.38906"),
        ([[-math.inf, 10], [-math.inf, 20]], "word_perplexity", None),
    ],
)
def test_the_perplexity_of_a_corpus_with_an_infinite_term_is_no_finite_number(values, metric, rest):
    found = read(values, metric)
    assert (found.data.value, found.data.n, found.data.is_contradicted) == (None, 2, True)
    others = f"Without this question, the value would be {rest}" if rest else "No other question has a score"
    assert names_of(found.messages) == ["infinite-scores"]
    assert has(found, "infinite-scores", n_infinite=1 if rest else 2, n_questions=2, others=others)


def test_infinite_terms_that_lm_eval_leaves_out_are_left_out():
    found = read([[-20.0, 10], [-math.inf, 20]], "word_perplexity", reported=math.exp(2))
    assert found.data.is_scored.tolist() == [True, False]
    assert has(found, "unusable-scores", n_left_out=1, problem="no finite log-likelihood")


def test_a_mean_that_lm_eval_reports_as_infinite_is_no_finite_number(tmp_path):
    log = one_task(tmp_path, rows("acc", [1, math.inf, 0]), {"acc,none": math.inf})
    assert data_of(log, "acc").value is None
    assert has(log, "infinite-scores", n_infinite=1, n_questions=3)


def test_a_perplexity_beyond_floating_point_is_infinite():
    found = read([[-1e6, 1], [-1e6, 1]], "word_perplexity", reported=5.0)
    assert names_of(found.warnings) == ["value-not-reproduced"]
    assert has(found, "value-not-reproduced", label="word_perplexity", reported=5)


def test_pairs_of_f1_are_classes_and_the_last_is_positive():
    # tp 2, fp 1, fn 1: F1 = 4/6
    found = read([[1, 1], [1, 0], [0, 1], [1, 1], [0, 0]], "f1", aggregation="f1", reported=2 / 3)
    assert isinstance(found.data, Classifications)
    assert found.data.labels == ("0", "1")
    assert found.data.targets.tolist() == [1, 1, 0, 1, 0]
    assert found.data.predictions[:, 0].tolist() == [1, 0, 1, 1, 0]
    assert found.warnings == ()


def test_mcc_is_recomputed_too():
    # tp 2, fp 1, fn 1, tn 1: (2*1 - 1*1) / sqrt(3*3*2*2)
    found = read([[1, 1], [1, 0], [0, 1], [1, 1], [0, 0]], "mcc", aggregation="matthews_corrcoef", reported=1 / 6)
    assert found.warnings == ()


def test_one_class_alone_still_has_two_labels():
    assert read([[1, 1], [1, 1]], "f1", aggregation="f1").data.labels == ("0", "1")


def test_classes_may_be_texts_and_booleans():
    assert read([["neg", "pos"], ["pos", "pos"]], "f1", aggregation="f1").data.labels == ("neg", "pos")
    assert read([["True", "False"], ["True", "True"]], "f1", aggregation="f1").data.targets.tolist() == [1, 1]


ANSWERS = {
    2: [[1, 1], [1, 1], [1, 0], [0, 1], [1, 1], [0, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 0]],
    3: [
        ["a", "a"],
        ["a", "a"],
        ["a", "b"],
        ["b", "b"],
        ["b", "b"],
        ["c", "b"],
        ["c", "c"],
        ["a", "a"],
        ["b", "a"],
        ["c", "none"],
    ],
}
FUNCTIONS = {
    "weighted_f1": ("f1_score", {"average": "weighted"}),
    "macro_f1": ("f1_score", {"average": "macro"}),
    "accuracy": ("f1_score", {"average": "micro"}),
    "kappa": ("cohen_kappa_score", {}),
    "mcc": ("matthews_corrcoef", {}),
    "balanced_accuracy": ("recall_score", {"average": "macro", "labels": ["a", "b", "c"]}),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_value_of_scikit_learn_tells_the_function_whatever_the_names_say(n_classes, function):
    name, options = FUNCTIONS[function]
    options = {key: value for key, value in options.items() if key != "labels" or n_classes == 3}
    value = getattr(pytest.importorskip("sklearn.metrics"), name)(*zip(*ANSWERS[n_classes], strict=True), **options)
    for aggregation in ("f1_score", "agg", f"my_{function}"):
        found = read(ANSWERS[n_classes], "f1", aggregation=aggregation, reported=value, has_own_aggregation=True)
        assert (found.data.function, found.data.metric) == (function, "f1")
        assert names_of(found.notes) == ["function-inferred"]
        assert has(found, "function-inferred", aggregation=aggregation, function=function)


@pytest.mark.parametrize(("positive", "labels"), [(1, ("0", "1")), (0, ("1", "0"))])
@pytest.mark.parametrize("name", ["f1", "precision", "recall"])
def test_the_value_tells_the_positive_class(name, positive, labels):
    metrics = pytest.importorskip("sklearn.metrics")
    value = getattr(metrics, f"{name}_score")(*zip(*ANSWERS[2], strict=True), pos_label=positive)
    found = read(ANSWERS[2], "f1", aggregation="mine", reported=value, has_own_aggregation=True)
    assert (found.data.function, found.data.labels) == (name, labels)
    assert found.data.targets.tolist() == [int(target == positive) for target, _ in ANSWERS[2]]


def test_a_value_of_several_functions_is_of_the_one_that_the_name_tells():
    perfect = [[1, 1], [0, 0], [1, 1]]
    assert read(perfect, "f1", aggregation="macro_f1", reported=1.0).data.function == "macro_f1"
    multi = read([["a", "a"], ["b", "b"], ["c", "c"]] * 2, "f1", aggregation="mine", reported=1.0)
    assert multi.data.reason == "lm-eval computes the score with mine, which is no function that harness_uq knows"


def test_a_value_of_no_function_of_the_classes_has_no_interval():
    assert isinstance(read(ANSWERS[2], "f1", aggregation="weighted_f1_score", reported=0.123).data, AggregateScore)
    unknown = read(ANSWERS[2], "f1", aggregation="weighted_f1_score")
    assert "which would show what weighted_f1_score is" in unknown.data.reason


def test_a_task_function_named_f1_is_identified_by_its_value():
    assert isinstance(
        read(ANSWERS[2], "f1", aggregation="f1", reported=0.4, has_own_aggregation=True).data, AggregateScore
    )


@pytest.mark.parametrize(
    ("n_classes", "metric", "function", "value"),
    [
        (2, "f1", "f1", 2 / 3),
        (2, "mcc", "matthews_corrcoef", 0.44),
        (3, "mcc", "matthews_corrcoef", 0.45),
        (3, "f1", "f1", None),
    ],
)
def test_a_value_that_the_classes_contradict_has_no_interval(n_classes, metric, function, value, tmp_path):
    values = {f"{metric},none": 0.123, f"{metric}_stderr,none": 0.05}
    config = {"metric_list": [{"metric": metric, "aggregation": function}]}
    Folder(tmp_path).results({"t": values}, n=len(ANSWERS[n_classes]), configs={"t": config})
    Folder(tmp_path).samples("t", rows(metric, ANSWERS[n_classes]))
    (row,) = estimate(str(tmp_path))
    assert (row.status, row.value, row.interval) == ("not_estimable", 0.123, None)
    (message,) = [message for message in row.messages if message.severity == "refusal"]
    assert message.name == "not-computable"
    if value is not None:
        assert "of the samples is" in message.params["reason"]


def test_f1_of_labels_other_than_0_and_1_is_of_the_class_that_gives_the_value():
    metrics = pytest.importorskip("sklearn.metrics")
    answers = [[target + 1, prediction + 1] for target, prediction in ANSWERS[2]]
    value = metrics.f1_score(*zip(*answers, strict=True))  # scikit-learn's positive class is 1
    found = read(answers, "f1", aggregation="f1", reported=value)
    assert (found.data.function, found.data.labels, found.messages) == ("f1", ("2", "1"), ())


def test_of_trimmed_samples_the_name_tells_the_function():
    found = read(ANSWERS[2], "f1", aggregation="f1", reported=0.4, is_complete=False)
    assert (found.data.function, found.data.labels) == ("f1", ("0", "1"))


@pytest.mark.parametrize(
    ("aggregation", "reported"),
    [("mean", 3.0), ("sum", 3.0), ("max", 1.0), ("percent", 75.0), ("mean", math.nan), ("mean", None)],
)
def test_values_that_are_not_means_have_no_interval_of_a_mean(aggregation, reported):
    column = MetricValues()
    for question, value in enumerate([1, 1, 0, 1]):
        column.add(question, value)
    number = (
        HarnessResult(reported, None, 4)
        if reported is None or math.isfinite(reported)
        else HarnessResult(None, None, 4)
    )
    about = MetricType("acc", "none", 4, aggregation, number, has_own_aggregation=True)
    data = interpret(column, about).data
    assert isinstance(data, AggregateScore)
    assert data.is_share is False


def test_a_mean_of_32_bit_floats_is_accepted():
    values = [0.1, 0.7, 0.3]
    printed = float(np.mean(np.array(values, np.float32)))
    assert printed != pytest.approx(sum(values) / 3, abs=1e-9)
    assert read(values, aggregation="mean", reported=printed).warnings == ()


def test_free_text_is_not_a_class():
    found = read([[f"answer {i}", f"reply {i}"] for i in range(9)], "f1", reported=0.4)
    assert isinstance(found.data, AggregateScore)
    assert found.data.value == 0.4


def test_pairs_of_other_metrics_are_not_classes():
    assert isinstance(read([["ref", "pred"], ["ref", "pred"]], "rouge", aggregation="rouge").data, AggregateScore)


# four correct words; five words, of which "the cat sat" matches: 4 + 3 words, 3 + 2 pairs, 2 + 1 triples, 1 + 0
TEXTS = [["it rains here today", "it rains here today"], ["the cat sat on a mat", "the cat sat by me"]]
# 100 (7/9 5/7 3/5 1/3)^(1/4) exp(1 - 10/9)
BLEU = 100 * (7 / 9 * 5 / 7 * 3 / 5 * 1 / 3) ** 0.25 * math.exp(1 - 10 / 9)


def test_pairs_of_bleu_are_records_of_what_sacrebleu_counts():
    pytest.importorskip("sacrebleu")
    found = read(TEXTS, "bleu", aggregation="bleu", reported=BLEU)
    assert isinstance(found.data, SufficientStatistics)
    assert found.data.statistic == "bleu"
    # numbers of words in output and reference, of matched 1- to 4-grams, and of all 1- to 4-grams
    assert found.data.statistics.tolist() == [[4, 4, 4, 3, 2, 1, 4, 3, 2, 1], [5, 6, 3, 2, 1, 0, 5, 4, 3, 2]]


def test_pairs_of_ter_are_edits_and_words():
    pytest.importorskip("sacrebleu")
    found = read(TEXTS, "ter", reported=30.0)  # "by me" for "on a mat": three edits of ten words
    assert (found.data.statistic, found.data.statistics.tolist()) == ("ter", [[0, 4], [3, 6]])


@pytest.mark.parametrize(("function", "n_columns"), [("chrf", 18), ("chrf++", 24)])
def test_pairs_of_chrf_are_three_counts_an_order(function, n_columns):
    """Character n-grams of six orders, and word n-grams of two orders in chrF++."""
    corpus_chrf = pytest.importorskip("sacrebleu").corpus_chrf
    references, outputs = zip(*TEXTS, strict=True)
    score = corpus_chrf(outputs, [references], word_order=2 if function == "chrf++" else 0).score
    found = read(TEXTS, function, aggregation=function, reported=score)
    assert (found.data.statistic, found.data.statistics.shape) == ("chrf", (2, n_columns))


@given(
    st.lists(st.tuples(st.text("ab .,\n中", max_size=12), st.text("ab .,\n中", max_size=12)), min_size=1, max_size=5),
    st.sampled_from(["bleu", "chrf", "chrf++", "ter"]),
)
def test_sacrebleus_score_of_any_texts_is_reproduced(pairs, function):
    sacrebleu = pytest.importorskip("sacrebleu")
    references, outputs = zip(*pairs, strict=True)
    options = {"word_order": 2} if function == "chrf++" else {}
    score = getattr(sacrebleu, f"corpus_{function.rstrip('+')}")(outputs, [references], **options).score
    assert isinstance(read([list(pair) for pair in pairs], function, reported=score).data, SufficientStatistics)


def test_the_text_true_is_a_text():
    pytest.importorskip("sacrebleu")
    assert read([["True", "True"], ["no", "False"]], "ter", reported=50.0).data.statistics.tolist() == [[0, 1], [1, 1]]


def test_only_as_many_references_count_as_every_question_has():
    """lm-eval zips the references; the second question has only one, so the second one of the first is not used."""
    pytest.importorskip("sacrebleu")
    texts = [[["no such word", "it rains"], ["it rains"]], [["a cat"], "a cat"]]
    assert read(texts, "ter", reported=60.0).data.statistics.tolist() == [[3, 3], [0, 2]]
    texts[1][0].append("a dog")
    assert read(texts, "ter", reported=0.0).data.statistics.tolist() == [[0, 2.5], [0, 2]]


def test_a_question_without_texts_is_left_out():
    pytest.importorskip("sacrebleu")
    found = read(TEXTS, "bleu", aggregation="bleu", reported=BLEU, n=3)
    assert found.data.is_scored.tolist() == [True, True, False]


def test_totals_of_another_function_are_not_proportions(tmp_path):
    """A maximum of 1.0 over 50 questions does not mean 50 correct answers."""
    from harness_uq import estimate

    config = {"metric_list": [{"metric": "acc", "aggregation": "def best(items):\n    return max(items)\n"}]}
    log = one_task(tmp_path, rows("acc", [1, 0] * 25), {"acc,none": 1.0}, config=config)
    (row,) = estimate([log])
    assert (row.value, row.interval) == (1.0, None)
    assert row.status == "not_estimable"
    reason = "lm-eval combines the questions by best, which is not their mean"
    assert has(row, "totals-not-a-proportion", reason=reason, metric="acc")


def test_texts_that_give_another_value_than_lm_evals_are_totals():
    pytest.importorskip("sacrebleu")
    found = read(TEXTS, "bleu", aggregation="bleu", reported=BLEU * (1 + 1e-6))
    words = f"bleu of the samples is {BLEU:.10g}, but the results file reports {BLEU * (1 + 1e-6):.10g}"
    assert found.data == AggregateScore("bleu", "none", BLEU * (1 + 1e-6), 2, words, is_share=False)


@pytest.mark.parametrize("about", [{}, {"reported": BLEU, "is_complete": False}])
def test_texts_without_lm_evals_value_of_them_are_totals(about):
    pytest.importorskip("sacrebleu")
    assert "reports no value for these questions" in read(TEXTS, "bleu", aggregation="bleu", **about).data.reason


def test_texts_for_a_function_of_the_task_are_totals_that_name_it():
    reason = read(TEXTS, "bleu", aggregation="my_bleu", reported=BLEU).data.reason
    assert reason == "The scores are lists, from which my_bleu cannot be recomputed"


def test_without_sacrebleu_texts_are_totals(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    reason = read(TEXTS, "bleu", reported=BLEU).data.reason
    assert "sacrebleu is not installed" in reason


def test_with_another_sacrebleu_texts_are_totals(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", SimpleNamespace(BLEU=lambda **_: object()))
    assert "does not expose its counts" in read(TEXTS, "bleu", reported=BLEU).data.reason


def multirc(paragraph, question, label, prediction):
    return [
        prediction,
        {"idx": {"paragraph": paragraph, "question": question, "answer": 0}, "label": label, "text": "…"},
    ]


def test_acc_all_scores_a_question_where_its_first_answer_row_stands():
    rows = [multirc(0, 0, 1, 1), multirc(0, 0, 0, 1), multirc(0, 1, 1, 1), multirc(1, 0, 0, 0), multirc(1, 0, 1, True)]
    found = read(rows, "acc_all", reported=2 / 3)
    np.testing.assert_array_equal(scores(found), [0, math.nan, 1, 1, math.nan])
    assert names_of(found.notes) == ["answer-rows-combined"]
    assert has(found, "answer-rows-combined", n_questions=3, n_rows=5)
    assert found.warnings == ()


def test_brier_scores_are_rebuilt_from_printed_probabilities():
    # (0.777-1)^2 + 0.052^2 + 0.171^2
    found = read([[0, "[0.777 0.052 0.171]"], [2, "[0. 0.\n 1.]"]], "brier_score", reported=0.5 * 0.081674)
    assert scores(found) == pytest.approx([0.081674, 0.0])
    assert found.warnings == ()
    assert has(found, "rounded-probabilities")


def test_brier_scores_that_numpy_abbreviated_are_totals():
    assert isinstance(read([[0, "[0.1 ... 0.2]"]], "brier_score", reported=0.3).data, AggregateScore)


def test_lists_of_flags_are_a_ratio_of_sums():
    found = read([[True, False], [True], [], [True, True, False]], "inst_level_strict_acc", reported=4 / 6)
    assert found.data.statistic == "ratio"
    assert found.data.statistics.tolist() == [[1, 2], [1, 1], [0, 0], [2, 3]]
    assert isinstance(read([[True, False], [True]], "inst_level_strict_acc", reported=0.75).data, AggregateScore)


@pytest.mark.parametrize(
    ("metric", "reported", "expected"), [("accuracy_amb", 0.0, [2]), ("accuracy_disamb", 0.5, [0, 1])]
)
def test_masked_pairs_score_the_questions_that_count(metric, reported, expected):
    found = read([[1.0, "True"], [0.0, True], [0.0, "False"]], metric, reported=reported)
    assert np.flatnonzero(found.data.is_scored).tolist() == expected


def test_masked_pairs_that_give_another_value_are_totals():
    assert isinstance(read([[1.0, True], [0.0, False]], "accuracy_amb", reported=0.3).data, AggregateScore)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([{"a": 1}, {"a": 2}], "objects"),
        (["good", "bad"], "texts"),
        ([[["a"], ["b"]], [["a"], []]], "nested lists"),
        ([[{"id": 1}, {"id": 1}]], "pairs with objects"),
        ([[1.0, 0.0, 1.0, True]], "lists"),
    ],
)
def test_values_that_only_the_harness_can_use_are_totals_with_the_reason(values, kind):
    found = read(values, "exact", aggregation="squad", reported=61.5)
    assert found.data == AggregateScore(
        "exact",
        "none",
        61.5,
        len(values),
        f"The scores are {kind}, from which squad cannot be recomputed",
        is_share=False,
    )


def test_without_a_results_file_totals_have_no_value():
    assert read(["good"], "judged").data.value is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_scores_keep_their_values(values):
    assert scores(read(values, "anything")) == values


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["True", "nan", "a", "[0.5 0.5]"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["idx", "label", "a"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(
    st.lists(json_values, max_size=6),
    st.sampled_from(
        ["acc", "f1", "mcc", "acc_all", "brier_score", "word_perplexity", "perplexity", "4096", "accuracy_amb", "bleu"]
    ),
    st.sampled_from([None, "mean", "f1", "weighted_perplexity", "median", "chrf++", "ter", "custom"]),
    st.none() | st.floats(0, 1),
)
def test_any_logged_value_can_be_read(values, metric, aggregation, reported):
    data = read(values, metric, n=len(values) + 1, aggregation=aggregation, reported=reported).data
    assert data.metric == metric
    assert isinstance(data, AggregateScore) or len(data.is_scored) == len(values) + 1
