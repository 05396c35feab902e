"""Sentences with a place for a quantifier, chosen by the verb of a how-many question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vlgate.perturb.foils.how_many_questions import (
    BE,
    DO,
    HAVE,
    MODALS,
    Asked,
    in_plural,
    in_singular,
    one_of,
    third_person,
    verb_form,
    written,
)
from vlgate.perturb.text.grammar import plural, singular
from vlgate.perturb.text.parsed import Token
from vlgate.perturb.word_lists import words

_PLACES = frozenset("on in at to behind near under above beside below beneath inside".split())
# Singular nouns that stand without an article behind a preposition of place: idioms, and names of stuff.
_BARE = words("bare noun")


def unsayable(tail: Sequence[Token]) -> str:
    # "There are 3 cups" may go on with "on the table", "standing", "visible" or "that are red", but not with "are red".
    if not tail:
        return ""
    if tail[0].tag in {"CC", "EX"} or tail[-1].tag in {"CC", "DT"}:
        return "more than one clause"
    for index, token in enumerate(tail):
        finite = token.tag in {"VBP", "VB", "MD"} or (token.tag == "VBZ" and singular(token.lower) is None)
        if finite and not any(word.tag in {"WDT", "WP", "MD", "WRB", "TO"} for word in tail[:index]):
            return "more than one clause"
        single = token.tag == "NN" and token.lower not in _BARE and plural(token.lower) is not None
        if index and index + 1 == len(tail) and tail[index - 1].lower in _PLACES and single:
            return "a noun without an article"  # "on flag"
    stranded = len(tail) > 1 and tail[-1].tag in {"IN", "TO"} and tail[-2].tag[:2] in {"JJ", "VB"}
    return "a preposition without its noun" if stranded and tail[-1].dep not in {"prt", "advmod"} else ""


Form = Literal["there", "object", "objects", "clause", "group"]

Frame = tuple[str, str]  # what stands before and behind the quantifier of a statement, without the blanks around it

Frames = tuple[Frame | None, Frame, Form]
"""A sentence for one, if it has a wording, the sentence for every other number, and its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nouns:
    many: str
    one: str | None


# Adjectives that may stand behind their noun without a complement: "two boats visible", "a man asleep".
_LATE = words("late adjective")
# Adjectives that say nothing of a noun without a complement: "three people close to the car", not "three close people".
_OF_ANOTHER = words("needs a complement")


def there(parts: Asked, nouns: Nouns, tail: tuple[Token, ...], before: str = "") -> Frames | str:
    """Say "There are # nouns tail"; ``before`` are adjectives that go before the noun."""
    bare = bool(tail) and tail[-1].tag == "JJ" and tail[-1].lower not in _LATE
    bare = bare and all(word.tag[:2] in {"RB", "JJ", "PD", "DT", "NN"} for word in tail[:-1])
    reason = "an adjective behind its noun" if bare else unsayable(tail)
    if reason:
        return reason
    many, one = tailed(tail, parts.front), one_of(tail)
    ahead = f"{before} " if before else ""
    one_text = None if nouns.one is None or one is None else f"{ahead}{nouns.one}{_blank(one)}{_front(parts.front)}"
    return (None if one_text is None else ("there is", one_text), ("there are", f"{ahead}{nouns.many}{many}"), "there")


_FIRST = frozenset({"not", "n't", "next"})


