"""Messages about plugins: UQ700 to UQ799."""

from harness_uq.messages.message import MessageType, message_types_in

PLUGIN_ERROR = MessageType(
    "UQ701",
    "plugin-error",
    "error",
    "{reason:sentence}",
    "A plugin could not be loaded, or conflicts with another.",
    "Run `harness-uq plugins` to see what is installed, and uninstall or update the plugin.",
)
PLUGIN_SKIPPED = MessageType(
    "UQ702",
    "plugin-skipped",
    "warning",
    "Plugin {plugin!r} ({address}) is skipped{extent} for the following reason: {reason:sentence}",
    "The plugin is invalid or raised an error when it was loaded. Everything else works without it.",
    "Update or uninstall the plugin.",
)
PLUGIN_HOOK_FAILED = MessageType(
    "UQ703",
    "plugin-hook-failed",
    "warning",
    "The hook {hook!r} of plugin {plugin!r} failed with this error: {reason:sentence}",
    "The plugin raised an error. Everything else works without its answer.",
    "Update or uninstall the plugin.",
)
PLUGIN_WITHOUT_HARNESS = MessageType(
    "UQ705",
    "plugin-without-harness",
    "error",
    "Plugin {plugin!r} provides no harness named {plugin!r}. Run `harness-uq plugins` to list the installed plugins.",
    "`harness-uq NAME` runs a harness whose plugin is installed.",
    "Run `harness-uq plugins` to see which plugins were skipped.",
)
HARNESS_NOT_RUNNABLE = MessageType(
    "UQ706",
    "harness-not-runnable",
    "error",
    "harness-uq can read logs of {harness} but cannot run this harness. The harnesses that it can run are "
    "{known:join}.",
    "Some plugins read logs only.",
    "Run the harness itself, and pass its logs to harness-uq.",
)

TYPES = message_types_in(globals())
