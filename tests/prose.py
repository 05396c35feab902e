"""Find prose that is not plain English: `python tests/prose.py [PATH ...]` prints each place, and how many there are.

It reads comments, docstrings and messages of Python files, comments of TOML files, and Markdown. Data (templates of
questions, captions) are in strings too; a line that ends with `# data` is passed over.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
# After these words "where" asks for a place; elsewhere it stands for "if" or "when".
_PLACE = (
    "place places folder folders file files row rows column columns table position positions point points spot know "
    "knows known see sees say says said tell tells show shows find finds found from of is are to and or exactly "
    "belongs imported image images page section line lines half directory environment machine terminal field fields "
    "slot world"
)
PHRASES = {
    "where for if": r"(?:^|(?P<before>[\w`'\")\]]+)[,;:]? )where\b",
    "is no for is not a": r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|way\b)\w+",
    "told of, said of": r"\b(?:told|said|spoken) of\b",
    "a row a case": (
        r"\b(?:an?|one|two|\d+|N) (?:row|line|test|file|figure|request|sentence|name|folder|number|score|answer|metric|"
        r"measure|entry|prediction|record|column|paragraph|module|class|call|function|item|image|case|batch|page|seed|"
        r"verdict|vector|box|text|key|thread|token|row each|method|room|object|reply) an? \w+"
    ),
    "cases a task": (
        r"\b(?:cases|images|calls|boxes|requests|questions|texts|numbers|bytes|rows|items|seconds|words|files|MB|us) "
        r"an? (?:case|image|task|second|minute|batch|call|item|box|side|gate|model|worker|text|test|record|file|run)\b"
    ),
    "inverted or archaic": (
        r"\bwho pressed\b|\bof which (?:a|the|one|some|it|that)\b|\bdoes not do for\b|\bfor want of\b|\bhers\b|"
        r"\bone of no\b|\bfor .{0,20}'s sake\b|\bsee to it\b|\bhad .{0,12} by\b|\bwould that\b|\bthence\b|\bwhence\b|"
        r"\bherein\b|\bthereof\b|\bbe it\b|\blest\b|\bnought\b|\boftenest\b|\bwhosever\b|\bin vain\b"
    ),
}
_PLACES = frozenset(_PLACE.split())
_SKIPPED = ("perturb/questions/templates/", "tests/prose.py", "tests/test_prose.py", "LICENSE", "CHANGELOG.md")


def prose_of(file, text):
    """The prose of a file: (line number, text) pairs."""
    if file.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in {tokenize.COMMENT, tokenize.STRING}:
                yield from enumerate(token.string.splitlines(), start=token.start[0])
    elif file.suffix == ".toml":
        yield from ((n, line) for n, line in enumerate(text.splitlines(), 1) if "#" in line)
    else:
        yield from enumerate(text.splitlines(), 1)


def findings(files):
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        for number, prose in prose_of(file, text):
            if lines[number - 1].rstrip().endswith("# data"):
                continue
            for kind, pattern in PHRASES.items():
                for match in re.finditer(pattern, prose):
                    before = (match.groupdict().get("before") or "").strip("`'\")]").lower()
                    if kind == "where for if" and before in _PLACES:
                        continue
                    yield kind, file, number, prose.strip()


def tracked(*paths):
    """The project's files with prose, all or those under some paths."""
    listed = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.splitlines() if not name.startswith(_SKIPPED)]
    return [
        file for file in files if file.suffix in {".py", ".md", ".toml"} and file.is_file() and not file.is_symlink()
    ]


if __name__ == "__main__":
    counts = {}
    for kind, file, number, line in findings(tracked(*sys.argv[1:])):
        counts[kind] = counts.get(kind, 0) + 1
        print(f"{file.relative_to(ROOT)}:{number}: {kind}: {line[:150]}")
    print(counts, sum(counts.values()))
