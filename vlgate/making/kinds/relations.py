"""Relations of captions as in VALSE: another preposition, by a table or by a masked language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.making.inputs.records import Caption
from vlgate.making.kinds.kind import Kind, Made, MakeSome, Work
from vlgate.making.kinds.selecting import selecting
from vlgate.making.releases.valse import valse
from vlgate.perturb.foils.pairing import paired
from vlgate.perturb.foils.prepositions import attested
from vlgate.perturb.foils.relation_foils import filled_relations, gaps, relations
from vlgate.perturb.foils.said import said_of
from vlgate.perturb.parsing.parsed import Parsed

_TOP = 20  # fillings of each length that are asked for


def _parsed(inputs: Sequence[Caption], work: Work) -> dict[str, Parsed]:
    """Parse the captions and the other captions of their images, each text once."""
    texts = list(dict.fromkeys(text for one in inputs for text in (one.text, *one.others)))
    return dict(zip(texts, work.tools.parser.parse(texts), strict=True))


def _relations(work: Work) -> MakeSome:
    """Fill the places of prepositions with a masked language model if there is one, else by the table of contrasts."""
    known = attested(work.tools.parser.parse([one.text for one in work.inputs]))

    def make_some(inputs: Sequence[Caption]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        parsed = _parsed(inputs, work)
        places = [gaps(parsed[one.text]) for one in inputs] if work.tools.has("mlm") else []
        every = [gap for some in places for gap in some]
        filled = iter(work.tools.mlm.fill(every, _TOP)) if every else iter(())
        for place, one in enumerate(inputs):
            said = said_of(parsed[text] for text in (one.text, *one.others))
            if work.tools.has("mlm"):
                fillings = [next(filled) for _ in places[place]]
                found = filled_relations(parsed[one.text], fillings, known, said)
            else:
                found = relations(parsed[one.text], known, said)
            yield Made(image=one.image, origin=one.origin, found=found)

    return make_some


RELATIONS = Kind(
    name="relations",
    sentence="another preposition: on the table, under the table (VALSE)",
    takes=("captions",),
    shape="pair",
    start=_relations,
    release=valse("relations.json", "relations"),
    needs=("parser",),
    uses=("mlm", "nli", "grammar", "lm"),
    select=selecting(paired),
    inference="contradiction",
)
