"""Links of the Markdown files lead somewhere, commands name options that exist, the site needs no other server."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path, PurePosixPath

import pytest
from builders import tabled

from vlgate.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")])
FENCE = re.compile(r"^ *(```|~~~)(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[[^\[\]]*\]\(\s*(?P<target>[^()\s]+)(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\[[^\]]+\]: +(?P<target>\S+)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
# `pytest --help` shows the longer one of two names only.
SHORT = {"--co", "--ff", "--junitxml", "--lf", "--nf", "--sw"}


def slug(heading):
    """The anchor of a heading, as code hosting sites and the site of docs/ make it: no links, code and emphasis."""
    text = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", heading)
    plain = re.sub(r"[`*]|\s#+$|\{[^}]*\}$", "", text).replace("\\_", "_")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain.strip().lower()).strip())


@cache
def anchors(file):
    text = FENCE.sub("", file.read_text(encoding="utf-8"))
    headings = [slug(line) for line in re.findall(r"^#{1,6} +(.+)$", text, re.MULTILINE)]
    earlier = [headings[:index].count(heading) for index, heading in enumerate(headings)]
    again = [f"{heading}-{count}" for heading, count in zip(headings, earlier, strict=True) if count]
    return {*headings, *again, *re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)}


def links(text):
    text = CODE.sub("`code`", FENCE.sub("", text))
    return [match["target"] for pattern in (LINK, REFERENCE) for match in pattern.finditer(text)]


def broken(file, text):
    """The relative links of a page that lead to no file or to no heading."""
    for target in links(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (file.parent / path).resolve() if path else file
        if not place.exists() or (place != ROOT and ROOT not in place.parents):
            yield f"{target}: no such file"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield f"{target}: no such heading"


def commands(text):
    """The commands of the blocks of a page that are marked ``console``, as words."""
    for block in FENCE.finditer(text):
        if block["language"] != "console":
            continue
        for line in block["text"].replace("\\\n", " ").splitlines():
            with contextlib.suppress(ValueError):  # output may hold an odd quote
                yield shlex.split(line.strip().removeprefix("$ "), comments=True)


def program(words):
    """The program that a command runs and its own words: ``pytest``, ``vlgate models``, or another one."""
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    names = [word.rpartition("/")[2] for word in words[:3]]
    if names[:2] in (["python", "-m"], ["python3", "-m"]):
        return program(words[2:])
    ours = 3 if " ".join(names[1:]) in COMMANDS else 2  # vlgate analyse shortcuts
    return (" ".join(names[:ours]), words[ours:]) if names[:1] == ["vlgate"] else ("".join(names[:1]), words[1:])


@cache
def options_of_pytest():
    command = [sys.executable, "-m", "pytest", "--help", "-p", "no:cacheprovider"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return frozenset(OPTION.findall(shown)) | SHORT


@cache
def options_of_command(name):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), pytest.raises(SystemExit):
        main([*name.split(), "--help"])
    return frozenset(OPTION.findall(shown.getvalue()))


def unknown_options(words):
    """The options of a command that its program does not have; none for a program that is not ours."""
    name, rest = program(words)
    if name == "pytest":
        known = options_of_pytest()
    elif name.startswith("vlgate") and name != "vlgate:":  # a line that a run prints
        command = name.removeprefix("vlgate").strip()
        if command.startswith("-"):
            rest, command = [command, *rest], ""
        if command and command not in COMMANDS:
            return [name]
        known = options_of_command(command)
    else:
        return []
    return [option for word in rest if (match := OPTION.match(word)) and (option := match[0]) not in known]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_leads_somewhere_and_every_option_exists(file):
    """But a list of changes may name an option that is gone."""
    text = file.read_text(encoding="utf-8")
    assert list(broken(file, text)) == []
    assert [(" ".join(words), wrong) for words in commands(text) if (wrong := unknown_options(words))] == []
    code = [] if file.name == "CHANGELOG.md" else CODE.findall(FENCE.sub("", text))
    named = {option for words in code if words.startswith("`--") for option in OPTION.findall(words)}
    assert named - options_of_pytest().union(*map(options_of_command, ["", *COMMANDS])) == set()


@tabled
def test_a_broken_link_is_found(text, problem):
    [found] = broken(ROOT / "README.md", text)
    assert found.endswith(problem)


def test_a_link_in_code_is_not_a_link():
    text = "`[a](b.md)`\n\n```text\n[a](b.md)\n```\n[ok](ARCHITECTURE.md#layers)"
    assert list(broken(ROOT / "README.md", text)) == []


@tabled
def test_an_option_that_does_not_exist_is_found(line, wrong):
    found = [option for words in commands(f"```console\n{line}\n```\n") for option in unknown_options(words)]
    assert found == list(wrong)


BUILD = """
import logging
import sys
from mkdocs.commands.build import build
from mkdocs.config import load_config
logging.basicConfig(level=logging.WARNING)
docs, site, config = sys.argv[1:]
build(load_config(config, docs_dir=docs, site_dir=site, strict=True))
"""
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"?(https?:)?//|<link[^>]* href=\"?(https?:)?//(?![^>]*canonical)"
)


def build(docs, site):
    """Build the site as `make docs` does, with any proxy out of reach."""
    unreachable = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-c", BUILD, str(docs), str(site), str(ROOT / "mkdocs.yml")]
    environment = {**os.environ, **unreachable, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "docs", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_another_server(site):
    pages = sorted(site.rglob("*.html"))
    assert site / "index.html" in pages
    assert [str(page) for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []
    styles = [file for file in site.rglob("*.css") if re.search(r"(?:url\(|@import )\"?https?:", file.read_text())]
    assert styles == []


def test_the_pages_at_the_root_of_the_repository_are_on_the_site(site):
    page = (site / "ARCHITECTURE.html").read_text(encoding="utf-8")
    assert 'href="decisions.html"' in page
    assert 'href="docs/' not in page
    assert 'id="layers"' in page


@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "concepts.md#nowhere", "../nowhere.md", "/concepts.md"])
def test_a_broken_link_stops_the_build(link, tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as index:
        index.write(f"\n[broken]({link})\n")
    done = build(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    assert link.rpartition("#")[2] in done.stdout + done.stderr


@tabled
def test_a_link_of_the_repository_is_a_link_of_the_site_or_text(written, on_the_site, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from site_links import for_site

    assert for_site(written, PurePosixPath("docs/guides")) == on_the_site
