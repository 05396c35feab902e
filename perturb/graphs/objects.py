"""Captions in which one object is replaced by one that the image does not show (VL-CheckList, objects)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.graphs.absence import Absence, common_names
from vlgate.perturb.graphs.checklist import OBJECT, SUBJECT, Words, checked, foils_of
from vlgate.perturb.graphs.names import Triple, determiner, object_determiner, triples_of
from vlgate.perturb.scene_graph import SceneGraph, SceneObject, image_size, place_of, size_of
from vlgate.perturb.text.sentences import read_predicate
from vlgate.perturb.word_lists import words
from vlgate.seeds import quick_generator

UNKNOWN = "the ontology does not know the noun, or it is vague"
SEVERAL_WORDS = "the noun has several words"
UNUSUAL = "nobody would write the caption"

_DRAWS = 8
_FEW = 30  # nouns of a place, up to which they are looked at one by one
# Relations between things of any kind; behind others, such as "at", only nouns that the collection has there read well.
_FREE = frozenset(
    "above|behind|below|beside|beneath|by|carrying|close to|holding|in front of|near|next to|on|on top of|over|"
    "standing next to|to the left of|to the right of|touching|under|underneath|wearing|with".split("|")
)
# What is done to several things at a time, and behind which words a verb has one thing.
_AT_ONCE = words("several at a time")
_PLACED = frozenset(("at", "in", "inside", "on", "on top of"))
# What images often show and annotators leave out.
_CLUTTER = words("clutter")


def object_foils(graph: SceneGraph, words: Words) -> Perturbed:
    """Make a foil of each end of each relation: its noun is replaced by one of its class that the image lacks."""
    # A noun counts as absent if no object of the graph may be called so or may have such a part unannotated, and nobody
    # would expect it there (``absence``). The second is not asked of what somebody does something to, if it is one
    # thing at a time: who rides a horse rides no cow. Nouns that the collection has in the same place, behind the same
    # relation, come first, in the shares that they have there.
    triples = triples_of(graph, words.ontology)
    captions = [triple.said() for triple in triples if isinstance(triple, Triple)]
    return checked(_foils(graph, triples, words), captions)


def _foils(graph: SceneGraph, triples: list[Triple | str], words: Words) -> Iterator[list[Foil] | str]:
    absence = Absence(graph, words.ontology, words.where)
    for triple in triples:
        if isinstance(triple, str):
            yield triple
        elif not reads_well(triple, words):
            yield UNUSUAL
        else:
            for role in (SUBJECT, OBJECT):
                yield _made(graph, triple, role, words, absence)


def reads_well(triple: Triple, words: Words, *, subject: str = "", object: str = "") -> bool:  # noqa: A002
    """Return whether somebody would write a triple, with another noun at one end: frames are written by persons."""
    one, other = subject or triple.subject.name, object or triple.object.name
    if words.sole:
        return True
    seen = words.vocabulary.beside.get((OBJECT, triple.text, one), Counter())[other]
    return words.slots.reads(one, triple.text, other, seen=seen)


def _made(graph: SceneGraph, triple: Triple, role: str, words: Words, absence: Absence) -> list[Foil] | str:
    thing = triple.subject if role == SUBJECT else triple.object
    if " " in thing.name:
        return SEVERAL_WORDS
    if not words.ontology.knows(thing.name) or not words.ontology.nouns[thing.name].askable:
        return UNKNOWN
    others = _replacements(graph, triple, role, words, absence)
    if not others:
        return "nothing of its class that would stand there is surely absent"
    foils = {other: triple.said(**{role: other}) for other in others}
    tags = {"role": role, **box_tags(thing, graph)}
    return foils_of(triple.said(), thing.name, foils, lambda one: f"nothing in the image may be called {one!r}", tags)


def box_tags(thing: SceneObject, graph: SceneGraph) -> Mapping[str, str]:
    """Return the tags of an object's box: ``size``, and ``location`` if the size of the image is known."""
    image = image_size(graph)
    tags = {"size": size_of(thing.box)}
    return tags if image is None else {**tags, "location": place_of(thing.box, image)}


def _replacements(graph: SceneGraph, triple: Triple, role: str, words: Words, absence: Absence) -> Sequence[str]:
    thing = triple.subject if role == SUBJECT else triple.object
    random = f"{words.seed}:object:{graph.id}:{triple.said()}:{role}"
    anywhere = not takes_one(triple.text) or (role == SUBJECT and not words.sole)

    def fits(one: str) -> bool:
        return (
            absence.lacks(one, anywhere=anywhere)
            and not words.likeness.too_alike(thing.name, one)
            and (role == SUBJECT or object_determiner(triple.text, one) == triple.determiners[1])
            and reads_well(triple, words, **{role: one})
        )

    found: dict[str, None] = {}
    for pool in _pools(triple, role, words):
        found |= dict.fromkeys(_drawn(pool, random, fits, words.most))
        if len(found) >= words.most:
            break
    return list(found)[: words.most]


