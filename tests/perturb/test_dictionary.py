"""The dictionary says what the library says, although it reads only the entries that are asked for."""

import gzip
from importlib import import_module
from pathlib import Path

import pytest

from vlgate.perturb.text.grammar import Entries, form, forms, is_word, lemmas

WORDS = ("left", "leaves", "saw", "axes", "lay", "can", "be", "dare", "ought", "o'clock", "gribbleflax")


@pytest.mark.parametrize(("name", "file"), [("LemmaLUCodec", "lemma_lu"), ("InflectionLUCodec", "infl_lu")])
def test_each_word_has_the_entry_that_the_library_reads(name, file):
    library = pytest.importorskip("lemminflect")
    load = getattr(import_module(f"lemminflect.codecs.{name}"), name).load
    path = Path(library.__file__).parent / f"resources/{file}.csv.gz"
    entries, whole = Entries(path, load), load(path)
    assert {word: entries.get(word) for word in WORDS} == {word: whole.get(word) for word in WORDS}
    assert entries.keys() == whole.keys()


def test_words_are_looked_up():
    assert lemmas("axes", "NOUN") == ("axe", "axis", "ax")
    assert forms("can", "AUX")["VBD"] == ("could",)
    assert form("wolf", "NNS") == ("wolves",)
    assert (is_word("saw"), is_word("gribbleflax")) == (True, False)


def test_an_entry_is_read_once_and_when_it_is_looked_up(tmp_path):
    read = []

    def load(file):
        lines = gzip.decompress(file.read()).decode().splitlines()
        read.append(lines)
        return {"be": "always"} | {line.split(",")[0]: lines for line in lines}

    file = tmp_path / "words.csv.gz"
    file.write_bytes(gzip.compress(b"axe,noun\naxes,noun\naxes,verb\nbear,noun\n"))
    entries = Entries(file, load)
    assert (sorted(entries), len(entries), "bea" in entries) == (["axe", "axes", "be", "bear"], 4, False)
    assert (entries["axes"], entries["axes"], entries["be"]) == (["axes,noun", "axes,verb"],) * 2 + ("always",)
    assert read == [[], ["axes,noun", "axes,verb"]]