def with_adjective(parts: Asked, nouns: Nouns) -> Frames | str:
    rest = parts.rest
    end = next((n for n, word in enumerate(rest) if word.tag[:2] not in {"JJ", "RB", "CC"}), len(rest))
    adjectives = [word.lower for word in rest[:end] if word.tag[:2] == "JJ"]
    last = rest[end - 1] if end else rest[0]
    stays = not adjectives or adjectives[-1] in _LATE - {"open"} or last.tag == "RB" or rest[0].lower in _FIRST
    follows = rest[end].tag if end < len(rest) else ""
    if adjectives and rest[0].lower in {"not", "n't"}:
        return "a negated adjective"
    if adjectives and adjectives[-1] in _OF_ANOTHER and last.tag != "RB":
        complement = follows in {"IN", "TO"}
        return there(parts, nouns, (*parts.after, *rest)) if complement else "an adjective without its complement"
    if stays or (follows == "IN" and (last.tag == "JJR" or rest[end].lower in {"than", "as", "of", "for", "from"})):
        return there(parts, nouns, (*parts.after, *rest))
    if follows in {"VBG", "VBN", "NN", "NNS", "TO"} or parts.after:
        return "an adjective with a complement"
    return there(parts, nouns, rest[end:], before=written(rest[:end]))


def with_object(parts: Asked, nouns: Nouns, subject: str, tail: tuple[Token, ...]) -> Frames | str:
    """Say "The man has # nouns"; of several men the number may be meant of each."""
    reason = unsayable(tail)
    if reason:
        return reason
    several = parts.verb is not None and parts.verb.lower in {"are", "were", "do"}
    if parts.after:
        nouns = Nouns(
            many=f"{nouns.many} {written(parts.after)}",
            one=None if nouns.one is None else f"{nouns.one} {written(parts.after)}",
        )
    behind = tailed(tail, parts.front)
    one = None if nouns.one is None or several else (subject, f"{nouns.one}{behind}")
    return one, (subject, f"{nouns.many}{behind}"), "objects" if several else "object"


def as_clause(parts: Asked, nouns: Nouns, verbs: tuple[str, str]) -> Frames | str:
    """Say "# nouns have been broken"; ``verbs`` are the auxiliary in the plural and in the singular."""
    after = f" {written(parts.after)}" if parts.after else ""
    behind = f"{written(parts.rest)}{_front(parts.front)}"
    one = None
    if nouns.one is not None and one_of(parts.rest) is not None:
        one = ("", f"{nouns.one}{after} {verbs[1]} {behind}")
    return one, ("", f"{nouns.many}{after} {verbs[0]} {behind}"), "clause"


_PERSONS = frozenset("people men women persons boys girls children kids players adults guys ladies".split())


def with_relative(parts: Asked, nouns: Nouns) -> Frames | str:
    """Say "# nouns that surround the tower", for "How many nouns surround the tower?"."""
    if parts.verb is None or not parts.rest or parts.rest[0].tag in {"CC", "VBD"}:
        return "the question is not complete"
    head = parts.noun[parts.head].lower
    link = f"{written(parts.after)} {'who' if head in _PERSONS else 'that'}".strip()
    many_verb, one_verb = third_person(parts.verb)
    if many_verb is None or one_verb is None:
        return "a verb that is not known"
    tail, one_tail = tailed(parts.rest, parts.front), one_of(parts.rest, parts.verb.lower)
    one = None
    if nouns.one is not None and one_tail is not None:
        one = ("there is", f"{nouns.one} {link} {one_verb}{_blank(one_tail)}{_front(parts.front)}")
    return one, ("there are", f"{nouns.many} {link} {many_verb}{tail}"), "there"


def of_group(parts: Asked) -> Frames | str:
    """Say "# of the animals are giraffes"; the singular only if the predicate has no number of its own."""
    if parts.verb is None or not parts.rest or parts.rest[0].lower == "there":
        return "a part of a group without a verb"
    many_verb, one_verb = third_person(parts.verb)
    first, verb = parts.rest[0], parts.verb.lower
    unknown = many_verb is None or verb in DO | MODALS or first.tag in {"PRP", "CC", "EX"}
    if unknown or (verb in BE and first.tag in {"DT", "PRP$"}):
        return "a verb that is not known"
    subject = written((*parts.noun, *parts.after))
    alone = verb in BE and first.tag in {"VBG", "VBN", "IN", "JJ", "RB"}
    one_tail = one_of(parts.rest) if alone else None
    one = None if one_tail is None else ("", f"{subject} {one_verb} {one_tail}{_front(parts.front)}")
    return one, ("", f"{subject} {many_verb}{tailed(parts.rest, parts.front)}"), "group"


