"""English words: articles, capital letters, the dictionary of ``lemminflect``, plurals and singulars."""

import gzip
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.perturb.word_lists import words

# Articles, capital letters, and writing one phrase over another.
# The rules are those of a school grammar with a short list of exceptions. They are made for captions and the questions
# of templates.

# The sound decides, not the letter: "an hour", "a unicorn", "a one-way street", "an umbrella". The pronunciation is
# American: "an herb". An abbreviation begins with the name of its first letter: "an SUV", "an x-ray", "a UFO".
_SOUNDS_LIKE_A_VOWEL = re.compile(
    r"(?:hour|honest|honou?r|heir|herb(?:s|al)?\b|8|11\b|18\b|[aeiou]"
    r"|[fhlmnrsx]\b|(?:hdtv|lcd|led|mlb|mp3|nba|nfl|rv|suv)s?\b|xray|xbox)",
    re.IGNORECASE,
)
_SOUNDS_LIKE_A_CONSONANT = re.compile(
    r"(?:eu|ewe|one(?:s|sies?|way)?\b|once\b|ouija|uni(?![dmn])|us[aeu]|ut[ei]|ubi|uku|uri|u\b|(?:ufo|uk|ups|us|usb)s?\b)",
    re.IGNORECASE,
)
_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_SENTENCE_BEFORE = re.compile(r"(?:^|[.?!]\s+)$")


def article(phrase: str) -> str:
    """Return the indefinite article of ``phrase``, by the sound of its first word.

    >>> [article(word) for word in ("cup", "apple", "orange cup", "hour", "unicorn")]
    ['a', 'an', 'an', 'an', 'a']
    """
    vowel = _SOUNDS_LIKE_A_VOWEL.match(phrase) and not _SOUNDS_LIKE_A_CONSONANT.match(phrase)
    return "an" if vowel else "a"


def with_article(phrase: str) -> str:
    """Return ``phrase`` with its indefinite article before it.

    >>> with_article("umbrella")
    'an umbrella'
    """
    return f"{article(phrase)} {phrase}"


def capitalised_like(model: str, phrase: str) -> str:
    """Return ``phrase`` with a capital first letter if ``model`` begins with one.

    >>> capitalised_like("To", "above")
    'Above'
    """
    return phrase[:1].upper() + phrase[1:] if model[:1].isupper() else phrase


def only_span(text: str, phrase: str) -> tuple[int, int] | None:
    """Find ``phrase`` in ``text`` as whole words, in upper or lower case.

    Returns: (start, stop), or None if it does not occur exactly once.
    """
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)]
    return spans[0] if phrase and len(spans) == 1 else None


def put(text: str, span: tuple[int, int], phrase: str) -> str:
    """Write ``phrase`` over ``text[start:stop]``.

    A capital letter at the start of a sentence is kept, and an indefinite article directly before the span agrees with
    the new phrase.

    >>> put("A red cup.", (2, 5), "orange")
    'An orange cup.'
    """
    before, old, after = text[: span[0]], text[span[0] : span[1]], text[span[1] :]
    if _SENTENCE_BEFORE.search(before):
        phrase = capitalised_like(old, phrase)
    match = _ARTICLE_BEFORE.search(before)
    if match:
        before = before[: match.start()] + capitalised_like(match[1], article(phrase)) + match[2]
    return before + phrase + after


# The dictionary of ``lemminflect``: the forms of a word, and the words of a form.
# ``import lemminflect`` imports spaCy, and all that spaCy imports, for attributes of spaCy's tokens, which nothing
# here uses. So the modules that read the dictionary are imported without running the code of their package. The
# library reads all entries at the first look-up, in 0.4 s; here its own code reads those of the words that are looked
# up.

_LIBRARY = "lemminflect"
# Of each class that reads: its attributes of the entries and of their file, and the class that reads the file.
_ENTRIES = {
    "Lemmatizer": ("lemma_dict", "lemma_lu_fn", "LemmaLUCodec"),
    "Inflections": ("infl_dict", "infl_lu_fn", "InflectionLUCodec"),
}


@lru_cache(maxsize=65_536)
def lemmas(word: str, upos: str) -> tuple[str, ...]:
    """Return the words of a part of speech that have ``word`` as a form.

    >>> lemmas("left", "VERB"), lemmas("gribbleflax", "NOUN")
    (('leave',), ())
    """
    words_of_form: tuple[str, ...] = _reader("Lemmatizer").getAllLemmas(word, upos).get(upos, ())
    return words_of_form


@lru_cache(maxsize=65_536)
def is_word(word: str) -> bool:
    """Return whether the dictionary has ``word``, or has it as a form of another one.

    >>> is_word("left"), is_word("gribbleflax")
    (True, False)
    """
    reader, lower = _reader("Lemmatizer"), word.lower()
    return lower in reader.lemma_dict or lower in reader._getOverridesDict()  # noqa: SLF001  # without copies


