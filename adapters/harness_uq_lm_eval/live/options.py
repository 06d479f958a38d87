"""All options of a run of lm-eval; importing this module does not load numpy."""

from typing import Final

from harness_uq.plugin_api import LIVE_OPTIONS, LiveOption, one_of

OPTIONS: Final = (
    *LIVE_OPTIONS,
    LiveOption("trials", one_of("auto", "on", "off"), "Score each repeated trial: auto, on or off", "WHEN", "on"),
    LiveOption("keep_bootstrap", one_of(True, False), "Also run the bootstrap of lm-eval"),
)
