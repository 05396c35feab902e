"""CARETS: pairs of questions whose answers should stay the same (invariance) or change (directional expectation).

Jimenez, Russakovsky, Narasimhan 2022, "CARETS: A Consistency And Robustness Evaluative Test Suite for VQA". The files
are read as the authors release them (https://github.com/princeton-nlp/CARETS, ``data/questions/``).
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import Find, ReadOptions, Source, TaskRow, case_of, only_file
from vlgate.types import Ask, Capability, Case, Task

# The protocol that groups the files as the release's ``configs/default.yml`` does, and the variant of
# ``metrics.variants`` with the figures of the released code, which groups them in this way.
DEFAULT_YML, RELEASE = "carets_default_yml", "carets_release"

# The reasons in ``Task.left_out`` for leaving out a question; no released file that was read has such a question.
NO_PARTNER = "an original question without its perturbed one"
NO_ORIGINAL = "a perturbed question without its original"
NO_CHOICE = "a pair with an answer that is none of the question's choices"

YES_NO = ("yes", "no")

# An original is IMG-A-B; the id of its perturbed partner ends with a letter that names the perturbation.
_ID = re.compile(r"(?P<pair>[^-]+-[0-9]+-[0-9]+)(?:-(?P<letter>[a-z]+))?")
_CONJUNCTION = "object_verification_conjunction"
_DISJUNCTION = "object_verification_disjunction"
_SHORT = {_CONJUNCTION: "conjunction", _DISJUNCTION: "disjunction"}
# If the answer is yes, the question's object was replaced by its hypernym, otherwise by a hyponym (section 4.2 b).
_DIRECTIONS = {"yes": "hypernym", "no": "hyponym"}


@dataclass(frozen=True, slots=True)
class Instrument:
    capability: Capability
    letter: str  # the end of the ids of its perturbed questions
    ending: str  # of the names of its files
    types: str = ""  # of question, which begin the names of its files, in the order of ``default.yml``
    added: str = ""  # those that the release's ``default.yml`` has and the paper's test does not have

    def files(self, *, default_yml: bool) -> dict[str, str]:
        types = f"{self.types} {self.added if default_yml else ''}".split()
        return {f"{kind}_{self.ending}_test.json": kind for kind in types}


_CHOICES = "action_choice_rel action_choice attribute_choice_rel"
# The six tasks (section 3, Table 6) and their 27 files. The data of VISUAL-INV were not released, and neither was
# ``attribute_choice_template_test.json`` of REPHRASE-INV.
TASKS: Mapping[str, Instrument] = {
    "carets/rephrase-inv": Instrument(
        "invariance",
        "t",
        "template",
        f"{_CONJUNCTION} {_DISJUNCTION} object_verification {_CHOICES} object_choice_by_attr object_choice_rel "
        "object_verification_rel",
    ),
    "carets/ontological-inv": Instrument(
        "invariance",
        "h",
        "ontology_ontology",
        "object_verification",
        "action_choice_rel attribute_choice_rel object_choice_rel",
    ),
    "carets/order-inv": Instrument(
        "invariance",
        "s",
        "symmetric",
        f"{_CONJUNCTION} {_DISJUNCTION} {_CHOICES} attribute_choice object_choice_by_attr object_choice_rel",
    ),
    "carets/visual-inv": Instrument("invariance", "", ""),
    "carets/negation-dir": Instrument(
        "directional", "n", "negation", f"{_CONJUNCTION} {_DISJUNCTION} object_verification object_verification_rel"
    ),
    "carets/antonym-dir": Instrument(
        "directional", "a", "antonym", "attribute_verification_rel attribute_verification"
    ),
}

# ONTOLOGICAL-INV has verification questions only (section 4.2 b, Table 6); the protocols add the three files of choice
# questions that the release's ``default.yml`` lists for it. The id of a case is ``<file>/<IMG-A-B>``, because the
# release uses the same ids in several files. The slices are those that the paper reports (Tables 2 to 4 and 18); the
# type of question is taken from the file's name, because the field ``question_type`` is wrong in two files.


def _read(options: ReadOptions) -> Iterator[Task]:
    default_yml = not options.protocols.isdisjoint({DEFAULT_YML, RELEASE})
    for task, instrument in TASKS.items():
        kinds = instrument.files(default_yml=default_yml) if options.wanted(task) else {}
        places = ("carets/data/questions", "carets/questions")
        files = {name: only_file(options.folders, *(f"{place}/{name}" for place in places)) for name in kinds}
        left_out: Counter[str] = Counter()
        find = options.find("gqa")
        cases = [_cases(file, kinds[name], instrument, find, left_out) for name, file in files.items() if file]
        if not cases:
            continue
        lacking = [name for name, file in files.items() if file is None]
        note = f"{len(cases)} of its {len(kinds)} files are there; {lacking[0]} is not" if lacking else ""
        row = TaskRow(id=task, shape="questions", capability=instrument.capability)
        made = row.task(chain.from_iterable(cases), note=note)
        yield replace(made, left_out=dict(sorted((+left_out).items())))  # known once the cases are made


def _cases(file: Path, kind: str, instrument: Instrument, find: Find, left_out: Counter[str]) -> Iterator[Case]:
    binary = "verification" in kind
    shared: dict[tuple[int, str], Mapping[str, str]] = {}
    originals, perturbed = _halves(file, instrument.letter)
    left_out[NO_PARTNER] += len(originals.keys() - perturbed.keys())
    left_out[NO_ORIGINAL] += len(perturbed.keys() - originals.keys())

    def ask(record: Record) -> Ask:
        image = find(record, record.text("img_id"))
        choices = YES_NO if binary else _choices(record.nested("assignment"), kind)
        return Ask(image=image, question=record.text("sent"), choices=choices)

    def case(pair: str) -> Case | None:
        halves = originals[pair], perturbed[pair]
        requests = ask(halves[0]), ask(halves[1])
        truths = _answer(halves[0]), _answer(halves[1])
        if any(truth not in request.choices for truth, request in zip(truths, requests, strict=True)):
            return None
        key = len(requests[0].choices), truths[0] if binary else ""
        if key not in shared:
            tags = {"question_type": _SHORT.get(kind, kind)}
            tags |= {"form": "binary", "answer": truths[0]} if binary else {"form": "multi-choice"}
            if not binary:
                tags["choices"] = str(key[0])
            elif instrument.letter == "h":
                tags["direction"] = _DIRECTIONS[truths[0]]
            shared[key] = tags
        name = f"{file.stem.removesuffix('_test')}/{halves[0].id}"
        return case_of(halves[0], requests, truths, name=name, tags=shared[key])

    for made in each(case, filter(perturbed.__contains__, originals)):
        if made is None:
            left_out[NO_CHOICE] += 1
        else:
            yield made


def _halves(file: Path, letter: str) -> tuple[dict[str, Record], dict[str, Record]]:
    originals: dict[str, Record] = {}
    perturbed: dict[str, Record] = {}

    def add(listed: Record) -> None:
        name = listed.text("question_id")
        match = _ID.fullmatch(name)
        if match is None or match["letter"] not in {None, letter}:
            listed.reject("question_id", f"IMG-A-B or IMG-A-B-{letter}")
        half = perturbed if match["letter"] else originals
        if match["pair"] in half:
            raise listed.error(f"question_id {name!r} is repeated in the file")
        half[match["pair"]] = Record(listed.file, name, listed.fields)

    deque(each(add, listed_records(file)), maxlen=0)
    return originals, perturbed


def _answer(record: Record) -> str:
    label = record.nested("label")
    if len(label.fields) != 1:
        record.reject("label", "an object with the one right answer")
    return Record(record.file, record.id, {"label": next(iter(label.fields))}).text("label")


def _choices(assignment: Record, kind: str) -> tuple[str, ...]:
    """The choices of a question; the release lists objects in another field than attributes and actions."""
    fields = ("category-options1", "obj-category-options1")[:: -1 if kind.startswith("object") else 1]
    field = next((field for field in fields if field in assignment.fields), fields[0])
    listed = assignment.fields.get(field)
    if type(listed) is not list or len(listed) < 2 or {str} != {*map(type, listed)}:
        assignment.reject(field, "a list of at least two strings")
    return tuple(listed)


CARETS = Source(
    read=_read,
    shapes=dict.fromkeys(TASKS, "questions"),
    take="data/questions/*_test.json of https://github.com/princeton-nlp/CARETS",
)