def tailed(tail: tuple[Token, ...], front: tuple[Token, ...]) -> str:
    return f"{_blank(written(tail))}{_front(front)}"


def _front(front: tuple[Token, ...]) -> str:
    text = written(front)
    return f" {text[:1].lower()}{text[1:]}" if text else ""


def _blank(text: str) -> str:
    return f" {text}" if text else ""


_SAMES = frozenset({"color", "colors", "colour", "size", "kind", "type", "same"})
# Participles that name a state, and go before their noun if nothing follows them: "three closed doors".
_STATES = frozenset({"closed", "lit"})
_INTRANSITIVE = words("stands without object")
_SEEING = frozenset({"see", "count", "find", "spot", "notice", "observe", "identify", "distinguish", "make", "view"})
_SEEN = frozenset({"seen", "viewed", "spotted", "found", "observed", "counted", "identified", "distinguished"})
_VIEWERS = frozenset({"you", "we", "i", "u", "one"})


def framed(parts: Asked) -> Frames | str:
    if parts.group:
        return of_group(parts)
    many, one = in_plural(parts.noun, parts.head), in_singular(parts.noun, parts.head)
    if many is None:
        return "the plural of the noun is not known"
    nouns = Nouns(many=many, one=one)
    if parts.verb is None:
        return there(parts, nouns, parts.after)
    for verbs, template in ((BE, _be), (DO, _do), (HAVE, _have), (MODALS, _modal)):
        if parts.verb.lower in verbs:
            return template(parts, nouns)
    return with_relative(parts, nouns)


def _be(parts: Asked, nouns: Nouns) -> Frames | str:
    rest = parts.rest
    if not rest:
        return "the question is not complete"
    first = rest[0]
    state = len(rest) == 1 and first.lower in _STATES and not parts.after
    if first.lower == "there" or state:
        return there(parts, nouns, (*parts.after, *rest[1:]), before=first.lower if state else "")
    if first.tag == "CD" or (first.lower in {"the", "all", "both", "same"} and rest[-1].lower in _SAMES):
        return "the predicate is a noun"
    if first.tag in {"VBG", "VBN", "VBD", "IN", "TO", "RP"} or first.lower.endswith("ing"):
        alone = len(rest) == 1 and first.tag == "VBG"
        return there(parts, nouns, (replace(first, space=" "), *parts.after) if alone else (*parts.after, *rest))
    if first.tag[:2] in {"RB", "JJ", "VB"}:
        return with_adjective(parts, nouns)
    return _progressive(parts, nouns)


def _progressive(parts: Asked, nouns: Nouns) -> Frames | str:
    """Say "The man is holding # nouns", for "How many nouns is the man holding?"."""
    rest = parts.rest
    verbs = [n for n, word in enumerate(rest) if word.tag == "VBG" or (word.lower.endswith("ing") and n > 1)]
    stranded = rest[-1].tag in {"IN", "RP", "TO"}
    if parts.verb is None or len(verbs) > 1 or (not verbs and not stranded):
        return "the predicate is a noun"
    at = verbs[0] if verbs else len(rest) - 1
    if at == 0 or parts.after or rest[0].tag == "PRP":
        return "the predicate is a noun"
    subject, verb, tail = rest[:at], rest[at : at + 1], rest[at + 1 :]
    if verbs and not stranded and verb[0].lower in _INTRANSITIVE:
        return "the verb has no object"
    if stranded:
        verb, tail = rest[at:], ()
    elif inner := _infinitive(verb[0], tail):
        verb, tail = rest[at : at + 1 + inner], tail[inner:]
    return with_object(parts, nouns, f"{written(subject)} {parts.verb.text} {written(verb)}", tail)


