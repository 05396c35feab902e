"""Markdown from tables and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

_SECTION = re.compile(r"^(?P<name>Args|Attributes|Raises|Returns|Yields):(?: +(?P<text>.*))?$")
_ITEM = re.compile(r"^ {4}(?P<name>\*{0,2}[\w.]+): +(?P<text>.*)$")
_CODE = re.compile(r"``(.+?)``|`([^`]+)`", re.DOTALL)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; a bar within a cell is escaped."""
    lines = [list(headings), ["---"] * len(headings), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def code(text: object) -> str:
    """A span of code; nothing for an empty text."""
    return f"`{text}`" if str(text) else ""


def inline(text: str) -> str:
    """A line of a docstring as Markdown: its code in single backticks, its other signs as they are.

    >>> inline("``a_b`` is <1")
    '`a_b` is &lt;1'
    """
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_escaped(text[end : match.start()]), f"`{match[1] or match[2]}`"]
        end = match.end()
    return "".join([*parts, _escaped(text[end:])])


def prose(documented: object) -> str:
    """The docstring of an object as Markdown."""
    return from_docstring(documented.__doc__ or "")


def description(documented: object) -> str:
    """The docstring of an object as Markdown, without arguments, results, errors and examples."""
    lines = inspect.cleandoc(documented.__doc__ or "").splitlines()
    blocks = [block for block in _blocks(lines) if not _SECTION.match(block[0]) and not block[0].startswith(">>>")]
    return "\n\n".join(map(_block, blocks))


def from_docstring(docstring: str) -> str:
    """A docstring in Google's style as Markdown: sections in bold, arguments as lists, examples as blocks of code."""
    return "\n\n".join(block for block in map(_block, _blocks(inspect.cleandoc(docstring).splitlines())) if block)


def signature(function: Callable[..., object], name: str = "") -> str:
    """The signature of a function as its source has it, without ``self``."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"{function!r} is not defined by def")
    node.args.args = [argument for argument in node.args.args if argument.arg != "self"]
    if node.name == "__init__":
        node.returns = None
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    name = name or node.name
    arguments = list(_arguments(node.args))
    line = f"{name}({', '.join(arguments)}){returns}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){returns}"


def _arguments(given: ast.arguments) -> Iterator[str]:
    """The arguments one by one, each with its type and default."""
    optional = len(given.args) - len(given.defaults)
    for index, argument in enumerate(given.args):
        yield _argument(argument, given.defaults[index - optional] if index >= optional else None)
    if given.vararg or given.kwonlyargs:
        yield f"*{ast.unparse(given.vararg)}" if given.vararg else "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(argument, default)
    if given.kwarg:
        yield f"**{ast.unparse(given.kwarg)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def _escaped(text: str) -> str:
    return re.sub(r"([*_])", r"\\\1", text).replace("<", "&lt;")


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Paragraphs, sections, lists and examples: parted by empty lines, and before the label of a section."""
    block: list[str] = []
    for line in lines:
        begins = _SECTION.match(line) or (line.startswith(">>>") and not (block and block[0].startswith(">>>")))
        if block and (not line or begins):
            yield block
            block = []
        if line:
            block.append(line)
    if block:
        yield block


def _block(lines: list[str]) -> str:
    if lines[0].startswith(">>>"):
        return "\n".join(["```pycon", *lines, "```"])
    section = _SECTION.match(lines[0])
    if section is None:
        return inline("\n".join(lines))
    items = _items(lines[1:])
    if items:
        return "\n".join([f"**{section['name']}**", "", *(f"- `{name}`: {inline(text)}" for name, text in items)])
    text = " ".join([section["text"] or "", *(line.strip() for line in lines[1:])]).strip()
    return f"**{section['name']}** {inline(text)}"


def _items(lines: Sequence[str]) -> list[tuple[str, str]]:
    """The arguments that a section describes; none if it is running text."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if item := _ITEM.match(line):
            found.append((item["name"], item["text"]))
        elif found:
            name, text = found[-1]
            found[-1] = (name, f"{text} {line.strip()}")
    return found
