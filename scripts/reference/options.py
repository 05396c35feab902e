"""The page of the options."""

from __future__ import annotations

from reference.markdown import code, inline, table
from vlgate.record.options import SETTINGS, Setting, known_protocols

INTRODUCTION = """\
# Options

Give an option to pytest on the command line, or its key in the ini file (`pytest.ini`, or `[tool.pytest.ini_options]`
in `pyproject.toml`). The command line wins over the ini file. `--data` is also read from the environment variable
`VLGATE_DATA`. A relative path on the command line is relative to the folder where pytest starts, and in an ini file to
the folder of that file. All options of pytest work, too.
"""
_KINDS = {"args": "a list", "string": "a string", "bool": "true or false"}
PROTOCOLS = """\
## Protocols

`--protocol` reads or scores a benchmark in another way than by default. Separate several names with commas. The metrics
of a protocol that scores in another way stand beside the usual ones, as `metric@protocol`; see [metrics](metrics.md).
"""


def page() -> str:
    """The options in one table, then a section for each, then the protocols."""
    rows = [
        (f"[`--{setting.name}`](#-{'-' + setting.name})", _takes(setting), _default(setting))
        for setting in SETTINGS.values()
    ]
    overview = table(("option", "takes", "default"), rows)
    protocols = table(("protocol", "meaning"), [(code(name), inline(what)) for name, what in known_protocols().items()])
    return "\n".join([INTRODUCTION, overview, "", *map(_section, SETTINGS.values()), PROTOCOLS, protocols, ""])


def _section(setting: Setting) -> str:
    sentence = setting.help if setting.name != "protocol" else setting.help.partition(";")[0]
    facts = [
        ("takes", _takes(setting)),
        *([("values", ", ".join(map(code, setting.choices)))] if setting.choices else []),
        ("default", _default(setting)),
        ("ini key", f"{code(setting.ini)} ({_KINDS[setting.kind]})" if setting.lasting else "none"),
        *([("repeatable", "yes")] if setting.many else []),
    ]
    text = f"{inline(sentence[0].upper() + sentence[1:].rstrip('.'))}."
    return "\n".join([f"## --{setting.name}", "", text, "", *(f"- {name}: {what}" for name, what in facts), ""])


def _takes(setting: Setting) -> str:
    return f"nothing; {code('--no-' + setting.name)} switches it off" if setting.flag else code(setting.metavar)


def _default(setting: Setting) -> str:
    """A default that can be typed as code, another one in words."""
    words = " " in setting.default or setting.default in {"all", "none"}
    return inline(setting.default) if words else code(setting.default)
