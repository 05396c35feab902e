"""BLA: two true and two false sentences about an image, with active and passive voice, coordination, relative clauses.

Chen, Fernandez, Pezzelle 2023, "The BLA Benchmark: Investigating Basic Language Abilities of Pre-Trained Multimodal
Models"; and Chen's master's thesis of 2022, which has the metrics (section 5.3) and analyses (chapter 7). The files are
read as the authors release them (https://github.com/shin-ee-chen/BLA, ``annotations/``), in both of their forms.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import Find, TaskRow, case_of, of_files, texts_about
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json
from vlgate.types import Case

# The release's file of each task (section 4.1).
FILES: Mapping[str, str] = {
    "bla/active-passive": "active_passive_captions.json",
    "bla/coordination": "coordination_captions.json",
    "bla/relative-clause": "relative_clause_captions.json",
}
# In active-passive they are the true active, true passive, false active and false passive.
SENTENCES = ("True1", "True2", "False1", "False2")

# The shapes name the preferences as the thesis does (Tables 7.1 and 7.4).
_ROWS = [
    TaskRow(
        id=task,
        shape="active_passive_set" if task == "bla/active-passive" else "set",
        capability="compositional",
        places=(f"bla/annotations/{name}", f"bla/{name}"),
        images="bla",
    )
    for task, name in FILES.items()
]


def _cases(_: TaskRow, file: Path, find: Find) -> Iterator[Case]:
    sets: Counter[str] = Counter()

    def case(named: tuple[str, Record]) -> Case:
        name, record = named
        sets[name] += 1  # counts for the ids of later ones even if it cannot be read
        requests = texts_about(find(record, name), map(record.text, SENTENCES))
        tags = {"verb": record.text("predicate")} if "predicate" in record.fields else {}  # section 7.1.3
        numbered = name if sets[name] == 1 else f"{name}-{sets[name]}"
        return case_of(record, requests, (True, True, False, False), name=numbered, tags=tags)

    yield from each(case, _sets(file))


def _sets(file: Path) -> Iterator[tuple[str, Record]]:
    def named(member: tuple[str, Any]) -> tuple[str, Record]:  # {image id: the four sentences}
        image, sentences = member
        if type(sentences) is not list or len(sentences) != len(SENTENCES):
            raise DataError(file, image, "expected a list of four sentences, two true and two false", FETCH_AGAIN)
        return image, Record(file, image, dict(zip(SENTENCES, sentences, strict=True)))

    content = read_json(file)
    if type(content) is dict:
        yield from each(named, content.items())
    elif type(content) is list:  # [{"image_id": ..., "caption_group": [{"True1": ..., ...}]}]
        for sets in each(lambda numbered: _grouped(file, *numbered), enumerate(content)):
            yield from sets
    else:
        raise DataError(file, None, "expected a list of records or an object {image id: sentences}", FETCH_AGAIN)


def _grouped(file: Path, number: int, fields: Any) -> list[tuple[str, Record]]:
    position = str(number)
    if type(fields) is not dict:
        raise DataError(file, position, "expected an object with 'image_id' and 'caption_group'", FETCH_AGAIN)
    record = Record(file, position, fields)
    # The release writes the ids of active-passive as strings, the others as integers.
    image = str(record.count("image_id")) if type(fields.get("image_id")) is int else record.text("image_id")
    groups = fields.get("caption_group")
    if type(groups) is not list or not groups or any(type(group) is not dict for group in groups):
        record.reject("caption_group", "a list of objects")
    return [(image, Record(file, position, group)) for group in groups]


BLA = of_files(_ROWS, _cases, take="annotations/*_captions.json of https://github.com/shin-ee-chen/BLA")
