"""Choose the template of a statement by the verb of the how-many question."""

from __future__ import annotations

from vlgate.perturb.foils.how_many.asked import BE, DO, HAVE, MODALS, Asked, written
from vlgate.perturb.foils.how_many.noun_number import in_plural, in_singular, verb_form
from vlgate.perturb.foils.how_many.templates import (
    Frames,
    Nouns,
    as_clause,
    of_group,
    spaced,
    tailed,
    there,
    with_adjective,
    with_object,
    with_relative,
)
from vlgate.perturb.parsing.parsed import Token

_SAMES = frozenset({"color", "colors", "colour", "size", "kind", "type", "same"})
# Participles that name a state, and go before their noun if nothing follows them: "three closed doors".
_STATES = frozenset({"closed", "lit"})
_INTRANSITIVE = frozenset(
    (
        *("sitting", "standing", "lying", "laying", "sleeping", "going", "coming", "waiting", "walking", "running"),
        *("looking", "falling", "leaning", "kneeling", "swimming", "resting", "happening", "hanging", "facing"),
    )
)
_SEEING = frozenset({"see", "count", "find", "spot", "notice", "observe", "identify", "distinguish", "make", "view"})
_SEEN = frozenset({"seen", "viewed", "spotted", "found", "observed", "counted", "identified", "distinguished"})
_VIEWERS = frozenset({"you", "we", "i", "u", "one"})


def framed(parts: Asked) -> Frames | str:
    """Return the sentences that a question's parts make.

    Returns: a sentence for one and one for other numbers, or a short reason why there are none.
    """
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
        return there(parts, nouns, (*spaced(rest), *parts.after) if alone else (*parts.after, *rest))
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
_CATENATIVE = frozenset(
    {"appear", "seem", "want", "try", "plan", "intend", "attempt", "hope", "prepare", "expect", "pretend", "begin"}
)


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
