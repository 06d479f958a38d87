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
METHOD_FAILED = MessageType.error(
    "UQ707",
    "Method {method!r} of {provider} failed: {error:sentence}",
    "The code of an installed plugin raised an exception. Other methods are not affected.",
    "Run the command again with `harness-uq --debug` to see the traceback, and report the error to the authors of the "
    "plugin. `--uq bayes` uses the default methods.",
)
METHOD_INTERVAL_WITHOUT_WIDTH = MessageType.refusal(
    "UQ708",
    "Method {method!r} returned an interval of zero width, with both limits {limit:g}. Use --uq bayes.",
    "An interval of zero width would imply a certainty that the data do not support. For example, all resamples of a "
    "bootstrap are equal if all scores are equal.",
    "Use `--uq bayes`, whose intervals always have a positive width.",
)
METHOD_WITHOUT_CLUSTERS = MessageType.warning(
    "UQ709",
    "Method {method!r} assumes independent questions, but these questions are clustered ({clusters}), so the interval "
    "may be too narrow.",
    "Questions of one cluster share material, such as a passage, so the answers to these questions are not "
    "independent. The method does not declare that its intervals account for clusters.",
    "Use `--uq bayes`, or `--cluster none` if the questions are independent. If you wrote the method and its intervals "
    "account for clusters, declare `uses_clusters=True` in its `MethodInfo`.",
    is_prominent=True,
)

TYPES = message_types_in(globals())
