"""The cache of parses: nothing is parsed twice, whatever is in the file, and however many processes use it."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.errors import OptionError
from vlgate.making.tools import FILE, CachedParser
from vlgate.perturb.text.parsed import Parsed, Token

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_parse_cache import Words
from vlgate.making.tools import CachedParser
texts = [f"text number {place}" for place in range(2_000)]
parser = Words()
assert [one.text for one in CachedParser(parser, Path(sys.argv[2])).parse(texts)] == texts
"""


class Words:
    """A parser that takes blanks for the ends of tokens, and remembers what it was asked."""

    def __init__(self, name="words 1.0"):
        self.name = name
        self.asked = []

    def parse(self, texts):
        for text in texts:
            self.asked.append(text)
            yield parse(text)


def parse(text):
    parts = text.split(" ")
    tokens = tuple(
        Token(
            text=part,
            space=" " * (index < len(parts) - 1),
            lemma=part.lower(),
            tag="NN",
            pos="NOUN",
            dep="d",
            head=index,
        )
        for index, part in enumerate(parts)
    )
    return Parsed(text=text, tokens=tokens, chunks=((0, 1),), sentences=((0, len(tokens)),))


def test_a_text_is_parsed_once_and_its_parse_is_the_same_from_the_disk(tmp_path):
    texts = ["A dog runs.", "Zwölf Hunde 🐶", "A dog runs.", ""]
    first, second = Words(), Words()
    found = list(CachedParser(first, tmp_path).parse(texts))
    again = list(CachedParser(second, tmp_path).parse([*texts, "new"]))
    assert found == [parse(text) for text in texts] == again[:4]
    assert first.asked == ["A dog runs.", "Zwölf Hunde 🐶", ""]
    assert second.asked == ["new"]


def test_another_pipeline_parses_anew(tmp_path):
    other = Words("words 1.1")
    for parser in (Words(), other):
        list(CachedParser(parser, tmp_path).parse(["a b"]))
    assert other.asked == ["a b"]


def test_a_text_that_utf_8_cannot_write_is_parsed_and_not_kept(tmp_path):
    for _ in range(2):
        parser = Words()
        [found] = CachedParser(parser, tmp_path).parse(["half \ud800"])
        assert found.text == "half \ud800"
        assert parser.asked == ["half \ud800"]


@given(texts=st.lists(st.text(max_size=30), max_size=6))
@settings(max_examples=25, deadline=None)
def test_any_texts_come_back_as_they_were_parsed(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    for _ in range(2):
        assert list(CachedParser(Words(), folder).parse(texts)) == [parse(text) for text in texts]


@pytest.mark.parametrize(
    "row", ["", "[]", "null", '[[["x"," ","x","NN","NOUN","d",0]],[],[]]', '[[["a","","a","N","N","d",7]],[],[]]']
)
def test_a_row_that_does_not_spell_its_text_is_parsed_again(tmp_path, row):
    list(CachedParser(Words(), tmp_path).parse(["a"]))
    with sqlite3.connect(tmp_path / FILE) as base:
        base.execute("UPDATE parses SET parse = ?", [row])
    parser = Words()
    assert list(CachedParser(parser, tmp_path).parse(["a"])) == [parse("a")]
    assert parser.asked == ["a"]


def test_a_damaged_file_and_a_folder_that_cannot_be_made_end_in_one_line(tmp_path):
    (tmp_path / FILE).write_text("no database " * 99)
    with pytest.raises(OptionError, match=r"parses\.sqlite cannot be used .*; remove the file"):
        CachedParser(Words(), tmp_path)
    with pytest.raises(OptionError, match="--cache"):
        CachedParser(Words(), tmp_path / FILE / "below")


def test_several_processes_fill_one_cache(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    with sqlite3.connect(tmp_path / FILE) as base:
        assert base.execute("SELECT count(*) FROM parses").fetchone() == (2_000,)
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
