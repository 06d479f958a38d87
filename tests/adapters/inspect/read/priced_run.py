"""A run of Inspect AI with costs of its own, cached tokens and a grader: python priced_run.py FOLDER."""

import itertools
import sys

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    set_model_cost,
    set_model_info,
)
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate

RATES = {"mockllm/model": (2.0, 8.0, 0.5, 2.5), "mockllm/judge": (1.0, 4.0, 0.25, 1.0)}


def outputs():
    for i in itertools.count(1):
        output = ModelOutput.from_content("mockllm/model", "42")
        output.usage = ModelUsage(
            input_tokens=50 * i,
            output_tokens=7 * i,
            total_tokens=57 * i + 100 * (i % 3) + 10,
            input_tokens_cache_read=100 * (i % 3),
            input_tokens_cache_write=10,
        )
        yield output


@scorer(metrics=[accuracy()])
def graded():
    async def score(state, target):
        await get_model(role="grader").generate("grade")
        return Score(value="I" if state.sample_id == 2 else "C")

    return score


def main(folder):
    for name, (input_, output, read, write) in RATES.items():
        set_model_info(name, ModelInfo())
        rates = ModelCost(input=input_, output=output, input_cache_read=read, input_cache_write=write)
        set_model_cost(name, rates)
    inspect_eval(
        Task(
            dataset=MemoryDataset([Sample(f"q{i}", target="42", id=i) for i in range(4)]),
            solver=generate(),
            scorer=graded(),
            name="priced",
        ),
        get_model("mockllm/model", custom_outputs=outputs()),
        model_roles={"grader": get_model("mockllm/judge", custom_outputs=outputs())},
        epochs=2,
        max_samples=1,
        display="none",
        log_dir=folder,
    )


if __name__ == "__main__":
    main(sys.argv[1])
