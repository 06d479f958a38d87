"""An example of each message, with the parameters in `examples.toml`."""

from functools import cache
from typing import Any

from harness_uq.messages.message import Message, MessageType


def example(kind: MessageType) -> Message | None:
    """The message with its example parameters; one about a file begins with a path. None if the file has no value for a
    parameter, as for messages of plugins.
    """
    examples = read_examples()
    own = examples["codes"].get(kind.code, {})
    values = examples["defaults"] | own
    if not kind.fields <= values.keys():
        return None
    message = kind(**{name: values[name] for name in kind.fields})
    return message.at(own["at"]) if "at" in own else message


@cache
def read_examples() -> dict[str, Any]:
    """The parameters: `defaults` for messages with a parameter of this name, and `codes` for single messages."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("harness_uq.messages").joinpath("examples.toml").read_text("utf-8"))
