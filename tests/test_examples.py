"""The example tasks run with the real harnesses, and their logs hold what examples/README.md says."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import make_data
from systems.behaviour import ABILITIES, System
from systems.hashing import uniform
from systems.questions import DATA, Question, load, load_all

Row = dict[str, object]
RunPython = Callable[..., str]

EXAMPLES = DATA.parent.parent
N_ROWS = {
    "demo_passages": 132,
    "demo_word_problems": 100,  # 50 questions, two filters
    "demo_exam_sums": 50,
    "demo_exam_series": 30,
    "demo_exam_units": 20,
    "demo_copying": 40,
    "demo_divides": 40,
    "demo_perplexity": 50,
}
N_CELLS = {"passages": 132, "word_problems": 200, "conversions": 20, "copying": 40}

both_systems = pytest.mark.parametrize("system", sorted(ABILITIES))


def logged_rows(runs: Path, system: str, task: str) -> list[Row]:
    (path,) = (runs / "lm-eval" / system).glob(f"samples_{task}_*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def logged_results(runs: Path, system: str) -> Iterator[Row]:
    for path in sorted((runs / "lm-eval" / system).glob("results_*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def reported(runs: Path, system: str, task: str) -> Row:
    (row,) = (results["results"][task] for results in logged_results(runs, system) if task in results["results"])
    return row


def entry_of(runs: Path, system: str, task: str) -> Row:
    (results,) = logged_results(runs, system)
    (entry,) = [entry for entry in results["uq"]["estimates"] if entry["task"] == task]
    return entry


def inspect_log(runs: Path, system: str, task: str):
    from inspect_ai.log import read_eval_log

    (path,) = (runs / "inspect" / system).glob(f"*_{task.replace('_', '-')}_*.eval")
    return read_eval_log(str(path))


def inspect_scores(log) -> dict[tuple[str, int], object]:
    return {(sample.id, sample.epoch): score.value for sample in log.samples for score in sample.scores.values()}


def chosen_right(system: str, name: str) -> list[bool]:
    scripted = System(system, ABILITIES[system])
    return [scripted.choose(question) == question.answer for question in load(name)]


def cluster_robust_ratio(scores: NDArray[np.float64], clusters: list[str]) -> float:
    """Cluster-robust standard error over the naive one (Miller 2024, eq. 4, with G/(G-1))."""
    _, codes = np.unique(clusters, return_inverse=True)
    totals = np.bincount(codes, scores - scores.mean())
    robust = np.sqrt((totals**2).sum() * len(totals) / (len(totals) - 1)) / len(scores)
    return float(robust / (scores.std(ddof=1) / np.sqrt(len(scores))))


class TestQuestions:
    def test_the_committed_files_are_what_the_script_writes(self, tmp_path: Path) -> None:
        make_data.write(tmp_path)
        written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
        assert written == {path.name: path.read_text(encoding="utf-8") for path in DATA.iterdir()}

    def test_no_two_questions_share_an_id_or_a_text(self) -> None:
        questions = [question for path in DATA.glob("*.jsonl") for question in load(path.stem)]
        assert len(questions) == 362
        assert len({question.id for question in questions}) == len(load_all()) == len(questions)

    def test_every_choice_question_offers_distinct_choices(self) -> None:
        assert all(len(set(question.choices)) == len(question.choices) for question in load_all().values())

    def test_thirty_passages_have_two_to_seven_questions(self) -> None:
        sizes = Counter(question.passage_id for question in load("passages"))
        assert len(sizes) == 30
        assert (min(sizes.values()), max(sizes.values())) == (2, 7)


class TestBehaviour:
    def test_uniform_is_read_off_the_sha256_of_its_keys(self) -> None:
        # printf a/1 | sha256sum begins with these digits
        assert uniform("a", 1) == pytest.approx(int("773232abe9343f0e", 16) / 16**16, abs=2**-52)

    def test_answers_come_as_often_as_the_chance_says(self) -> None:
        scripted = System("scripted-small", ABILITIES["scripted-small"])
        question = Question(id="problem-99", question="", answer="1")
        n_right = sum(scripted.reply(question, trial=trial) == "1" for trial in range(4000))
        chance = scripted.chance(question)
        assert abs(n_right - 4000 * chance) < 4 * np.sqrt(4000 * chance * (1 - chance))


@pytest.mark.harness
class TestLmEvalLogs:
    @both_systems
    def test_one_run_with_uncertainty_and_without_a_bootstrap(self, lm_eval_runs: Path, system: str) -> None:
        (results,) = logged_results(lm_eval_runs, system)
        block = results["uq"]
        assert (block["method"], block["bootstrap_iters"]) == ("bayes", 0)
        assert [entry["task"] for entry in block["estimates"] if entry["interval"] is None] == []
        assert len(list((lm_eval_runs / "lm-eval" / system).iterdir())) == 1 + len(N_ROWS)

    @both_systems
    @pytest.mark.parametrize("task", N_ROWS)
    def test_every_question_is_logged(self, lm_eval_runs: Path, system: str, task: str) -> None:
        assert len(logged_rows(lm_eval_runs, system, task)) == N_ROWS[task]

    @both_systems
    @pytest.mark.parametrize("task", sorted(set(N_ROWS) - {"demo_word_problems", "demo_divides", "demo_perplexity"}))
    def test_reported_accuracy_is_the_mean_of_the_logged_scores(
        self, lm_eval_runs: Path, system: str, task: str
    ) -> None:
        scores = [row["acc"] for row in logged_rows(lm_eval_runs, system, task)]
        assert reported(lm_eval_runs, system, task)["acc,none"] == pytest.approx(np.mean(scores), abs=1e-12)
        assert scores == chosen_right(system, task.removeprefix("demo_"))

    @both_systems
    def test_a_passage_makes_its_questions_hard_or_easy_together(self, lm_eval_runs: Path, system: str) -> None:
        rows = logged_rows(lm_eval_runs, system, "demo_passages")
        clusters = [row["doc"]["passage_id"] for row in rows]
        assert cluster_robust_ratio(np.array([row["acc"] for row in rows]), clusters) > 1.3

    @both_systems
    def test_repeats_are_all_logged_and_only_their_reduction_is_scored(self, lm_eval_runs: Path, system: str) -> None:
        rows = logged_rows(lm_eval_runs, system, "demo_word_problems")
        assert Counter(row["filter"] for row in rows) == {"first": 50, "maj@8": 50}
        for row in rows:
            answers = [reply.removeprefix("ANSWER: ") for reply in row["resps"][0]]
            answer = answers[0] if row["filter"] == "first" else Counter(answers).most_common(1)[0][0]
            assert len(answers) == 8
            assert row["exact_match"] == (answer == row["target"])

    @both_systems
    def test_reported_exact_match_is_the_mean_of_each_filter(self, lm_eval_runs: Path, system: str) -> None:
        rows = logged_rows(lm_eval_runs, system, "demo_word_problems")
        row = reported(lm_eval_runs, system, "demo_word_problems")
        for name in ("first", "maj@8"):
            scores = [logged["exact_match"] for logged in rows if logged["filter"] == name]
            assert row[f"exact_match,{name}"] == pytest.approx(np.mean(scores), abs=1e-12)

    @both_systems
    def test_group_weighs_its_subtasks_by_size(self, lm_eval_runs: Path, system: str) -> None:
        subtasks = ("demo_exam_sums", "demo_exam_series", "demo_exam_units")
        scores = [row["acc"] for task in subtasks for row in logged_rows(lm_eval_runs, system, task)]
        group = reported(lm_eval_runs, system, "demo_exam")
        assert group["acc,none"] == pytest.approx(np.mean(scores), abs=1e-12)
        assert group["sample_count"] == {"acc,none": 100}

    @both_systems
    def test_the_harness_calls_forty_out_of_forty_certain_and_we_do_not(self, lm_eval_runs: Path, system: str) -> None:
        row, entry = reported(lm_eval_runs, system, "demo_copying"), entry_of(lm_eval_runs, system, "demo_copying")
        assert (row["acc,none"], entry["harness"]["std_error"]) == (1.0, 0.0)
        assert row["acc_stderr,none"] == entry["std_error"] > 0.02

    @both_systems
    def test_questions_about_one_passage_widen_the_interval(self, lm_eval_runs: Path, system: str) -> None:
        entry = entry_of(lm_eval_runs, system, "demo_passages")
        assert (entry["cluster_key"], entry["n_clusters"]) == ("passage_id", 30)
        assert entry["std_error"] > 1.25 * entry["harness"]["std_error"]

    @both_systems
    def test_perplexity_is_the_ratio_of_sums(self, lm_eval_runs: Path, system: str) -> None:
        pairs = np.array([row["word_perplexity"] for row in logged_rows(lm_eval_runs, system, "demo_perplexity")])
        total, words = pairs.sum(axis=0)
        row = reported(lm_eval_runs, system, "demo_perplexity")
        assert row["word_perplexity,none"] == pytest.approx(np.exp(-total / words), rel=1e-12)

    @both_systems
    def test_f1_and_mcc_come_from_the_logged_pairs(self, lm_eval_runs: Path, system: str) -> None:
        pairs = Counter(tuple(row["f1"]) for row in logged_rows(lm_eval_runs, system, "demo_divides"))
        tp, fp, fn, tn = (float(pairs[pair]) for pair in ((1, 1), (0, 1), (1, 0), (0, 0)))
        row = reported(lm_eval_runs, system, "demo_divides")
        assert row["f1,none"] == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-12)
        mcc = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        assert row["mcc,none"] == pytest.approx(mcc, abs=1e-12)

    def test_the_abler_system_scores_higher_on_every_task_but_the_easy_one(self, lm_eval_runs: Path) -> None:
        small, large = (
            {
                (task, key): value
                for results in logged_results(lm_eval_runs, system)
                for task, row in results["results"].items()
                for key, value in row.items()
                if key.split(",")[0] in {"acc", "exact_match", "f1", "mcc"}
            }
            for system in ("scripted-small", "scripted-large")
        )
        assert len(small) == 10
        assert [key for key in small if large[key] <= small[key]] == [("demo_copying", "acc,none")]

    def test_another_run_elsewhere_logs_the_same(
        self, lm_eval_runs: Path, run_python: RunPython, tmp_path: Path
    ) -> None:
        code = "import run_lm_eval as r, pathlib; r.set_environment(pathlib.Path('hf')); "
        run_python("-c", code + "r.run_command_line('scripted-small', 0.4, pathlib.Path('lm-eval'))", cwd=tmp_path)
        for task in N_ROWS:
            for read in (reported, logged_rows):
                again, before = (read(runs, "scripted-small", task) for runs in (tmp_path, lm_eval_runs))
                assert again == before


@pytest.mark.harness
class TestInspectLogs:
    @both_systems
    @pytest.mark.parametrize("task", N_CELLS)
    def test_every_trial_of_every_question_is_logged(self, inspect_runs: Path, system: str, task: str) -> None:
        log = inspect_log(inspect_runs, system, task)
        assert (log.status, log.eval.model) == ("success", f"scripted/{system}")
        assert len(log.samples) == len(inspect_scores(log)) == N_CELLS[task]

    @both_systems
    def test_both_harnesses_log_the_same_answers_about_the_passages(
        self, inspect_runs: Path, lm_eval_runs: Path, system: str
    ) -> None:
        log = inspect_log(inspect_runs, system, "passages")
        inspect = {sample.id: sample.scores["choice"].value == "C" for sample in log.samples}
        lm_eval = {row["doc"]["id"]: row["acc"] == 1 for row in logged_rows(lm_eval_runs, system, "demo_passages")}
        assert inspect == lm_eval
        assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(np.mean(list(lm_eval.values())))

    @both_systems
    def test_the_passage_of_each_question_is_in_its_metadata(self, inspect_runs: Path, system: str) -> None:
        samples = inspect_log(inspect_runs, system, "passages").samples
        assert {sample.id: sample.metadata["passage"] for sample in samples} == {
            question.id: question.passage_id for question in load("passages")
        }

    @both_systems
    def test_epochs_are_the_first_four_trials(self, inspect_runs: Path, system: str) -> None:
        scripted = System(system, ABILITIES[system])
        log = inspect_log(inspect_runs, system, "word_problems")
        assert inspect_scores(log) == {
            (question.id, trial + 1): "C" if scripted.reply(question, trial=trial) == question.answer else "I"
            for question in load("word_problems")
            for trial in range(4)
        }
        values = np.array([value == "C" for value in inspect_scores(log).values()])
        assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(values.mean())

    @both_systems
    def test_a_conversion_has_two_scores(self, inspect_runs: Path, system: str) -> None:
        log = inspect_log(inspect_runs, system, "conversions")
        values = list(inspect_scores(log).values())
        reported_values = {score.name: score.metrics["accuracy"].value for score in log.results.scores}
        assert reported_values == pytest.approx(
            {key: np.mean([value[key] == "C" for value in values]) for key in ("number", "unit")}
        )
        assert 0 < reported_values["number"] < reported_values["unit"] < 1

    @both_systems
    def test_the_harness_calls_forty_out_of_forty_certain_and_the_interval_does_not(
        self, inspect_runs: Path, system: str
    ) -> None:
        (score,) = inspect_log(inspect_runs, system, "copying").results.scores
        metrics = score.metrics
        assert list(metrics) == ["mean", "stderr", "uq_lower", "uq_upper"]
        assert metrics["mean"].value == metrics["uq_upper"].value == 1.0
        assert metrics["uq_lower"].value == pytest.approx(0.05 ** (1 / 41))  # HDI of Beta(41, 1)
        assert metrics["stderr"].value > 0
        assert metrics["stderr"].metadata == {"harness_uq": {"std_error": 0.0}}

    def test_the_stock_command_line_elsewhere_logs_the_same(
        self, inspect_runs: Path, run_python: RunPython, tmp_path: Path
    ) -> None:
        folder = tmp_path / "inspect" / "scripted-large"
        task = f"{EXAMPLES / 'inspect_tasks.py'}@conversions"
        options = ("-T", "system=scripted-large", "--log-dir", folder, "--display", "none")
        run_python("-m", "inspect_ai", "eval", task, *options, cwd=tmp_path)
        again, before = (inspect_log(runs, "scripted-large", "conversions") for runs in (tmp_path, inspect_runs))
        assert inspect_scores(again) == inspect_scores(before)
