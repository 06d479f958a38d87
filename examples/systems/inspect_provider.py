"""The scripted systems as the Inspect AI model provider `scripted`: `scripted/scripted-small`."""

import re

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo
from typing_extensions import override

from systems.behaviour import ABILITIES, System
from systems.questions import Question, load_all


class ScriptedAPI(ModelAPI):
    """Finds the question in the prompt; the seed of the request, if any, is the number of the trial, from 1."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None,
        api_key: str | None,
        config: GenerateConfig,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.system = System(model_name, ABILITIES[model_name])
        self.questions = load_all()

    @override
    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """A letter where the prompt lists choices, else the answer itself."""
        prompt = input[-1].text
        answer = self._answer(prompt, trial=(config.seed or 1) - 1)
        output = ModelOutput.from_content(self.model_name, answer)
        # without a usage Inspect counts the tokens itself, with a tokenizer that it would have to download
        n_input, n_output = len(prompt.split()), len(answer.split())
        output.usage = ModelUsage(input_tokens=n_input, output_tokens=n_output, total_tokens=n_input + n_output)
        return output

    def _answer(self, prompt: str, *, trial: int) -> str:
        question = self._question_in(prompt)
        if re.search(r"^A\) ", prompt, re.MULTILINE):
            return f"ANSWER: {'ABCDEFGH'[self.system.choose(question, trial=trial)]}"
        return self.system.reply(question, trial=trial)

    def _question_in(self, prompt: str) -> Question:
        return next(self.questions[line] for line in prompt.splitlines() if line in self.questions)


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    """Register the provider."""
    return ScriptedAPI
