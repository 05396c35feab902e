"""The site builds strictly and without a network, and its pages load nothing from another server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
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
@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "concepts.md#nowhere", "../nowhere.md", "/concepts.md"])
def test_a_broken_link_stops_the_build(link, tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as index:
        index.write(f"\n[broken]({link})\n")
    done = build(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    assert link.rpartition("#")[2] in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("written", "on_the_site"),
    [
        ("[a](../../ARCHITECTURE.md#layers)", "[a](../ARCHITECTURE.md#layers)"),
        ("[`a`](../../vlgate/types.py), [b](../index.md)", "`a`, [b](../index.md)"),
        ("`[a](../../vlgate/types.py)`", "`[a](../../vlgate/types.py)`"),
        ("[a](../../nowhere.py) [b](https://example.org/c.md)", "[a](../../nowhere.py) [b](https://example.org/c.md)"),
    ],
)
def test_a_link_of_the_repository_is_a_link_of_the_site_or_text(written, on_the_site, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from site_links import for_site

    assert for_site(written, PurePosixPath("docs/guides")) == on_the_site
