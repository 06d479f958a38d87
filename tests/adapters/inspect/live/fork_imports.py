"""What every run of Inspect imports and reads, done once before processes are forked for the runs."""

from contextlib import suppress
from importlib import import_module

RUN_IMPORTS = (
    *("inspect_ai", "inspect_ai._cli.main", "inspect_ai._control.server", "inspect_ai.agent._acp.server", "fastapi"),
    *("inspect_ai.hooks", "inspect_ai.model._providers.mockllm", "anyio._backends._asyncio", "pydantic.v1"),
    *("IPython.display", "rich.markdown", "uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto"),
    *(
        "uvicorn.protocols.websockets.auto",
        "harness_uq.analyses.live_settings",
        "harness_uq.analyses.compare",
    ),
    *("harness_uq.inference.methods.binary", "harness_uq.results.estimate", "harness_uq.results.comparison"),
    *("harness_uq.plugin_api", "harness_uq_lm_eval.harness", "harness_uq_formats.reader"),
)


def prepare_forks() -> None:
    """The hook and the metrics of harness_uq are not among it: runs import them while a name of Inspect is missing."""
    for module in RUN_IMPORTS:
        with suppress(ImportError):  # of another version of Inspect
            import_module(module)
    package = import_module("inspect_ai._util.package")
    distributions = package.packages_distributions()
    package.packages_distributions = lambda: distributions
