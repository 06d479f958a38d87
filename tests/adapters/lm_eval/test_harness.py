import subprocess
import sys

from harness_uq.io.plugins.protocols import Reader
from harness_uq_lm_eval import harness_uq_harnesses
from harness_uq_lm_eval.harness import LmEvalHarness


def test_it_is_a_harness_named_lm_eval():
    (harness,) = harness_uq_harnesses()
    assert isinstance(harness, Reader)
    assert isinstance(harness, LmEvalHarness)
    assert harness.name == "lm-eval"


def test_the_plugin_loads_without_numpy():
    unwanted = "{'numpy', 'msgspec', 'harness_uq.data.task_log'}"
    code = f"import sys, harness_uq_lm_eval; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
