"""How-many questions written back from VALSE's statements, in several wordings, to hold the makers against the release."""

import re

from vlgate.perturb.inflection import plural, singular

STATEMENT = re.compile(r"There (?:is|are) (?:exactly \d+ |no |an? )?(?P<words>.+)\.")
PREPOSITIONS = (
    "in|on|at|near|under|of|with|behind|above|around|inside|to|from|by|next|outside|over|below|across|per|appear|wear|make|surround|show"
)
TAIL = re.compile(
    rf" (?P<tail>(?:{PREPOSITIONS}|[a-z]+ing|[a-z]{{3,}}ed|shown|seen|visible|present|set|here|open|left|clearly)(?: .*|$)|)$"
)


def parts(statement):
    """Split "There are no people in the picture." into ("people", "in the picture"), the noun in the plural."""
    found = STATEMENT.fullmatch(statement)
    if found is None:
        return None
    words = found["words"].split(" ")
    cut = next((n for n in range(1, len(words)) if TAIL.fullmatch(" " + words[n])), len(words))
    head, last = words[: cut - 1], words[cut - 1]
    if singular(last) is None and plural(last) is not None:
        last = plural(last)
    return " ".join([*head, last]), " ".join(words[cut:])


def questions(noun, tail):
    """Ask how many in every wording that fits the tail, by the name of the wording."""
    rest = f" {tail}" if tail else ""
    plain = not tail or re.match(rf"(?:{PREPOSITIONS})\b", tail)
    asked = {"bare": f"How many {noun}{rest}?", "visible in it": f"In this image, how many {noun} are there{rest}?"}
    if tail:
        asked["are"] = f"How many {noun} are {tail}?"
    if plain:
        asked |= {
            "are there": f"How many {noun} are there{rest}?",
            "can be seen": f"How many {noun} can be seen{rest}?",
            "do you see": f"How many {noun} do you see{rest}?",
            "can you see": f"how many {noun} can you see{rest}",
            "total": f"How many total {noun} are there{rest}?",
        }
    del asked["visible in it"]
    return asked
