"""A run of Inspect AI with errors and limits: python limited_run.py FOLDER."""

import asyncio
import itertools
import sys

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import solver
from inspect_ai.util import time_limit

KINDS = ["completed", "error", "tokens", "messages", "time"]


def outputs():
    for _ in itertools.count():
        output = ModelOutput.from_content("mockllm/model", "42")
        output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
        yield output


@solver
def ending():
    """Question 0, 5, 10, … completes, 1, 6, … fails, and the others exceed a limit each."""

    async def solve(state, generate):
        kind = KINDS[state.sample_id % len(KINDS)]
        if kind == "error":
            raise ValueError("no answer")
        state = await generate(state)
        while kind == "tokens":
            await get_model().generate("more")
        while kind == "messages":
            state.messages.append(ChatMessageUser(content="more"))
        if kind == "time":
            with time_limit(0.1):
                await asyncio.sleep(60)
        return state

    return solve


def main(folder):
    inspect_eval(
        Task(
            dataset=MemoryDataset([Sample("q", target="42", id=i) for i in range(12)]),
            solver=ending(),
            scorer=exact(),
            name="limited",
        ),
        get_model("mockllm/model", custom_outputs=outputs()),
        fail_on_error=False,
        token_limit=100,
        message_limit=8,
        max_samples=12,
        display="none",
        log_dir=folder,
    )


if __name__ == "__main__":
    main(sys.argv[1])
