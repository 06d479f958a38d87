"""Statistically sound uncertainty for LLM evaluation harnesses.

The public names are listed in `__init__.pyi` and loaded when they are first used. Plugins import from
`harness_uq.plugin_api`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
