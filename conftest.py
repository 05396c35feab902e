"""Register the plugin in a checkout (an installed vlgate has an entry point), and pytester, which tests it."""

pytest_plugins = ["vlgate.plugin", "pytester"]
