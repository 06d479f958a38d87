from . import paths as paths
