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
    """Make synsets the only lexicon of wn ("tiny:1") for the tests of a module."""
    wn = pytest.importorskip("wn")
    folder = tmp_path_factory.mktemp("wn")
    before = wn.config.data_directory

    def install(rows, antonyms=()):
        wn.config.data_directory = folder
        file = folder / "tiny.xml"
        file.write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE LexicalResource SYSTEM '
            '"http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">\n'
            '<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">'
            '<Lexicon id="tiny" label="Tiny" language="en" email="a@b.c" license="CC0" version="1">'
            f"{_lexicon(rows, dict(antonyms))}</Lexicon></LexicalResource>",
            "utf-8",
        )
        wn.add(file, progress_handler=None)
        return wn

    yield install
    wn.config.data_directory = before


def _lexicon(rows, antonyms):
    """Entries and synsets of rows (id, part of speech, words, hypernyms, part, file, definition) as XML.

    The order of a word's synsets is that of its senses. Each word has another form, "chairim".
    """
    synsets, entries = [], {}
    for key, speech, words, above, part, file, definition in rows:
        relations = "".join(f'<SynsetRelation relType="hypernym" target="tiny-{up}"/>' for up in above.split("|") if up)
        relations += f'<SynsetRelation relType="mero_part" target="tiny-{part}"/>' if part else ""
        lexfile = f' lexfile="{file}"' if file else ""
        senses = {word: f"{word}-{key}".replace(" ", "_") for word in words.split("|")}
        synsets.append(
            f'<Synset id="tiny-{key}" ili="" partOfSpeech="{speech}" members="{" ".join(senses.values())}"'
            f"{lexfile}><Definition>{definition}</Definition>{relations}</Synset>"
        )
        for word, sense in senses.items():
            other = antonyms.get(sense)
            related = f'<SenseRelation relType="antonym" target="{other}"/>' if other else ""
            entries.setdefault((word, speech), []).append(f'<Sense id="{sense}" synset="tiny-{key}">{related}</Sense>')
    lines = [
        f'<LexicalEntry id="e-{number}"><Lemma writtenForm="{word}" partOfSpeech="{speech}"/>'
        f'<Form writtenForm="{word}im"/>{"".join(senses)}</LexicalEntry>'
        for number, ((word, speech), senses) in enumerate(entries.items())
    ]
    return "".join((*lines, *synsets))