def _do(parts: Asked, nouns: Nouns) -> Frames | str:
    """Say "The man has # nouns", for "How many nouns does the man have?"."""
    rest = parts.rest
    at = next((n for n, word in enumerate(rest) if n and word.tag in {"VB", "VBP"}), 0)
    if not at or parts.verb is None:
        return "a verb that is not known"
    subject, verb, tail = rest[:at], rest[at], rest[at + 1 :]
    if subject[0].lower in _VIEWERS and verb.lower in _SEEING:
        return there(parts, nouns, (*parts.after, *tail))
    if subject[0].tag in {"PRP", "EX", "RB"} or verb.lower in {"take", "need"}:
        return "a verb that is not known"
    said = verb_form(verb.lower, {"does": "VBZ", "do": "VBP"}.get(parts.verb.lower, "VBD"))
    inner = _infinitive(verb, tail)
    if inner:
        said, tail = f"{said} {written(tail[:inner])}", tail[inner:]
    if tail and tail[-1].tag in {"IN", "RP", "TO"}:
        said, tail = f"{said} {written(tail)}", ()
    return with_object(parts, nouns, f"{written(subject)} {said}", tail)


# Verbs whose infinitive has the object: "appears to have 4 floors", but "uses 4 dogs to pull the sled".
_CATENATIVE = frozenset("appear seem want try plan intend attempt hope prepare expect pretend begin".split())


def _infinitive(verb: Token, tail: tuple[Token, ...]) -> int:
    """Return the length of an infinitive behind a verb that shares its object with it: "to have", "to be holding"."""
    if verb.lemma.lower() not in _CATENATIVE or [word.tag for word in tail[:2]] != ["TO", "VB"]:
        return 0
    return 3 if tail[1].lower == "be" and tail[2:3] and tail[2].tag == "VBG" else 2


def _have(parts: Asked, nouns: Nouns) -> Frames | str:
    """Say "# nouns with caps" for "have caps", and "# nouns have been broken" for a perfect."""
    rest = parts.rest
    if not rest or parts.verb is None or parts.verb.lower == "had":
        return "the question is not complete"
    if rest[0].lower == "been" or (rest[0].tag in {"VBN", "VBD"} and (len(rest) == 1 or rest[1].tag[:2] != "NN")):
        return as_clause(parts, nouns, ("have", "has"))
    if rest[0].tag not in {"DT", "JJ", "NN", "NNS", "PRP$", "VBN", "VBG"} or rest[0].lower in {"all", "both", "there"}:
        return "a verb that is not known"
    if parts.after:
        return with_relative(parts, nouns)
    frames = there(parts, nouns, rest)
    if isinstance(frames, str):
        return frames
    _, many, _ = frames
    plain = rest[0].tag == "DT" and not any(word.tag == "PRP$" for word in rest)
    one = None if nouns.one is None or not plain else ("there is", f"{nouns.one} with {written(rest)}")
    return one, (many[0], f"{nouns.many} with {tailed(rest, parts.front).strip()}"), "there"


def _modal(parts: Asked, nouns: Nouns) -> Frames | str:
    rest = parts.rest
    modal = parts.verb.lower if parts.verb else ""
    if len(rest) < 2 or any(word.lower in BE for word in rest):
        return "the question is not complete"
    if rest[0].lower == "be" and rest[1].lower in _SEEN:
        return there(parts, nouns, (*parts.after, *rest[2:]))
    if rest[0].tag == "VB":
        return as_clause(parts, nouns, (modal, modal))
    at = next((n for n, word in enumerate(rest) if n and word.tag in {"VB", "VBP"}), 0)
    subject, verb, tail = rest[:at], rest[at], rest[at + 1 :]
    if not at or (subject[0].tag in {"PRP", "EX", "RB"} and subject[0].lower not in _VIEWERS):
        return "a verb that is not known"
    if subject[0].lower in _VIEWERS and verb.lower in _SEEING:
        return there(parts, nouns, (*parts.after, *tail))
    said = f"{written(subject)} {modal} {verb.text}"
    if tail and tail[-1].tag in {"IN", "RP", "TO"}:
        said, tail = f"{said} {written(tail)}", ()
    return with_object(parts, nouns, said, tail)
