"""`uncertainty` adds intervals to data frames of evals."""

import math
from types import ModuleType

import pytest

import harness_uq
from harness_uq import DataError
from tests.adapters.inspect.read.test_data_frames import letters, write

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Inspect AI, by pandas 3.1

ADDED = ["lower", "upper", "std_error", "n_questions", "design_effect"]


@pytest.fixture(scope="module")
def analysis() -> ModuleType:
    pytest.importorskip("inspect_ai")
    return pytest.importorskip("inspect_ai.analysis")


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory, analysis: ModuleType) -> list[str]:
    folder = tmp_path_factory.mktemp("logs")
    judged = [[{"right": "CI"[i % 2], "style": i % 4}] for i in range(12)]
    return [
        write(folder, "p/large", letters(0, 0.7)),
        write(folder, "p/small", letters(1, 0.5)),
        write(folder, "p/small", judged, task="essay", scorer="judge"),
    ]


def test_prepare_adds_the_numbers_of_estimate_to_each_eval(paths, analysis):
    from harness_uq_inspect import uncertainty

    evals = analysis.evals_df(paths, quiet=True)
    prepared = analysis.prepare(evals, [uncertainty(analysis.samples_df(paths, quiet=True), level=0.9)])
    assert list(prepared.columns) == [
        *evals.columns,
        *(f"score_{name}_{what}" for name in ("match", "right", "style") for what in ADDED),
    ]
    assert list(evals.columns) == list(analysis.evals_df(paths, quiet=True).columns)
    for path, row in zip(paths[:2], prepared.to_dict("records"), strict=False):
        (expected,) = harness_uq.estimate(path, level=0.9)
        found = [row[f"score_match_{what}"] for what in ADDED]
        design_effect = math.nan if expected.design_effect is None else expected.design_effect
        assert found == pytest.approx(
            [expected.interval.low, expected.interval.high, expected.std_error, 30, design_effect],
            abs=1e-12,
            nan_ok=True,
        )
        assert row["score_match_lower"] < expected.value < row["score_match_upper"]
        assert math.isnan(row["score_right_lower"])
    essay = prepared.iloc[2]
    assert essay["score_right_n_questions"] == essay["score_style_n_questions"] == 12
    assert math.isnan(essay["score_match_lower"])


def test_it_combines_with_other_operations_and_frames_of_other_libraries(paths, analysis):
    from harness_uq_inspect import uncertainty

    pl = pytest.importorskip("polars")
    samples = pl.from_pandas(analysis.samples_df(paths, quiet=True))
    evals = analysis.evals_df(paths, quiet=True)
    operations = [analysis.task_info({"toy": "Toy"}), uncertainty(samples, task="toy", cluster="passage")]
    prepared = analysis.prepare(evals, operations)
    assert prepared["task_display_name"].tolist()[:2] == ["Toy", "Toy"]
    assert prepared["score_match_design_effect"].notna().tolist()[::2] == [True, False]


def test_after_a_retry_the_newest_eval_has_the_interval():
    from harness_uq_inspect import uncertainty

    rows = [
        {"eval_id": eval_id, "id": str(i), "epoch": 1, "score_match": score, "task_id": "t", "created": created}
        for eval_id, created, scores in (("old", "1", ["C", "I", None, "C"]), ("new", "2", [None, None, "C"]))
        for i, score in enumerate(scores)
        if score or eval_id == "old"
    ]
    prepared = uncertainty(pd.DataFrame(rows))(pd.DataFrame({"eval_id": ["old", "new", "other"]}))
    assert prepared["score_match_n_questions"].isna().tolist() == [True, False, True]
    assert prepared["score_match_n_questions"][1] == 4


def test_a_frame_without_evals_is_an_error():
    from harness_uq_inspect import uncertainty

    samples = pd.DataFrame({"eval_id": ["e"], "id": ["1"], "epoch": [1], "score_match": ["C"]})
    with pytest.raises(DataError, match="eval_id"):
        uncertainty(samples)(pd.DataFrame({"model": ["m"]}))


def test_a_misspelled_option_is_an_error():
    from harness_uq_inspect import uncertainty

    samples = pd.DataFrame({"eval_id": ["e"], "id": ["1"], "epoch": [1], "score_match": ["C"]})
    with pytest.raises(TypeError, match="Did you mean 'level'"):
        uncertainty(samples, levl=0.9)(samples)
