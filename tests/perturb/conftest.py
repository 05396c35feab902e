"""A real parser for the tests of parsed texts."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def parser():
    """spaCy with the pipeline that is installed."""
    pytest.importorskip("spacy")
    from vlgate.perturb.parsing.spacy_parser import spacy_parser

    return spacy_parser()
