"""A hook of MkDocs: pages at the root of the repository join the site, and links out of docs/ keep their sense.

A link in docs/ is written for the repository: ``../ARCHITECTURE.md`` leads to the file. On the site that file is the
page ``ARCHITECTURE.md``, and a link to a file that is not a page, such as ``../thresholds.toml``, becomes plain text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
"""The files at the root of the repository that are pages of the site."""

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]+)\]\((?P<path>[^()\s:#]+)(?P<anchor>#[^()\s]*)?\)")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`(?!\])", re.MULTILINE | re.DOTALL)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages at the root of the repository."""
    for name in PAGES:
        if (ROOT / name).is_file():
            files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Rewrite a page's links for the site."""
    at_root = page.file.src_uri in PAGES
    return for_site(markdown, PurePosixPath() if at_root else PurePosixPath("docs", page.file.src_uri).parent)


def for_site(markdown: str, folder: PurePosixPath) -> str:
    """Rewrite the links of a page that stands in a folder of the repository, by its path from the root.

    >>> for_site("[how](docs/concepts.md#case), [what](vlgate/types.py)", PurePosixPath())
    '[how](concepts.md#case), what'
    >>> for_site("[layers](../../ARCHITECTURE.md)", PurePosixPath("docs/guides"))
    '[layers](../ARCHITECTURE.md)'
    """
    here = PurePosixPath(*folder.parts[1:])

    def _rewritten(link: re.Match[str]) -> str:
        target = PurePosixPath(os.path.normpath(folder / link["path"]))
        if target.parts[0] == "docs":
            page = PurePosixPath(*target.parts[1:])
        elif str(target) in PAGES:
            page = target
        elif (ROOT / target).exists():
            return link["text"]
        else:
            return link[0]  # a broken link, which the strict build reports
        return f"[{link['text']}]({os.path.relpath(page, here)}{link['anchor'] or ''})"

    done, end = [], 0
    for code in _CODE.finditer(markdown):
        done += [_LINK.sub(_rewritten, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*done, _LINK.sub(_rewritten, markdown[end:])])