def forms(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """Return the forms of a word by their Penn tags, the usual one first; none if the dictionary lacks it.

    >>> forms("lift", "VERB")["VBZ"], forms("gribbleflax", "NOUN")
    (('lifts',), {})
    """
    inflections: dict[str, tuple[str, ...]] = _reader("Inflections").getAllInflections(lemma, upos)
    return inflections


@lru_cache(maxsize=65_536)
def form(lemma: str, tag: str, *, guess: bool = True) -> tuple[str, ...]:
    """Return one form of a word by its Penn tag; ``guess`` applies the library's rules to words that it lacks.

    >>> form("gribble", "VBG"), form("gribble", "VBG", guess=False)
    (('gribbling',), ())
    """
    inflections: tuple[str, ...] = _reader("Inflections").getInflection(lemma, tag, guess)
    return inflections


class Entries(Mapping[str, Any]):
    # The entries of one of the library's files, each read by the library's ``load`` when it is looked up. Words that it
    # adds to those of any file are entries, too.

    def __init__(self, file: Path, load: Callable[[Any], dict[str, Any]]) -> None:
        self._load = load
        # the lines of a word stand together when they are in order; a dictionary of all words takes 0.1 s
        self._lines = sorted(gzip.decompress(file.read_bytes()).splitlines(keepends=True))
        self._read = self._entries(b"")
        self._more = frozenset(self._read)

    def _entries(self, lines: bytes) -> dict[str, Any]:
        return self._load(BytesIO(gzip.compress(lines, compresslevel=0)))

    def __getitem__(self, word: str) -> Any:
        if word not in self._read:
            begin = f"{word},".encode(errors="surrogatepass")
            start = bisect_left(self._lines, begin)
            lines = self._lines[start : bisect_left(self._lines, begin + b"\xff", start)]
            if not lines:
                raise KeyError(word)
            self._read[word] = self._entries(b"".join(lines))[word]
        return self._read[word]

    def __iter__(self) -> Iterator[str]:
        words_of = dict.fromkeys(line.partition(b",")[0].decode() for line in self._lines)
        yield from words_of
        yield from self._more - words_of.keys()

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _reader(name: str) -> Any:
    attribute, file, codec = _ENTRIES[name]
    reader = getattr(_module(f"core.{name}"), name)()
    if not hasattr(reader, attribute):  # there is one reader in a process, which may have read all of them
        load = getattr(_module(f"codecs.{codec}"), codec).load
        setattr(reader, attribute, Entries(Path(getattr(reader, file)), load))
    return reader


def _module(name: str) -> Any:
    module = f"{_LIBRARY}.{name}"
    spec = find_spec(_LIBRARY)
    if _LIBRARY in sys.modules or spec is None:
        return import_module(module)
    sys.modules[_LIBRARY] = module_from_spec(spec)
    try:
        return import_module(module)
    finally:
        del sys.modules[_LIBRARY]  # a later import of the library runs its own code, and finds these modules


# Plurals and singulars of nouns, looked up: a noun that neither a table nor a dictionary has is left alone.
# The ontology's tables (``ontology/objects.tsv`` and ``attributes.tsv``) answer first, then the dictionary of
# ``lemminflect``, which comes from the SPECIALIST Lexicon of the National Library of Medicine. The library's rules for
# words outside its dictionary are not used: a rule makes "cooky" of "cookies" and "bu" of "bus".
# 97 % of the 23,298 words behind "a" or a number in the captions of COCO val2017 have an answer. ``inflect`` is wrong
# about 17 plurals and 9 singulars of the ontology, and takes 1.5 s to import.

_TABLES = Path(__file__).parents[1] / "ontology"

# One aircraft, two aircraft (Quirk et al. 1985, 5.87). The table gives them no other form, except "fishes", which are
# several kinds of fish; captions count "three fish".
_UNCHANGED = frozenset({"aircraft", "bison", "deer", "fish", "moose", "salmon", "sheep", "shrimp", "tuna"})
# Garments and tools of two halves without a singular (Quirk et al. 1985, 5.76), for which the dictionary has one.
_PLURAL_ONLY = frozenset("bellows briefs capris corduroys culottes cutoffs cut-offs flannels spectacles".split())
# Nouns without a plural (Quirk et al. 1985, 5.9), for which the dictionary has one.
_UNCOUNTABLE = words("no plural")
_ABBREVIATION = re.compile(r"(?P<one>[A-Z]+[A-RTUVWY])(?P<s>s?)")  # TV, TVs; not GPS
# "A slice of pizza" is a slice: the last word of such a phrase is not the one that changes.
_JOINED = re.compile(r" (?:and|at|by|for|from|in|of|on|or|to|with) ")


@lru_cache(maxsize=65_536)
def plural(noun: str) -> str | None:
    """Return the plural of a singular noun or noun phrase, or None if it has none or is not known.

    >>> [plural(noun) for noun in ("cup", "wooden box", "body of water", "fish", "woman")]
    ['cups', 'wooden boxes', 'bodies of water', 'fish', 'women']
    >>> plural("furniture"), plural("pants"), plural("gribbleflax")
    (None, None, None)
    """
    match = _ABBREVIATION.fullmatch(noun)
    if match:
        return None if match["s"] else f"{noun}s"
    return _of_phrase(noun, _plural)


@lru_cache(maxsize=65_536)
def singular(noun: str) -> str | None:
    """Return the singular of a plural noun or noun phrase, or None if it has none, is not a plural, or is not known.

    >>> [singular(noun) for noun in ("cups", "cookies", "wooden boxes", "fish")]
    ['cup', 'cookie', 'wooden box', 'fish']
    >>> singular("glass"), singular("scissors"), singular("gribbleflaxes")
    (None, None, None)
    """
    match = _ABBREVIATION.fullmatch(noun)
    if match:
        return match["one"] if match["s"] else None
    return _of_phrase(noun, _singular)


def may_be_plural(word: str) -> bool:
    """Return whether a word is a known plural or ends like one; "bus" does, too.

    >>> [may_be_plural(word) for word in ("women", "gizmos", "scissors", "glass", "cup")]
    [True, True, True, False, False]
    """
    return regular_singular(word) is not None or singular(word) is not None


@cache
def either_number(noun: str) -> frozenset[str]:
    """Return a noun with the plural that the table has and the one that spelling suggests, to look names up by.

    One of them may not be English ("scissorses"), so that no text is made of them. The dictionary is not asked: this
    is part of reading the ontology, which should not take 0.3 s longer.

    >>> sorted(either_number("calf")), sorted(either_number("sky"))
    (['calf', 'calfs', 'calves'], ['skies', 'sky'])
    """
    number, other = _table().get(noun, ("", ""))
    return frozenset((noun, regular_plural(noun), *((other,) if other and number == "singular" else ())))


def regular_plural(noun: str) -> str:
    """Return the plural of a singular noun by the rules of spelling alone.

    >>> [regular_plural(noun) for noun in ("axolotl", "box", "berry", "woman")]
    ['axolotls', 'boxes', 'berries', 'womans']
    """
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def regular_singular(noun: str) -> str | None:
    """Return the singular of a plural noun by the rules of spelling alone, or None if it does not end like a plural.

    >>> [regular_singular(noun) for noun in ("axolotls", "boxes", "berries", "cookies", "glass")]
    ['axolotl', 'box', 'berry', 'cooky', None]
    """
    if re.search(r"[^aeiou]ies$", noun):
        return noun[:-3] + "y"
    if re.search(r"(?:ss|x|ch|sh)es$", noun):
        return noun[:-2]
    return noun[:-1] if re.search(r"[^s]s$", noun) else None


@cache
def _of_phrase(noun: str, inflect: Callable[[str], str | None]) -> str | None:
    lower = noun.lower()
    first, blank, head = ("", "", lower) if lower in _table() else lower.rpartition(" ")
    if blank and _JOINED.search(lower):
        return None
    inflected = inflect(head)
    if inflected is None or noun[1:] != lower[1:]:  # capitals inside a word have rules of their own
        return None
    return capitalised_like(noun, f"{first}{blank}{inflected}")


def _plural(noun: str) -> str | None:
    if noun in _UNCHANGED:
        return noun
    if noun in _table():
        number, other = _table()[noun]
        return other or None if number == "singular" else None
    if noun in _UNCOUNTABLE:
        return None
    plurals = forms(noun, "NOUN").get("NNS", ())
    # If the noun is its own first plural it may be "sheep" or "furniture": the dictionary does not say which.
    return plurals[0] if plurals and plurals[0] != noun and noun in lemmas(noun, "NOUN") else None


def _singular(noun: str) -> str | None:
    if noun in _UNCHANGED:
        return noun
    if noun in _table():
        number, other = _table()[noun]
        return other or None if number == "plural" else None
    words_of = lemmas(noun, "NOUN")
    # "Scissors" is its own lemma, and so is "glass"; "bases" has two.
    if len(words_of) != 1 or noun in words_of or noun in _PLURAL_ONLY:
        return None
    return words_of[0] if noun in forms(words_of[0], "NOUN").get("NNS", ()) else None


@cache
def _table() -> Mapping[str, tuple[str, str]]:
    # The ontology's words: (number, other form) by name, both "" for an attribute that is not a noun, such as "red".
    # They are read here because the package ``ontology`` needs this module, and in 5 ms, since nothing is checked.
    attributes = {name: ("", "") for (name,) in _cells("attributes.tsv", "name")}
    nouns = {name: (number, other) for name, number, other in _cells("objects.tsv", "name", "number", "other_number")}
    return MappingProxyType(attributes | nouns)


def _cells(file: str, *columns: str) -> Iterator[tuple[str, ...]]:
    lines = (_TABLES / file).read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines if line and line[0] != "#")
    at = [header.index(column) for column in columns]
    return (tuple(row[n] for n in at) for row in rows)
