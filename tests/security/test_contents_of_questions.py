"""Prompts, answers and reference answers stay in the logs."""

import json
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from tests.adapters.inspect.logs import header, sample, score_totals, write_eval
from tests.adapters.lm_eval.logs import one_task, row

MARK = "confidential-7f3a"
TEXT_FORMATS = ("table", "json", "csv", "markdown", "latex")
COMMANDS = [
    *((command, name) for command in ("estimate", "structure", "report", "compare") for name in TEXT_FORMATS),
    *(("estimate", "html"), ("report", "html")),
]


@pytest.fixture
def logs(tmp_path: Path) -> dict[str, list[str]]:
    """Two runs of each format whose questions and answers contain the mark."""
    paths: dict[str, list[str]] = {"inspect": [], "lm-eval": [], "table": []}
    for run, n_correct in (("a", 8), ("b", 5)):
        values = [int(i < n_correct) for i in range(12)]
        samples = [sample(i, input_=f"{MARK} question {i}", match=value) for i, value in enumerate(values)]
        for one in samples:
            one["target"] = one["metadata"]["note"] = f"{MARK} target"
            one["scores"]["match"]["answer"] = one["scores"]["match"]["explanation"] = f"{MARK} answer"
        head = header(scores=[score_totals("match", sum(values) / 12)], total=12)
        head["eval"]["model"] = f"mockllm/{run}"
        head["eval"]["run_id"] = head["eval"]["task_id"] = head["eval"]["created"] = run
        paths["inspect"].append(str(write_eval(tmp_path / f"{run}.eval", head, samples)))
        folder = tmp_path / run
        folder.mkdir()
        rows = [
            row(i, doc={"q": f"{MARK} {i}"}, prompt=f"{MARK} prompt {i}", acc=value) for i, value in enumerate(values)
        ]
        one_task(folder, rows, {"acc,none": sum(values) / 12}, n=12, model_name=run)
        paths["lm-eval"].append(str(folder))
        table = tmp_path / f"{run}.jsonl"
        cells = [
            {"model": run, "id": i, "prompt": f"{MARK} {i}", "answer": MARK, "score": v} for i, v in enumerate(values)
        ]
        table.write_text("".join(json.dumps(cell) + "\n" for cell in cells))
        paths["table"].append(str(table))
    return paths


@pytest.mark.parametrize("source", ["inspect", "lm-eval", "table"])
@pytest.mark.parametrize(("command", "output_format"), COMMANDS)
def test_contents_of_questions_are_in_no_output(
    command: str, output_format: str, source: str, logs: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        f"{name}={path}" if command in ("report", "compare") else path
        for name, path in zip("ab", logs[source], strict=True)
    ]
    extra = ["--disagreements", "5"] if command == "compare" else []
    main([command, *given, *extra, "--format", output_format])
    printed = capsys.readouterr()
    assert printed.out
    assert MARK not in printed.out + printed.err