@cache
def takes_one(relation: str) -> bool:
    """Return whether who does something does it to one thing at a time, so that the thing is no other one."""
    predicate = read_predicate(relation)
    if predicate is None or predicate.passive or predicate.verb.base in _AT_ONCE:
        return False
    return not predicate.verb.rest or predicate.verb.rest in _PLACED


def _drawn(pool: Mapping[str, int], name: str, fits: Callable[[str], bool], most: int) -> Sequence[str]:
    # Of a large pool most draws fit, so few nouns are looked at.
    few = len(pool) <= _FEW
    names = [one for one in pool if fits(one)] if few else list(pool)
    if not names:
        return ()
    random = quick_generator(name)
    drawn = dict.fromkeys(random.choices(names, [pool[one] for one in names], k=_DRAWS * most))
    found = list(islice(drawn if few else filter(fits, drawn), most))
    if found:
        return found
    fitting = [one for one in names if one not in drawn and fits(one)]
    return random.choices(fitting, [pool[one] for one in fitting])[:1] if fitting else ()


def _stands(one: str, other: str, wanted: str, words: Words) -> bool:
    if " " in other or other in _CLUTTER or not words.ontology.nouns[other].askable or determiner(other) != wanted:
        return False
    return bool(words.ontology.nouns[one].other) == bool(words.ontology.nouns[other].other)  # "pants", not "hats"


def _alike(name: str, others: Iterable[str], words: Words) -> Iterator[str]:
    # The nouns that share a class with one; those that have no class, if it has none itself.
    some = _known_classes(name, words)
    classes = ((other, _known_classes(other, words)) for other in others if other != name)
    return (other for other, theirs in classes if (not some.isdisjoint(theirs) if some or theirs else True))


def _known_classes(name: str, words: Words) -> frozenset[str]:
    if name not in words.classes:
        above = (*words.ontology.hypernyms(name), *((name,) if words.ontology.hyponyms(name) else ()))
        words.classes[name] = frozenset((*above, *(words.ontology.nouns[one].other for one in above))) - {""}
    return words.classes[name]


def _pools(triple: Triple, role: str, words: Words) -> Iterator[Mapping[str, int]]:
    """Nouns to choose from: those beside the same noun, those in the same place, all of the collection, common ones."""
    # A noun without a class is only replaced by one beside the same noun: what is "on a building" may be a clock.
    thing, other, place = (triple.subject, triple.object, 0) if role == SUBJECT else (triple.object, triple.subject, 1)
    name, text, wanted, vocabulary = thing.name, triple.text, triple.determiners[place], words.vocabulary
    near = (role, text, other.name)
    yield _pool(name, wanted, near, words, lambda: vocabulary.beside.get(near, Counter()))
    if _known_classes(name, words):
        yield _pool(name, wanted, (role, text), words, lambda: vocabulary.placed.get((role, text), Counter()))
    if text in _FREE and _known_classes(name, words):
        yield _pool(name, wanted, ("all",), words, lambda: vocabulary.names)
        yield _pool(name, wanted, ("common",), words, lambda: Counter(_common(words)))


def _pool(
    name: str, wanted: str, place: tuple[str, ...], words: Words, counted: Callable[[], Counter[str]]
) -> Mapping[str, int]:
    """The nouns of a place that may stand for a name, with their counts; each pool is made once."""
    key = (name, wanted, *place)
    if key not in words.pools:
        found = counted()
        fitting = _fitting(name, wanted, words) if len(found) > _FEW else found
        names = [one for one in sorted(found) if one in fitting]
        if fitting is found:
            names = [one for one in _alike(name, names, words) if _stands(name, one, wanted, words)]
        words.pools[key] = {one: found[one] for one in names}
    return words.pools[key]


def _fitting(name: str, wanted: str, words: Words) -> Mapping[str, int]:
    """All nouns of the collection, and common ones, that fit the place of one: the same for every relation."""
    key = (name, wanted)
    if key not in words.pools:
        standing = ("standing", wanted, "inflected" if words.ontology.nouns[name].other else "")
        if standing not in words.pools:
            names = sorted({*words.vocabulary.names, *_common(words)})
            words.pools[standing] = {one: 1 for one in names if _stands(name, one, wanted, words)}
        words.pools[key] = dict.fromkeys(_alike(name, words.pools[standing], words), 1)
    return words.pools[key]


def _common(words: Words) -> Mapping[str, int]:
    if ("common names",) not in words.pools:
        words.pools["common names",] = dict.fromkeys(common_names(words.ontology), 1)
    return words.pools["common names",]
