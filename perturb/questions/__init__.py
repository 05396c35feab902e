"""Questions about images, made from scene graphs: seven types from templates, and the six tests of CARETS.

>>> from vlgate.perturb.ontology import default_ontology
>>> from vlgate.perturb.scene_graph import Box, SceneGraph, SceneObject
>>> def graph(name, kind):
...     return SceneGraph(id=name, objects={"1": SceneObject(id="1", name=kind, box=Box(x=0, y=0, w=99, h=99))})
>>> graphs = [graph("1.jpg", "dog"), graph("2.jpg", "bench")]
>>> corpus = Corpus(graphs, default_ontology(), least_objects=1)
>>> pair = Generator(corpus).make("negation-dir", size=4, seed=0).pairs[0]
>>> pair.kind, pair.answers
('object', ('yes', 'no'))
"""

from vlgate.perturb.question_tests import BEYOND, TESTS, VISUAL, Distribution, Test
from vlgate.perturb.questions.corpus import Corpus
from vlgate.perturb.questions.drafts import Asked, Kind, QuestionPair
from vlgate.perturb.questions.generate import Generator, Made
from vlgate.perturb.questions.shares import MAKEUP, SHARES, makeup

__all__ = [
    "BEYOND",
    "MAKEUP",
    "SHARES",
    "TESTS",
    "VISUAL",
    "Asked",
    "Corpus",
    "Distribution",
    "Generator",
    "Kind",
    "Made",
    "QuestionPair",
    "Test",
    "makeup",
]
