"""Figures of results. Each function returns a matplotlib Figure and leaves matplotlib's global state unchanged.

The public names are listed in `__init__.pyi` and loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
