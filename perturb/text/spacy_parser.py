"""Parse texts with a spaCy pipeline for English, such as ``en_core_web_sm`` (Honnibal et al. 2020)."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.perturb.text.grammar import lemmas
from vlgate.perturb.text.parsed import Parsed, Span, Token

DEFAULT = "en_core_web_sm"
LONGEST = 2_000
"""The most characters of a text that is parsed; longer ones are not captions."""

_BATCH = 256
_NEEDED = ("tagger", "parser", "lemmatizer")
_UNUSED = ("ner", "entity_linker", "textcat")


class SpacyParser:
    """Parses texts in batches; ``note`` says what spaCy warns about the pipeline, and is empty if it does not."""

    def __init__(self, pipeline: Any, *, note: str = "") -> None:
        self._pipeline = pipeline
        self.note = note
        meta = pipeline.meta
        self.name = f"{meta['lang']}_{meta['name']} {meta['version']}, spaCy {version('spacy')}"

    def parse(self, texts: Sequence[str]) -> Iterator[Parsed]:
        # A text that is too long for a caption, or that UTF-8 cannot write, has no tokens.
        documents = self._pipeline.pipe((text if _readable(text) else "" for text in texts), batch_size=_BATCH)
        for text, document in zip(texts, documents, strict=True):
            yield _parsed(text, document)


def spacy_parser(name: str = DEFAULT) -> SpacyParser:
    """Load a spaCy pipeline for English by its package or folder; ModelLoadError says how to get one."""
    try:
        with _no_torch(name):
            import spacy
    except ImportError:
        raise ModelLoadError("parsing needs spaCy; run pip install 'vlgate[text]'") from None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pipeline = _loaded(spacy, name)
    missing = [part for part in _NEEDED if part not in pipeline.pipe_names]
    if pipeline.lang != "en" or missing:
        why = "is not for English" if pipeline.lang != "en" else f"has no {', '.join(missing)}"
        raise ModelLoadError(f"the pipeline {name!r} {why}; name one such as {DEFAULT}")
    # Old pipelines were made for an older spaCy, which W095 says; anything else is not about the pipeline.
    note = " ".join(str(one.message) for one in said if "[W095]" in str(one.message))
    return SpacyParser(pipeline, note=note)


@contextmanager
def _no_torch(name: str) -> Iterator[None]:
    # spaCy's thinc imports torch if it can, for pipelines that need it. The default one does not, and importing torch
    # takes 2 s and 550 MB. So thinc does not find it, unless it is loaded already; others that import it later do.
    if name != DEFAULT or "torch" in sys.modules or "thinc" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # Python's mark of a module that cannot be imported
    try:
        yield
    finally:
        del sys.modules["torch"]


def _loaded(spacy: Any, name: str) -> Any:
    try:
        return spacy.load(name, exclude=_UNUSED)
    except OSError as error:
        if not name.isidentifier():
            raise ModelLoadError(f"{name}: is not the folder of a spaCy pipeline ({error}); {_HOW}") from None
    try:
        package = import_module(name)  # a mirror of a pipeline has the module, but is distributed by another name
    except ImportError:
        raise ModelLoadError(f"there is no spaCy pipeline {name!r} here; {_HOW}") from None
    if not (Path(package.__file__ or "").parent / "meta.json").is_file():
        raise ModelLoadError(f"{name} is not a spaCy pipeline; {_HOW}")
    return package.load(exclude=_UNUSED)


_HOW = f"run python -m spacy download {DEFAULT}, or name the folder of a pipeline for English"


def _readable(text: str) -> bool:
    return len(text) <= LONGEST and not any("\ud800" <= character <= "\udfff" for character in text)


def _parsed(text: str, document: Any) -> Parsed:
    tokens = tuple(
        Token(
            text=one.text,
            space=one.whitespace_,
            lemma=_lemma(one),
            tag=one.tag_,
            pos=one.pos_,
            dep=one.dep_,
            head=one.head.i,
        )
        for one in document
    )
    chunks: tuple[Span, ...] = tuple((chunk.start, chunk.end) for chunk in document.noun_chunks)
    return Parsed(text=text, tokens=tokens, chunks=chunks, sentences=tuple((s.start, s.end) for s in document.sents))


def _lemma(token: Any) -> str:
    # Small pipelines derive lemmas by rules: "rid" of "riding", "star" of "staring", "vas" of "vases".
    known = lemmas(token.lower_, token.pos_) if token.pos_ in {"NOUN", "VERB"} else ()
    return token.lemma_ if token.lemma_.lower() in known or not known else known[0]
