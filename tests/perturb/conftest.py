"""What the tests of perturbations share."""

import pytest


@pytest.fixture(scope="session")
def parser():
    """The spaCy pipeline of the environment, loaded once."""
    pytest.importorskip("spacy")
    from vlgate.perturb.text.spacy_parser import spacy_parser

    return spacy_parser()


@pytest.fixture(scope="module")
def install_lexicon(tmp_path_factory):
    """Make lexical entries and synsets, as XML, the only lexicon of wn ("tiny:1") for the tests of a module."""
    wn = pytest.importorskip("wn")
    folder = tmp_path_factory.mktemp("wn")
    before = wn.config.data_directory

    def install(entries, synsets):
        wn.config.data_directory = folder
        file = folder / "tiny.xml"
        file.write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE LexicalResource SYSTEM '
            '"http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">\n'
            '<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">'
            '<Lexicon id="tiny" label="Tiny" language="en" email="a@b.c" license="CC0" version="1">'
            f"{''.join(entries)}{''.join(synsets)}</Lexicon></LexicalResource>",
            "utf-8",
        )
        wn.add(file, progress_handler=None)
        return wn

    yield install
    wn.config.data_directory = before
