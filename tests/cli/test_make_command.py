"""``vlgate make``: what it lists, and one line for every error; ``tests/making`` has the sets themselves."""

import os
import subprocess
import sys

import pytest

from vlgate.cli import main
from vlgate.making.kinds.kind import KINDS, kind
from vlgate.making.tools import TOOLS


def test_the_list_says_of_each_kind_what_it_takes_and_needs(vlgate):
    listed = vlgate("make", "--list")
    for name in KINDS:
        assert f"{name}: {kind(name).sentence}\n" in listed
        assert kind(name).name == name
    assert "questions: " in listed
    assert "  takes graphs\n" in listed


def test_the_list_says_what_is_missing_here(capsys, monkeypatch):
    from dataclasses import replace

    from vlgate.making.kinds import questions

    monkeypatch.setattr(questions, "QUESTIONS", replace(questions.QUESTIONS, needs=("parser",), uses=("wordnet",)))
    monkeypatch.setattr("vlgate.making.tools.find_spec", lambda name: None if name == "wn" else name)
    main(["make", "--list"])
    listed = capsys.readouterr().out
    assert f"  needs --parser, {TOOLS['parser'].sentence} (installed)" in listed
    assert f"  can use --wordnet, {TOOLS['wordnet'].sentence} (missing: wn; pip install 'vlgate[text]')" in listed


def test_an_error_is_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["make", "questions", "--from", "x.json", "--out", "x"]) == 1
    assert capsys.readouterr().err.startswith("vlgate make: x.json: there is no such file; ")


@pytest.mark.parametrize("arguments", [["--help"], ["make", "--help"], ["make", "--list"]])
def test_asking_what_there_is_loads_no_parser_and_no_framework(arguments):
    heavy = (
        "torch",
        "spacy",
        "transformers",
        "sentence_transformers",
        "wn",
        "inflect",
        "lemminflect",
        "wordfreq",
        "cv2",
    )
    code = "import atexit, sys; atexit.register(lambda: print(*(set(sys.argv[1].split()) & set(sys.modules))));"
    code += "from vlgate.cli import main; sys.exit(main(sys.argv[2:]))"
    command = [sys.executable, "-c", code, " ".join(heavy), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=os.environ)
    assert ended.stdout.splitlines()[-1] == ""
