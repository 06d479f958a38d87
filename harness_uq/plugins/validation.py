"""Validation of what plugins provide: required and optional attributes with their types."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness_uq.errors import error_summary
from harness_uq.results.method_info import MethodInfo


@dataclass(frozen=True, slots=True)
class Contract:
    """What a plugin must provide under one hook.

    Attributes
    ----------
    noun : what messages call it, such as `method`; its plural adds an s
    hook : the hook that returns it
    required, optional : types of its attributes by name; None for methods
    """

    noun: str
    hook: str
    required: Mapping[str, type | None]
    optional: Mapping[str, type | None] = field(default_factory=dict)

    def violation(self, thing: object) -> str | None:
        """Why an object does not fulfil the contract; None if it does."""
        if isinstance(thing, type):
            return f"{thing.__name__} is a class; return an instance of it"
        for name, required_type in (*self.required.items(), *self.optional.items()):
            try:
                value = getattr(thing, name)
            except AttributeError:
                if name in self.required:
                    return f"attribute {name!r} is missing"
            except Exception as error:
                return f"attribute {name!r} raised {error_summary(error)}"
            else:
                if reason := _wrong_value(value, required_type):
                    return f"attribute {name!r} {reason}"
        return None

    def label(self, thing: object) -> str:
        """What messages call an object that may lack everything, such as "method 'beta'"."""
        try:
            name = getattr(thing, "name", None)
        except Exception:
            name = None
        return f"{self.noun} {name!r}" if isinstance(name, str) else f"{self.noun} of type {type(thing).__name__}"


def _wrong_value(value: object, required_type: type | None) -> str | None:
    if required_type is None:
        return None if callable(value) else f"must be a method, not {type(value).__name__}"
    if not isinstance(value, required_type):
        return f"must be of type {required_type.__name__}, not {type(value).__name__}"
    return "is empty" if value == "" else None


METHOD = Contract(
    "method",
    "harness_uq_estimators",
    required={"name": str, "info": MethodInfo, "why_unsupported": None, "estimate": None},
)
READER = Contract(
    "reader",
    "harness_uq_harnesses",
    required={"name": str, "find": None, "read": None},
    optional={
        "reads_stores": bool,
        "version": str,
        "objects": tuple,
        **dict.fromkeys(("accepts_object", "catalogue", "main", "parts", "read_object", "read_running", "restore")),
        **dict.fromkeys(("why_not", "write")),
    },
)
FORMAT = Contract(
    "output format",
    "harness_uq_formats",
    required={"name": str, "suffix": str, "accepts": object, "has_errors": bool, "needs_logs": bool, "render": None},
)
