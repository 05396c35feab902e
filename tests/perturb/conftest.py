"""What the tests of perturbations share."""

import pytest


@pytest.fixture(scope="session")
def parser():
    """The spaCy pipeline of the environment, loaded once."""
    pytest.importorskip("spacy")
    from vlgate.perturb.parsing.spacy_parser import spacy_parser

    return spacy_parser()
