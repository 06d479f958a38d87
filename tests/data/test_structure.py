from dataclasses import replace

import numpy as np
import pytest

from harness_uq.data.catalogue import Catalogue, CatalogueEntry, with_catalogue
from harness_uq.data.clusters import find_clusters
from harness_uq.data.structure import StructureOptions, detect, score_type_of
from harness_uq.data.task_log import ClusterDeclaration, MetadataField, Scores
from harness_uq.messages.errors import StructureError
from tests.data.toy import task_log
from tests.message_checks import has, params_of, raises_message

N = 60
PASSAGES = [i // 2 for i in range(N)]
SECTIONS = [i // 12 for i in range(N)]
NOTHING = StructureOptions()


def log_with(**fields):
    declared = fields.pop("declared", None)
    text = fields.pop("text_fields", ())
    return task_log([0, 1] * (N // 2), fields=fields, text_fields=text, declared=declared)


def test_the_users_field_beats_declaration_catalogue_and_heuristics():
    log = log_with(passage=PASSAGES, section=SECTIONS, declared=ClusterDeclaration("passage", "metadata.uq.cluster"))
    found = find_clusters(log, StructureOptions(cluster="section"), catalogue=[CatalogueEntry("toy", ("passage",))])
    assert (found.key, len(set(found.codes))) == ("section", 5)
    assert "user" in found.fact.evidence


def test_the_declaration_beats_the_catalogue():
    log = log_with(
        passage=PASSAGES, section=SECTIONS, declared=ClusterDeclaration("section", "stderr(cluster=section)")
    )
    found = find_clusters(log, NOTHING, catalogue=[CatalogueEntry("toy", ("passage",))])
    assert found.key == "section"
    assert "stderr(cluster=section)" in found.fact.evidence


def test_the_catalogue_beats_heuristics_and_skips_fields_the_documents_lack():
    log = log_with(passage=PASSAGES, page=SECTIONS)
    found = find_clusters(log, NOTHING, catalogue=[CatalogueEntry("to.", ("chapter", "page"), note="pages share text")])
    assert found.key == "page"
    assert "pages share text" in found.fact.evidence


def test_a_field_whose_name_says_passage_clusters_by_itself_from_five_values_on():
    assert find_clusters(log_with(passage_id=PASSAGES), NOTHING).key == "passage_id"
    found = find_clusters(log_with(section=SECTIONS), NOTHING)
    assert (found.key, found.n_clusters, found.few) == ("section", 5, None)


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_fewer_than_five_groups_only_hint(n_groups):
    found = find_clusters(log_with(section=[i % n_groups for i in range(N)], batch=SECTIONS), NOTHING)
    assert (found.key, found.codes) == (None, None)
    fields = f"batch (5 groups), section ({n_groups} groups)"
    assert params_of(found, "possible-cluster-fields") == {"fields": fields, "example": "batch"}
    if n_groups == 2:
        assert found.few is None
    else:
        assert (found.few.key, found.few.n_clusters) == ("section", n_groups)
        assert params_of(found.few, "possible-cluster-fields")["fields"] == "batch (5 groups)"


def test_a_field_of_no_telling_name_is_ignored_unless_it_is_repeated_text():
    assert find_clusters(log_with(body=PASSAGES), NOTHING).key is None
    assert find_clusters(log_with(body=PASSAGES, text_fields=["body"]), NOTHING).key == "body"


@pytest.mark.parametrize("name", ["subject", "language", "category", "answer_document", "passage_type", "level"])
def test_strata_and_answers_are_never_clusters(name):
    found = find_clusters(log_with(**{name: PASSAGES}), NOTHING)
    assert found.key is None
    assert not found.notes


def test_the_coarser_of_two_nested_fields_is_taken_while_it_has_twenty_values():
    titles = [i // 3 for i in range(N)]
    found = find_clusters(log_with(context=[i // 3 * 2 + i % 3 // 2 for i in range(N)], title=titles), NOTHING)
    assert found.key == "title"
    assert find_clusters(log_with(context=titles, title=SECTIONS), NOTHING).key == "context"
    fewer = [i // 5 for i in range(N)]
    assert find_clusters(log_with(context=fewer, title=SECTIONS), NOTHING).key == "context"


def test_none_switches_clusters_off_for_one_task_only():
    options = StructureOptions(cluster_by_task={"toy": "none"})
    assert find_clusters(log_with(passage=PASSAGES), options).key is None
    assert find_clusters(log_with(passage=PASSAGES), StructureOptions(cluster_by_task={"x": "none"})).key == "passage"


def test_an_unknown_field_names_the_fields_there_are():
    with raises_message(StructureError, "unknown-cluster-field", field="chapter"):
        find_clusters(log_with(section=SECTIONS, passage=PASSAGES), StructureOptions(cluster="chapter"))


def test_questions_without_the_field_become_clusters_of_their_own_with_a_warning():
    found = find_clusters(log_with(passage=[None, None, *PASSAGES[2:]]), StructureOptions(cluster="passage"))
    assert len(set(found.codes)) == 29 + 2
    assert has(found, "partial-cluster-field", n_missing=2, n_questions=60)


def test_a_composite_key_separates_what_either_part_separates():
    log = log_with(category=[i % 2 for i in range(N)], index=SECTIONS)
    found = find_clusters(log, StructureOptions(cluster="category+index"))
    assert len(set(found.codes)) == 10


def test_a_key_that_is_unique_a_question_means_independence():
    found = find_clusters(log_with(passage=list(range(N))), StructureOptions(cluster="passage"))
    assert found.codes is None


def test_plugin_suggestions_come_after_the_catalogue_and_before_heuristics():
    log = log_with(passage=PASSAGES, unit=SECTIONS)
    assert find_clusters(log, NOTHING, suggestions=["unit"]).key == "unit"


def scores(values, metric="acc", levels=None):
    return Scores(metric, "none", np.asarray(values, float)[:, None], levels=levels)


def test_zeros_and_ones_are_binary_whatever_the_metric():
    assert score_type_of(scores([0, 1, 1], "mystery"), {})[:2] == ("binary", (0.0, 1.0))


def test_declared_levels_are_graded_once_a_partial_score_occurs():
    assert score_type_of(scores([0, 0.5, 1], "match", levels=(0, 0.5, 1)), {})[0] == "graded"
    assert score_type_of(scores([0, 1, 1], "match", levels=(0, 0.5, 1)), {})[0] == "binary"


def test_metrics_of_a_known_range_are_bounded_unless_a_value_contradicts():
    known = Catalogue(ranges=[("f1", (0.0, 1.0)), ("bleu.*", (0.0, 100.0))])

    def found(values, metric):
        log = task_log(values, metric=metric)
        return score_type_of(with_catalogue(log, known).data[0], {})[:2]

    assert found([0.2, 0.7], "f1") == ("bounded", (0.0, 1.0))
    assert found([0.2, 70.0], "f1") == ("real", None)
    assert found([13.5, 70.0], "bleu_max") == ("bounded", (0.0, 100.0))


def test_labels_that_come_with_scores_stand_above_what_is_guessed_and_below_what_is_said():
    log = log_with(passage=PASSAGES)
    given = replace(log.data[0], clusters=np.array(SECTIONS))
    assert detect(given, find_clusters(log, NOTHING), NOTHING).n_clusters == 5
    assert detect(given, find_clusters(log, StructureOptions(cluster="passage")), NOTHING).n_clusters == 30
    assert detect(given, find_clusters(log, StructureOptions(cluster="none")), NOTHING).n_clusters is None


def test_a_field_of_any_name_is_hinted_at_unless_the_catalogue_knows_the_task():
    log = log_with(batch=SECTIONS)
    for catalogue in ([], [CatalogueEntry("other")]):
        found = find_clusters(log, NOTHING, catalogue=catalogue)
        assert has(found, "possible-cluster-fields", fields="batch (5 groups)")
    assert find_clusters(log, NOTHING, catalogue=[CatalogueEntry(log.task)]).notes == ()


def test_an_unknown_range_is_unbounded_and_hints_at_the_option():
    data = scores([0.2, 0.7], "mystery")
    log = task_log([0.2, 0.7], metric="mystery")
    structure = detect(data, find_clusters(log, NOTHING), NOTHING)
    assert structure.score_type == "real"
    assert has(structure, "range-unknown", metric="mystery")


def test_the_users_range_counts_and_must_hold_the_values():
    assert score_type_of(scores([2, 3], "stars"), {"stars": (1, 5)})[:2] == ("bounded", (1, 5))
    with raises_message(StructureError, "range-excludes-value", value=7):
        score_type_of(scores([2, 7], "stars"), {"stars": (1, 5)})


def test_trials_and_missing_cells_are_counted():
    values = np.array([[1, 0, np.nan], [1, 1, 1], [np.nan] * 3])
    data = Scores("acc", "none", values)
    structure = detect(data, find_clusters(task_log(values), NOTHING), NOTHING)
    assert (structure.n_questions, structure.max_trials, structure.n_scores) == (2, 3, 5)


def test_candidate_field_counts_distinct_values_without_the_missing():
    assert MetadataField(np.array([0, 1, 1, -1])).n_distinct == 2


def test_a_reduction_to_a_probability_is_bounded_and_its_event_known_whatever_the_scorer():
    data = Scores("my_scorer", "pass_at_2", np.array([[0.4], [1.0]]), reduction="pass_at_2")
    known = Catalogue(ranges=[(r"pass_at_\d+", (0.0, 1.0))], events={r"pass_at_(\d+)": r"pass@\1"})
    (found,) = with_catalogue(replace(task_log([0.4, 1.0]), data=(data,)), known).data
    assert score_type_of(found, {})[:2] == ("bounded", (0.0, 1.0))
    assert found.event == "pass@2"


def test_auto_for_one_task_undoes_the_field_for_all():
    options = StructureOptions.parse(["batch", "toy=auto"])
    assert find_clusters(log_with(passage=PASSAGES, batch=SECTIONS), options).key == "passage"
    assert StructureOptions.parse(["auto"]).cluster_of("toy") is None
