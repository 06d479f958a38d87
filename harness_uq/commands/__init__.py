"""The commands, one module each: `add(commands)` declares its arguments, `run(args)` does it and returns the exit code.

Modules import the standard library and our errors at the top and everything else inside functions, so that `--help`
stays fast.
"""
