"""Every example in a docstring runs and prints what it says; small functions by one plain example each."""

import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

from vlgate import errors, seeds
from vlgate.judging.judged import cause_of
from vlgate.metrics import clusters, paired, stats, text_learning, variants
from vlgate.metrics.perception import FACULTIES, share
from vlgate.probes.controls.canaries import follows
from vlgate.probes.controls.look import describes
from vlgate.probes.controls.registry import chosen
from vlgate.probes.explaining import explain, regions
from vlgate.probes.shrink.moves import covered
from vlgate.probes.shrink.space import _in_words
from vlgate.types import Compare, Difference, LazyImage, Metric

A, B = (LazyImage(key=key, load=None) for key in ("a.jpg", "b.jpg"))
LEFT, CORNER = (0, 0, 0.5, 1), (0, 0, 0.5, 0.5)
TANGO = dict(zip(("low", "high"), paired.tango(7, 1, 21), strict=True))


def array(*values):
    return np.array(values, dtype=np.float64)


EXAMPLES = [
    (errors.short("photos/1.png"), "photos/1.png"),
    (errors.short("x" * 90, 20), "xxxxxxxxxx...xxxxxxx"),
    (len(errors.shown(f"the id '{'x' * 900}' is not known")), 157),
    (errors.printable("wrong\n  key \x1b[31m"), "wrong key \\x1b[31m"),
    (errors.escaped("wrong\n  key \x1b[31m"), "wrong\n  key \\u001b[31m"),
    ((errors.halved("\ud800"), errors.halved("\U0001f600")), (True, False)),
    (errors.described(ValueError("no weights")), "ValueError: no weights"),
    (errors.instead_of("caption", ["captain", "foil"]), "did you mean 'captain'?"),
    (errors.instead_of("caption", ["image", "foil"]), "given are 'image', 'foil'"),
    (errors.did_you_mean("caption", ["image", "foil"]), ""),
    (errors.nearest("valse/existance", ["valse/existence", "valse/plurals"]), "did you mean 'valse/existence'?"),
    (seeds.seed_of("0:limit:valse/existence"), 15501234389643715180),
    (seeds.generator("0/a").random(), seeds.generator("0/a").random()),
    (seeds.quick_generator("0/a").random(), seeds.quick_generator("0/a").random()),
    (cause_of("image 'a.jpg': not found; looked in data/a.jpg"), "image *: not found; looked in *"),
    (cause_of("the service answers 429: busy"), "the service answers 429: busy"),
    (
        [clusters.photograph(one) for one in ("2.jpg#1,2,3,4", "2.jpg", "shot#1.png#blur")],
        ["2.jpg", "2.jpg", "shot#1.png"],
    ),
    (clusters.connected([["a.jpg", "b.jpg"], ["c.jpg"], ["b.jpg#0,0,9,9", "d.jpg"]])["d.jpg"], "a.jpg"),
    (clusters.recorded_clusters("12", [["b | a"], ["c | b#0,0,9,9"]], together=True), ("a", "a")),
    ([clusters.ordinal(place) for place in (0, 9, 10, 21)], ["first", "tenth", "11th", "22nd"]),
    (clusters.image_of(Compare(images=(A, B), question="")), "a.jpg | b.jpg"),
    (round(paired.score(7, 1, 21, 0.0), 3), -2.121),
    (round(paired.worth_of_difference(Difference(value=-6 / 21, n=21, broken=7, fixed=1, **TANGO)), 3), 21.0),
    ((paired.cases_for_margin(0.05, 0.10), paired.cases_for_margin(0.02, 0.10)), (350, 2005)),
    ((paired.cases_for_bound(0.60, 0.50), paired.cases_for_bound(0.5, 0.5)), (194, None)),
    (FACULTIES["noun"].at(array(0.0, 0.2, 1.0)).round(3).tolist(), [4.0, 8.0, 128.0]),
    (share(array(0.0, 0.5, 1.0), array(0.5), array(0.01), array(0.9)).tolist(), [0.5, 0.7, 0.9]),
    (stats.mean(array(0.1, 0.1, 0.1)), 0.1),  # numpy says 0.10000000000000002
    (round(stats.worth(Metric(value=0.669, low=0.627, high=0.709, n=505))), 503),
    (text_learning.likeness([["a red cup", "a blue cup", "a red ball"]])[:, 0].tolist(), [4.0, 3.0, 3.0]),
    (text_learning.fold_of("2357834.jpg"), text_learning.fold_of("2357834.jpg")),
    (text_learning.stratified_folds([]), {}),
    (variants.names(["carets_release"], "carets/order-inv"), ("cons@carets_release", "c_acc@carets_release")),
    (
        list(variants.definitions(["image", "image@release", "macro@release"], "mmvp/vlm").values()),
        [("image@release", "macro@release")],
    ),
    (follows(array([1, 2]), array([1, 2]), array([5, 1])), True),
    ([describes(one) for one in ("A dog on a beach.", "I can\u2019t see an image.", " ")], [True, False, False]),
    ((chosen(["look", "look"]), chosen(["none"])), (("look",), ())),
    (explain.words_of(["A dog chases a man.", "A man chases a dog."]), ("a", "dog", "chases", "man")),
    (explain.left_out("A dog chases a man.", "dog"), "A chases a man."),
    (explain.exchanged("A dog chases a man.", "man"), "A dog chases a thing."),
    (
        [swap.texts[0] for swap in explain.swaps("A dog chases a man", "A man chases a dog")],
        ["A man chases a man", "A dog chases a dog"],
    ),
    (
        [explain.place_of(box) for box in (CORNER, (0.4, 0.4, 0.6, 0.6), (0.7, 0.4, 0.9, 0.6))],
        ["top left", "middle", "right"],
    ),
    (regions.places((0.0, 0.5, 0.25, 1.0), 100, 200), (slice(50, 100), slice(0, 50))),
    ([region.changed.key for region in regions.hidden(A, [CORNER])], ["a.jpg#hidden-0,0,0.5,0.5"]),
    ([region.changed.key for region in regions.from_another(A, B, [CORNER])], ["a.jpg#from-b.jpg-0,0,0.5,0.5"]),
    (regions.heat([LEFT, (0, 0, 1, 1)], array(1, 0.5), side=2).tolist(), [[1.0, 0.5], [1.0, 0.5]]),
    (covered(np.zeros((2, 2, 3), np.uint8), region=CORNER)[:, :, 0].tolist(), [[124, 0], [0, 0]]),
    (_in_words("Is there a cup?", "Do you see a cup?"), "'Is there' to 'Do you see'"),
]


@pytest.mark.parametrize(("result", "expected"), EXAMPLES)
def test_an_example(result, expected):
    assert result == expected


ROOT = Path(__file__).parents[1]
FOLDERS = {"vlgate": "vlgate", "perturb": "vlgate.perturb", "fixtures": "vlgate.fixtures"}


def with_examples():
    """The modules whose text holds an example, by the names under which they are imported."""
    for folder, prefix in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            twice = folder == "vlgate" and parts[0] in {"perturb", "fixtures"}  # links to the other two folders
            if not twice and ">>>" in file.read_text(encoding="utf-8"):
                yield ".".join([prefix, *(part for part in parts if part != "__init__")])


MODULES = list(with_examples())


def test_examples_are_found():
    assert len(MODULES) > 20


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    ended = doctest.testmod(importlib.import_module(name))
    assert ended.attempted
    assert not ended.failed
