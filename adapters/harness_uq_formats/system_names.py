"""Names of systems with their settings, without secrets."""

from collections.abc import Mapping

from harness_uq.plugin_api import RedactedText, redact, redact_value


def system_name(name: str, settings: Mapping[str, object]) -> str:
    """Name and settings that have a value, such as `openhands (model=gpt-5)`.

    Secrets are replaced by `***`. If there are any, the result is a `RedactedText`.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    full_name = _with_settings(name, given)
    shown = _with_settings(redact(name), {key: redact_value(value, key) for key, value in given.items()})
    return shown if shown == full_name else RedactedText(shown, full_name)


def _with_settings(name: str, settings: Mapping[str, object]) -> str:
    listed = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{name} ({listed})" if listed else name
