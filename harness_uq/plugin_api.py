"""Everything that plugins import from harness_uq: hooks, protocols, task logs, results, file access and analyses.

Import from this module and from no other of the package: the rest may change without notice. The names are listed in
`plugin_api.pyi` and loaded when they are first used, so that a plugin that only registers its hooks loads neither numpy
nor scipy.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("harness_uq", __file__)
