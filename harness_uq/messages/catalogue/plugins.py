"""Messages about plugins: UQ700 to UQ799."""

from harness_uq.messages.message import MessageType, message_types_in

PLUGIN_ERROR = MessageType.error(
    "UQ701",
    "{reason:sentence}",
    "A plugin could not be loaded, or two plugins conflict with each other.",
    "List the installed plugins with `harness-uq plugins`, and update or uninstall the plugin that the message names.",
)
PLUGIN_SKIPPED = MessageType.warning(
    "UQ702",
    "Plugin {plugin!r} ({address}) is skipped{extent}: {reason:sentence}",
    "The plugin is invalid, or it raised an exception when harness_uq loaded it. Other plugins and commands are not "
    "affected.",
    "Update or uninstall the plugin.",
)
PLUGIN_HOOK_FAILED = MessageType.warning(
    "UQ703",
    "The hook {hook!r} of plugin {plugin!r} failed: {reason:sentence}",
    "A hook is a function of a plugin that harness_uq calls. The hook raised an exception, and the command continued "
    "without the result of the hook.",
    "Update or uninstall the plugin.",
)
PLUGIN_WITHOUT_HARNESS = MessageType.error(
    "UQ705",
    "No installed plugin provides a harness named {plugin!r}. Run `harness-uq plugins` to list the installed plugins.",
    "`harness-uq NAME` runs the harness NAME if a plugin for this harness is installed.",
    "Check the name of the harness. `harness-uq plugins` also lists the plugins that could not be loaded.",
)
HARNESS_NOT_RUNNABLE = MessageType.error(
    "UQ706",
    "harness-uq can read logs of {harness} but cannot run this harness. Harnesses that harness-uq can run: "
    "{known:join}.",
    "Some plugins can read the logs of a harness, but cannot run the harness.",
    "Run the evaluation with the command of the harness, and pass the logs to harness-uq.",
)

TYPES = message_types_in(globals())
