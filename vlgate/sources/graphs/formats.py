"""The formats of scene graphs: GQA's, Visual Genome's in one file or several, and a user's own with its words.

GQA's (Hudson and Manning 2019, section 3.1) is one object ``{image id: graph}``, whose graphs have ``objects`` by id,
each with ``name``, ``x``, ``y``, ``w``, ``h``, ``attributes`` and ``relations``. Graphs of every other format are
converted to this form before they are checked. A user's own are JSON lines with a graph each, or JSON with a list of
graphs and words that the vocabulary lacks, here with all fields::

    {"graphs": [
       {"image": "photos/1.jpg", "width": 640, "height": 480, "location": "kitchen", "complete": false,
        "objects": [
          {"id": "1", "name": "cup", "box": [30, 200.5, 80, 90], "attributes": ["red", "small"],
           "relations": [{"name": "on", "object": "2"}, {"name": "to the left of", "object": "3"}]},
          {"id": "2", "name": "table", "box": [0, 280, 640, 200]},
          {"id": "3", "name": "robot arm", "box": [300, 20, 200, 260], "attributes": ["moving"]}]}],
     "words": {
       "nouns": [{"name": "robot arm", "number": "singular", "parents": ["device"]}],
       "attributes": [{"name": "moving", "category": "activity", "before": true, "after": "moving", "rank": 5}],
       "relations": [{"name": "welded to", "text": "welded to", "that": true}]}}

``image`` is the image's path in the data folder, and the graph's id; ``box`` is [x, y, width, height] in pixels.
``complete`` says that the graph has everything that the image shows, as that of a drawn scene. Objects need ``id``,
``name`` and ``box``.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from vlgate.errors import DataError, instead_of, nearest
from vlgate.sources.graphs.checks import Faults, shown
from vlgate.sources.graphs.stream import OWN_KEYS, Member, members

Words = Mapping[str, tuple[Mapping[str, Any], ...]]
Plain = tuple[object, dict[str, Any]]  # the name of a graph's image, and the graph in GQA's form

_TEXT, _TRUTH, _WHOLE, _TEXTS = "a string", "true or false", "an integer", "a list of strings"
_TYPES = {_TEXT: str, _TRUTH: bool, _WHOLE: int}
# The kinds of words and the fields of each: (type, default). The default None means that the field is required.
WORDS: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "nouns": {"name": (_TEXT, None), "number": (_TEXT, "singular"), "parents": (_TEXTS, ())},
    "attributes": {
        "name": (_TEXT, None),
        "category": (_TEXT, ""),
        "before": (_TRUTH, True),
        "after": (_TEXT, ""),
        "rank": (_WHOLE, 4),
    },
    "relations": {
        "name": (_TEXT, None),
        "text": (_TEXT, None),
        "that": (_TRUTH, True),
        "inverse": (_TEXT, ""),
        "asymmetric": (_TRUTH, False),
    },
}
NUMBERS = ("singular", "plural", "mass")


# Checks the words that a user's own file adds to the vocabulary, and fills in the fields that are left out.
def words(member: Member, faults: Faults) -> Words:
    faults.refuse_unknown({member.key: None}, ("graphs", "words"), "(the whole file)")
    if member.key == "graphs":
        faults.found("'graphs'", "graphs that are not a list", shown(member.value))
    if member.key != "words":
        return {}
    if faults.typed(member.value, dict, "'words'", "words that are not an object") is None:
        return {}
    for key in member.repeated:
        faults.found("'words'", "a repeated key in one object", repr(key))
    faults.refuse_unknown(member.value, tuple(WORDS), "'words'")
    known: dict[str, dict[str, Mapping[str, Any]]] = {kind: {} for kind in WORDS}
    for kind, named in known.items():
        entries = faults.typed(member.value.get(kind, []), list, f"'words', {kind}", "words that are not a list")
        for position, entry in enumerate(entries or (), 1):
            where = f"'words', {kind}, {position}"
            word = _word(entry, kind, where, faults)
            if word is not None and named.setdefault(word["name"], word) is not word:
                faults.found(where, "a word that was given before", repr(word["name"]))
    return {kind: tuple(named.values()) for kind, named in known.items()}


def _word(entry: Any, kind: str, where: str, faults: Faults) -> Mapping[str, Any] | None:
    fields = WORDS[kind]
    if faults.typed(entry, dict, where, "a word that is not an object") is None:
        return None
    faults.refuse_unknown(entry, tuple(fields), where)
    word = {}
    for name, (wanted, otherwise) in fields.items():
        value = entry.get(name, otherwise)
        listed = isinstance(value, (list, tuple)) and all(type(text) is str and text.strip() for text in value)
        fits = listed if wanted == _TEXTS else type(value) is _TYPES[wanted]
        if not fits or (name == "name" and not value.strip()):
            known = f", {instead_of(name, entry)}" if name not in entry else ""
            faults.found(where, f"no {name} that is {wanted}", f"{shown(entry.get(name))}{known}")
            return None
        word[name] = tuple(value) if wanted == _TEXTS else value
    if word.get("number", "mass") not in NUMBERS:
        faults.found(where, f"a number that is none of {', '.join(NUMBERS)}", shown(word["number"]))
        return None
    return word


# Visual Genome's scene graphs: one file of graphs, or the release's files of objects, attributes and relationships.
#
# Krishna et al. 2017, "Visual Genome: Connecting Language and Vision Using Crowdsourced Dense Image Annotations",
# section 3 (https://homes.cs.washington.edu/~ranjay/visualgenome/api_readme.html). ``scene_graphs.json`` is a list of
# graphs, ``{"image_id", "objects": [{"object_id", "names", "x", "y", "w", "h", "attributes"}], "relationships":
# [{"predicate", "subject_id", "object_id"}]}``, without the images' sizes.
#
# An object's name is the first of its ``names``. An id in an object's ``merged_object_ids`` stands for that object.

_COPIED = ("x", "y", "w", "h", "attributes")


def id_of(fields: Any, *names: str) -> str | None:
    """Return an id, which releases write as an integer, as a string; None if no field with these names has one."""
    value = next((fields[name] for name in names if name in fields), None) if type(fields) is dict else None
    return value if type(value) is str and value else str(value) if type(value) is int else None


def image_of(fields: Any) -> str | None:
    return id_of(fields, "image_id", "id")


def visual_genome(member: Member, faults: Faults) -> Plain | None:
    fields = member.value
    name = image_of(fields)
    where = f"graph {shown(name)}, in place {member.key}"
    if faults.typed(fields, dict, where, "a record that is not an object") is None:
        return None
    if faults.typed(fields.get("objects"), list, where, "objects that are not a list") is None:
        return None
    objects: dict[str, dict[str, Any]] = {}
    merged: dict[str, str] = {}
    for number, thing in _by_id(fields["objects"], ("object_id", "id"), where, faults).items():
        names = thing.get("names", thing.get("name"))
        first = (names[0] if names else "") if type(names) is list else names
        copied = {field: thing[field] for field in _COPIED if field in thing}
        objects[number] = {"name": first, "relations": [], **copied}
        others = thing.get("merged_object_ids")
        merged |= {str(other): number for other in (others if type(others) is list else ())}
    given = faults.typed(fields.get("relationships", []), list, where, "relationships that are not a list")
    for relation in given or ():
        _relate(relation, objects, merged, where, faults)
    return name, {"width": fields.get("width"), "height": fields.get("height"), "objects": objects}


def _by_id(things: list[Any], names: tuple[str, ...], where: str, faults: Faults) -> dict[str, dict[str, Any]]:
    objects: dict[str, Any] = {}
    for position, thing in enumerate(things, 1):
        number = id_of(thing, *names)
        if number is None:
            faults.found(where, "an object without an id", f"object {position}: {shown(thing)}")
        elif number in objects:
            faults.found(where, "a repeated object id", f"object {position}: {number!r}")
        else:
            objects[number] = thing
    return objects


def _relate(relation: Any, objects: dict[str, Any], merged: Mapping[str, str], where: str, faults: Faults) -> None:
    ends = []
    for end in ("subject", "object"):
        number = id_of(relation, f"{end}_id")
        if number is None and type(relation) is dict:
            number = id_of(relation.get(end), "object_id", "id")
        ends.append(number if number is None or number in objects else merged.get(number, number))
    subject, other = ends
    if subject is None or other is None:
        faults.found(where, "a relationship without two objects' ids", shown(relation))
    elif subject not in objects:
        reason = "a relation of an object that the graph lacks"
        faults.found(where, reason, f"{shown(relation.get('predicate'))} of {subject!r}")
    else:
        objects[subject]["relations"].append({"name": relation.get("predicate"), "object": other})


# Visual Genome's release in several files: ``objects.json`` is the file to read; ``attributes.json`` and
# ``relationships.json`` must be in the same folder, and ``image_data.json`` is read for the sizes of the images if it
# is there. Each is a list with one record per image, and all have the same order, so they are read in parallel, one
# record at a time. For every record it is checked that the ids agree.

NEEDED = ("attributes.json", "relationships.json")
SIZES = "image_data.json"


def joined(objects: Iterable[Member], faults: Faults) -> Iterator[Member]:
    folder = faults.file.parent
    for name in NEEDED:
        if not (folder / name).is_file():
            problem = f"has objects without relationships, and there is no {name} beside it"
            raise DataError(faults.file, None, problem, f"put the release's {name} into {folder}")
    with ExitStack() as stack:
        names = (*NEEDED, *([SIZES] if (folder / SIZES).is_file() else []))
        beside = {name: stack.enter_context(closing(members(folder / name))) for name in names}
        for member in objects:
            found = {name: _same(folder / name, member, next(others, None)) for name, others in beside.items()}
            size = found[SIZES].value if SIZES in found else {}
            where = f"graph {image_of(member.value)!r}"
            graph = {
                **member.value,
                "objects": _described(member.value.get("objects"), found["attributes.json"].value, where, faults),
                "relationships": found["relationships.json"].value.get("relationships"),
                "width": size.get("width"),
                "height": size.get("height"),
            }
            repeated = (*member.repeated, *(key for other in found.values() for key in other.repeated))
            yield Member(member.layout, member.key, graph, repeated)
        for name, others in beside.items():
            if (further := next(others, None)) is not None:
                raise _out_of_step(folder / name, further.key, image_of(further.value), None)


def _same(file: Path, member: Member, other: Member | None) -> Member:
    image = image_of(member.value)
    if other is None or image is None or image_of(other.value) != image:
        raise _out_of_step(file, member.key, image_of(other.value) if other else None, image)
    return other


def _out_of_step(file: Path, place: str, is_there: str | None, expected: str | None) -> DataError:
    problem = f"image {is_there!r} is in place {place}, but objects.json has image {expected!r} there"
    return DataError(file, None, problem, "take all files from the same release, so that their order agrees")


def _described(objects: Any, given: dict[str, Any], where: str, faults: Faults) -> Any:
    records = faults.typed(given.get("attributes"), list, where, "attributes that are not a list")
    attributes = {
        id_of(record, "object_id", "id"): more
        for record in records or ()
        if type(record) is dict and (more := record.get("attributes")) is not None
    }
    if type(objects) is not list:
        return objects
    described = []
    for thing in objects:
        known = attributes.pop(id_of(thing, "object_id", "id"), None)
        described.append({**thing, "attributes": known} if known is not None and type(thing) is dict else thing)
    for number in attributes:
        faults.found(where, "attributes of an object that objects.json lacks", shown(number))
    return described


def gqa(member: Member, faults: Faults) -> Plain | None:
    if type(member.value) is dict:
        return member.key, member.value
    hint = f"{shown(member.value)} (in a file of your own: {nearest(member.key, OWN_KEYS)})"
    faults.found(f"graph {shown(member.key)}", "a graph that is not an object", hint)
    return None


GRAPH = ("image", "width", "height", "location", "complete", "objects")
OBJECT = ("id", "name", "box", "attributes", "relations")
RELATION = ("name", "object")


def own(member: Member, faults: Faults) -> Plain | None:
    if member.layout == "beside":
        words(member, faults)
        return None
    fields = member.value
    image = fields.get("image") if type(fields) is dict else None
    where = f"graph {member.key} ({shown(image)})"
    if faults.typed(fields, dict, where, "a graph that is not an object") is None:
        return None
    faults.refuse_unknown(fields, GRAPH, where)
    if "image" not in fields:
        faults.found(where, "no image", instead_of("image", fields))
        return None
    if type(fields.get("objects")) is not list:
        known = f", {instead_of('objects', fields)}" if "objects" not in fields else ""
        faults.found(where, "no list of objects", f"{shown(fields.get('objects'))}{known}")
        return None
    things = _by_id(fields["objects"], ("id",), where, faults)
    objects = {key: _own_object(thing, f"{where}, object {key!r}", faults) for key, thing in things.items()}
    return image, {**fields, "objects": objects}


def _own_object(thing: dict[str, Any], where: str, faults: Faults) -> dict[str, Any]:
    faults.refuse_unknown(thing, OBJECT, where)
    relations = thing.get("relations", [])
    plain = {"name": thing.get("name"), "attributes": thing.get("attributes", []), "relations": relations}
    if "box" in thing:
        box = thing["box"]
        plain |= zip("xywh", box, strict=True) if type(box) is list and len(box) == 4 else {"box": box}
    if type(relations) is list:
        plain["relations"] = []
        for relation in relations:
            if type(relation) is dict:
                faults.refuse_unknown(relation, RELATION, where)
            named = {**relation, "object": id_of(relation, "object")} if type(relation) is dict else relation
            plain["relations"].append(named)
    return plain
