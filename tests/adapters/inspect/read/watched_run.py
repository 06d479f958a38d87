"""Look at a run from within it: `python watched_run.py FOLDER` writes FOLDER/looks.json.

The 25th question looks, one question at a time being asked, the 10th ending in an error.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

from harness_uq import Options
from harness_uq.analyses.watch import look
from harness_uq.inference.load_plugins import load_plugins


def main(folder):
    @solver
    def looking():
        async def solve(state, generate):
            if state.sample_id == "9":
                raise ValueError("no answer")
            if state.sample_id == "24":
                looks, problems = look([str(folder / "logs")], Options(), load_plugins())
                said = {"looks": [seen.to_dict() for seen in looks], "problems": problems}
                (folder / "looks.json").write_text(json.dumps(said))
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def right():
        async def score(state, target):
            return Score(value="I" if int(str(state.sample_id)) % 4 == 0 else "C")

        return score

    samples = [Sample(id=str(i), input=f"Question {i}?", target="t") for i in range(40)]
    task = Task(dataset=MemoryDataset(samples), solver=looking(), scorer=right(), name="toy")
    quiet = {"model": "mockllm/model", "display": "none", "log_level": "error"}
    inspect_eval(task, log_dir=str(folder / "logs"), max_samples=1, fail_on_error=False, log_buffer=7, **quiet)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
