"""The answer to a question, from its text and the scene graph alone: a second check of the truth of generated pairs.

Three values: True, False, and None if the graph does not say. What is annotated holds; what nothing in the graph can
be called, and no annotated thing may have as a part, is not there; of attributes that exclude each other a thing has
one. Everything else is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeVar

from evaluator_parse import Choice, Existence, Lexicon, NotUnderstoodError, Phrase, Predication, bare, parse

from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph, SceneObject

Truth = bool | None
_Said = TypeVar("_Said")


class Reply(NamedTuple):
    """An answer, None if there is none, and the reason."""

    answer: str | None
    why: str


class Pair(Protocol):
    """Two questions about a graph, with their choices and the answers to check."""

    @property
    def test(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def graph(self) -> SceneGraph: ...
    @property
    def questions(self) -> tuple[str, str]: ...
    @property
    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...]]: ...
    @property
    def answers(self) -> tuple[str, str]: ...


class Disagreement(NamedTuple):
    """A question of a pair whose answer is another one here, or none."""

    pair: Pair
    place: int
    reply: Reply

    def __str__(self) -> str:
        """In words, for a listing."""
        pair, place = self.pair, self.place
        said = f"{pair.answers[place]!r}, here {self.reply.answer!r}: {self.reply.why}"
        return f"{pair.graph.id}: {pair.questions[place]} {said}"


def disagreements(pairs: Iterable[Pair], ontology: Ontology) -> Iterator[Disagreement]:
    """Yield the questions that are answered otherwise here, in the order of ``pairs``."""
    known: dict[int, Evaluator] = {}
    lexicon = Lexicon(ontology)
    for pair in pairs:
        evaluator = known.setdefault(id(pair.graph), Evaluator(pair.graph, ontology, lexicon))
        for index in range(2):
            reply = evaluator.reply(pair.questions[index], pair.choices[index])
            if reply.answer != pair.answers[index]:
                yield Disagreement(pair, index, reply)


def answer(question: str, choices: tuple[str, ...], graph: SceneGraph, ontology: Ontology) -> str | None:
    """Return "yes", "no" or one of the choices; None if the text is not understood or the graph does not say."""
    return explain(question, choices, graph, ontology).answer


def explain(question: str, choices: tuple[str, ...], graph: SceneGraph, ontology: Ontology) -> Reply:
    """Return the answer with its reason."""
    return Evaluator(graph, ontology, Lexicon(ontology)).reply(question, choices)


class Evaluator:
    """Answers questions about one graph."""

    def __init__(self, graph: SceneGraph, ontology: Ontology, lexicon: Lexicon) -> None:
        self.graph = graph  # held, so that no other graph gets its id
        self.things = tuple(graph.objects.values())
        self.ontology = ontology
        self.lexicon = lexicon
        self.replies: dict[tuple[str, tuple[str, ...]], Reply] = {}

    def reply(self, question: str, choices: tuple[str, ...]) -> Reply:
        """Return the answer to ``question`` with its reason; each is worked out once."""
        asked = question, choices
        if asked not in self.replies:
            self.replies[asked] = self._reply(question, choices)
        return self.replies[asked]

    def _reply(self, question: str, choices: tuple[str, ...]) -> Reply:
        try:
            asked = parse(question, choices, self.lexicon)
        except NotUnderstoodError as error:
            return Reply(None, f"not understood: {error}")
        match asked:
            case Existence():
                return self._existence(asked)
            case Predication():
                return self._predication(asked)
            case Choice():
                return self._choice(asked)

    def _existence(self, asked: Existence) -> Reply:
        found = [self._there(thing) for thing in asked.things]
        values = [value for value, _ in found]
        truth = _all(values) if asked.joined == "and" else _any(values)
        return _yes_or_no(truth, asked.negated, "; ".join(why for _, why in found))

    def _predication(self, asked: Predication) -> Reply:
        said = {thing.id: self._has(thing, asked.attribute) for thing in self._meant(asked.thing)}
        truth, why = self._agreed(asked.thing, said)
        return _yes_or_no(truth, asked.negated, f"{why} ({asked.attribute})")

    def _choice(self, asked: Choice) -> Reply:
        if asked.category in {attribute.category for attribute in self.ontology.attributes.values()} - {""}:
            strange = [choice for choice in asked.choices if asked.category not in self._categories(choice)]
            if strange:
                return Reply(None, f"not understood: {strange[0]!r} is no {asked.category}")
        of = self._class if asked.kinds else self._value
        said = {thing.id: of(thing, asked.choices) for thing in self._meant(asked.thing)}
        return Reply(*self._agreed(asked.thing, said))

    def _categories(self, choice: str) -> set[str]:
        known = self.ontology.attributes
        return {known[name].category for name in self.lexicon.readings.get(choice, ()) if name in known}

    def _value(self, thing: SceneObject, choices: Iterable[str]) -> str | None:
        return _only({choice: self._has(thing, choice) for choice in choices})

    def _class(self, thing: SceneObject, choices: Iterable[str]) -> str | None:
        return _only({choice: self._called(thing, bare(choice)) for choice in choices})

    def _agreed(self, phrase: Phrase, said: Mapping[str, _Said]) -> tuple[_Said | None, str]:
        """What holds of whichever thing is meant."""
        if not any(self._fits(phrase, thing) for thing in self.things):
            return None, f"nothing certainly is the {_text(phrase)}"
        shown = ", ".join(f"{one}: {value}" for one, value in said.items())
        return (next(iter(said.values())) if len(set(said.values())) == 1 else None), f"of {_text(phrase)} {shown}"

    def _meant(self, phrase: Phrase) -> Iterator[SceneObject]:
        """All things that "the ..." can mean."""
        return (thing for thing in self.things if self._fits(phrase, thing) is not False)

    def _there(self, phrase: Phrase) -> tuple[Truth, str]:
        fits = [self._fits(phrase, thing) for thing in self.things]
        if any(fits):
            return True, f"{_text(phrase)}: {self.things[fits.index(True)].id}"
        for kind in (phrase.kind, *([phrase.other.kind] if phrase.other else [])):
            maybe = [thing for thing in self.things if self._described(thing, kind) is not False]
            wholes = [thing for thing in self.things if self._may_have(thing, kind)]
            if not maybe and not wholes:
                return False, f"nothing can be {kind}"
        return None, f"{phrase.kind}: may be {[*maybe, *wholes][0].id}"

    def _fits(self, phrase: Phrase, thing: SceneObject) -> Truth:
        """Whether the thing is what a phrase describes, its relation included."""
        described = self._described(thing, phrase.kind)
        if phrase.other is None or described is False:
            return described
        return _all([described, self._related(thing, phrase.relation, phrase.other.kind)])

    def _related(self, thing: SceneObject, text: str, kind: str) -> Truth:
        """Whether the thing stands so to something of a kind; a relation that nobody wrote down may hold as well."""
        return _any(
            _all([self._described(other, kind), self._stands(thing, text, other) or None])
            for other in self.things
            if other is not thing
        )

    def _stands(self, thing: SceneObject, text: str, other: SceneObject) -> bool:
        known = self.ontology.relations
        there = [relation.name for relation in thing.relations if relation.object == other.id]
        back = [relation.name for relation in other.relations if relation.object == thing.id and relation.name in known]
        return any((known[name].text if name in known else name) == text for name in there) or any(
            known[name].inverse == text for name in back
        )

    def _described(self, thing: SceneObject, kind: str) -> Truth:
        """Whether the thing is a "plastic bag": a bag of plastic is one, but another thing may be one as well."""
        values = [
            _all([self._called(thing, noun), *(self._has(thing, attribute) for attribute in attributes)])
            for attributes, noun in self.lexicon.senses(kind)
        ]
        return True if True in values else values[0]

    def _called(self, thing: SceneObject, noun: str) -> Truth:
        names = self._known_names(thing.name)
        if noun == thing.name or (thing.name in names and noun in self.ontology.certain(thing.name)):
            return True
        return None if any(noun in self.ontology.possible(name) for name in names) else False

    def _may_have(self, thing: SceneObject, kind: str) -> bool:
        """Whether the thing may have such a part that nobody wrote down."""
        nouns = {noun for _, noun in self.lexicon.senses(kind)}
        return any(not nouns.isdisjoint(self.ontology.parts(name)) for name in self._known_names(thing.name))

    def _known_names(self, name: str) -> list[str]:
        """The name, or where nothing is known of it ("tall man's hat") all names within it."""
        if self.ontology.knows(name):
            return [name]
        words = name.split(" ")
        spans = [" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
        return [span for span in spans if self.ontology.knows(span)]

    def _has(self, thing: SceneObject, text: str) -> Truth:
        """Whether the thing is "red"."""
        names = self.lexicon.readings.get(text, {text})
        if not names.isdisjoint(thing.attributes):
            return True
        return False if any(self._against(thing, name, names) for name in thing.attributes) else None

    def _against(self, thing: SceneObject, annotated: str, names: Iterable[str]) -> bool:
        return all(self._excludes(thing, annotated, name) for name in names)

    def _excludes(self, thing: SceneObject, annotated: str, name: str) -> bool:
        if self.ontology.exclusive(annotated, name):
            return True
        return self.ontology.knows(thing.name) and annotated == self.ontology.antonym(name, thing.name)


def _all(values: Iterable[Truth]) -> Truth:
    """And, as Kleene has it."""
    found = set(values)
    return False if False in found else None if None in found else True


def _any(values: Iterable[Truth]) -> Truth:
    """Or, as Kleene has it."""
    found = set(values)
    return True if True in found else None if None in found else False


def _only(values: dict[str, Truth]) -> str | None:
    """The only choice that is true, if the others are false."""
    true = [choice for choice, value in values.items() if value]
    return true[0] if len(true) == 1 and list(values.values()).count(False) == len(values) - 1 else None


def _yes_or_no(truth: Truth, negated: bool, why: str) -> Reply:
    return Reply(None if truth is None else "yes" if truth is not negated else "no", why)


def _text(phrase: Phrase) -> str:
    return phrase.kind if phrase.other is None else f"{phrase.kind} {phrase.relation} the {phrase.other.kind}"
