"""Captions that are true or false of one image: SugarCrepe, SugarCrepe++, FOIL it!, ARO, VSR, What'sUp."""

import tomllib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.images.files import region_of
from vlgate.sources.reading import source
from vlgate.sources.reading.image_finder import coco_id, is_plain, stem
from vlgate.sources.reading.records import Record, each, keyed_records, lined_records, listed_records
from vlgate.sources.reading.tables import Row, class_names, other_form, refuse_both, table_files, table_rows
from vlgate.sources.reading.text_files import FETCH_AGAIN, matching, read_json
from vlgate.types import Case, Task

# SugarCrepe (Hsieh et al. 2023, https://github.com/RAIVNLab/sugar-crepe): captions and fluent, plausible negatives that
# add, replace or swap an object, attribute or relation. A case's id is the item's key, or the number of its row.

_HUB = "HuggingFaceM4/SugarCrepe_<kind>"
_COLUMNS = f"take the Parquet files of {_HUB}, or <kind>.json of https://github.com/RAIVNLab/sugar-crepe"
FIRST = "the file does not name the classes of true_label: the first of tested_labels is the caption, as in the release"
_SUGARCREPE = source.task_rows(
    "sugarcrepe/{}",
    "add_att add_obj replace_att replace_obj replace_rel swap_att swap_obj".split(),
    "sugarcrepe/data/{}.json sugarcrepe/{}.json",
    shape="pair",
    capability="foil",
)


def _sugarcrepe(options: source.ReadOptions) -> Iterator[Task]:
    for kind, row in _SUGARCREPE.items():
        if not options.wanted(row.id):
            continue
        tops = [folder / "sugarcrepe" for folder in options.folders]
        named = [path for top in tops for path in matching(top / f"*{kind}") if path.is_dir()]
        named += [folder / f"SugarCrepe_{kind}" for folder in options.folders]
        flat = table_files([top / part for top in tops for part in ("", "data")], (f"*{kind}*.parquet",))
        inside = table_files([path / part for path in named for part in ("", "data")], ("*.parquet",))
        refuse_both(flat[0] if flat else None, inside)
        file, tables = row.file(options), flat or inside
        refuse_both(file, tables)
        if file is not None:
            yield row.task(each(partial(_sugarcrepe_case, find=options.find("coco")), keyed_records(file)))
        elif tables:
            yield _sugarcrepe_table(kind, tables)


def _sugarcrepe_case(record: Record, find: source.Find) -> Case:
    return source.pair_of(record, find(record, record.text("filename")), ("caption", "negative_caption"))


def _sugarcrepe_table(kind: str, tables: Sequence[Path]) -> Task:
    rows = list(table_rows(tables, ("image",), _COLUMNS))
    names = {table: class_names(table, "true_label") for table in tables}
    bare = [row.record.fields.get("true_label") for row in rows if not names[row.record.file]]
    numbers = [label for label in bare if type(label) is int]
    positions = bool(numbers) and max(numbers) < 2  # in tested_labels: as classes, each caption has a number of its own

    def case(row: Row) -> Case:
        texts = row.record.texts("tested_labels", 2)
        caption = row.record.fields.get("true_label")
        if type(caption) is not str:
            known = names[row.record.file] or (texts if positions else ())
            index = row.record.count("true_label")
            caption = texts[0] if not known else known[index] if index < len(known) else ""
        if caption not in texts:
            row.record.reject("true_label", "one of tested_labels")
        name = row.paths.get("image", "").rpartition("/")[2]
        image = row.image(name if type(coco_id(name)) is int else f"sugarcrepe_{kind}_{row.number}", "image")
        both = caption, texts[1 - texts.index(caption)]
        return source.case_of(row.record, source.texts_about(image, both), (True, False), name=str(row.number))

    return _SUGARCREPE[kind].task(each(case, rows), note=FIRST if numbers and not positions else "")


SUGARCREPE = source.Source(
    read=_sugarcrepe,
    shapes=source.shapes_of(_SUGARCREPE.values()),
    take="data/<kind>.json of https://github.com/RAIVNLab/sugar-crepe, or the Parquet files of "
    "HuggingFaceM4/SugarCrepe_<kind> in a folder with the kind in its name, such as "
    "sugarcrepe/SugarCrepe_swap_obj/data",
)

# SugarCrepe++ (Dumpala et al. 2024, https://github.com/Sri-Harsha/scpp): two true captions in other words, and one
# false caption whose words are near to both. Two negative captions of swap_obj equal the caption and are never right.


def _two_true(record: Record, find: source.Find) -> Case:
    texts = map(record.text, ("caption", "caption2", "negative_caption"))
    return source.case_of(record, source.texts_about(find(record, record.text("filename")), texts), (True, True, False))


SUGARCREPE_PP = source.of_files(
    source.task_rows(
        "sugarcrepe-pp/{}",
        "replace_att replace_obj replace_rel swap_att swap_obj".split(),
        "sugarcrepe-pp/data/{}.json sugarcrepe-pp/{}.json scpp/data/{}.json SugarCrepe_pp/data/{}.json "
        "sugarcrepe-pp/SugarCrepe_pp/data/{}.json",
        shape="two_true",
        capability="foil",
        images="coco",
    ).values(),
    lambda _, file, find: each(partial(_two_true, find=find), listed_records(file)),
    take="data/<kind>.json of https://github.com/Sri-Harsha/scpp or of Aman-J/SugarCrepe_pp",
)

# FOIL it! (Shekhar et al. 2017, https://foilunitn.github.io): captions of COCO, each with a copy in which one noun is
# replaced, in COCO's own format. A foil is an annotation with ``foil`` true; its true caption is the annotation with
# ``foil`` false that has the same ``id``. The case's id is the ``foil_id``; the second with that id gets ``-2``.

_FOIL_IT = source.task_rows(
    "foil-it/{}",
    ("test", "train"),
    "foil-it/foilv1.0_{}_2017.json foil-it/annotations/foilv1.0_{}_2017.json",
    shape="pair",
    capability="foil",
    images="coco",
).values()


def _foil_it(_: source.TaskRow, file: Path, find: source.Find) -> Iterator[Case]:
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "expected an object with 'images' and 'annotations'", FETCH_AGAIN)
    whole = Record(file, "(the whole file)", content)
    names = dict(each(lambda record: (record.count("id"), record.text("file_name")), _entries(whole, "images")))
    foils: list[Record] = []
    true: list[Record] = []
    captions: dict[int, tuple[int, str]] = {}  # the image and the text, by COCO's id of the caption
    numbers: Counter[str] = Counter()
    shared: dict[str, Mapping[str, str]] = {}  # 67 words in 1,000 foils

    def sort(record: Record) -> None:
        foil = record.fields.get("foil")
        if type(foil) is not bool:
            record.reject("foil", "true or false")
        (foils if foil else true).append(record)

    def add(record: Record) -> None:
        caption = record.count("image_id"), record.text("caption")
        if captions.setdefault(record.count("id"), caption) != caption:
            raise record.error(f"id {record.count('id')} is the 'id' of another true caption, too")

    def case(record: Record) -> Case:
        number, word = str(record.count("foil_id")), record.text("target_word")
        numbers[number] += 1
        image_id, caption_id = record.count("image_id"), record.count("id")
        if image_id not in names:
            raise record.error(f"image_id {image_id} is not listed in 'images'")
        image = find(record, names[image_id])
        about, caption = captions.get(caption_id, (None, ""))
        if about != image_id:
            raise record.error(f"no true caption of image {image_id} has the foil's id {caption_id}")
        requests = source.texts_about(image, (caption, record.text("caption")))
        name = number if numbers[number] == 1 else f"{number}-{numbers[number]}"
        tags = shared.setdefault(word, {"target_word": word})
        return source.case_of(record, requests, (True, False), name=name, tags=tags)

    deque(each(sort, _entries(whole, "annotations")), maxlen=0)
    deque(each(add, true), maxlen=0)
    yield from each(case, foils)


def _entries(whole: Record, field: str) -> Iterator[Record]:
    values = whole.fields.get(field)
    if type(values) is not list:
        whole.reject(field, "a list")

    def record(numbered: tuple[int, Any]) -> Record:
        position, fields = numbered
        if type(fields) is not dict:
            raise DataError(whole.file, f"{field}[{position}]", "expected an object", FETCH_AGAIN)
        return Record(whole.file, f"{field}[{position}]", fields)

    yield from each(record, enumerate(values))


FOIL_IT = source.of_files(
    _FOIL_IT, _foil_it, take="foilv1.0_test_2017.json or foilv1.0_train_2017.json of https://foilunitn.github.io"
)

# ARO (Yuksekgonul et al. 2023, https://github.com/mertyg/vision-language-models-are-bows): who does what to whom, and
# which thing has which attribute, in regions of Visual Genome. The published figure is ``macro``: the mean over
# relations, without those that the authors' notebook leaves out as symmetric, or over pairs of attributes with at least
# 25 cases; ``macro_all`` is the mean over all. The orders of COCO and Flickr30k are shuffles that were never released.

_LEAST = 25
_ARO = source.task_rows(
    "aro/{}",
    {"relation": "visual_genome_relation.json", "attribution": "visual_genome_attribution.json"},
    "aro/{} aro/data/{}",
    shape="pair",
    capability="compositional",
    images="aro",
).values()


def _aro(options: source.ReadOptions) -> Iterator[Task]:
    for row in _ARO:
        file = row.file(options)
        if file is not None:
            yield row.task(_aro_cases(row.id, file, options.find("aro")))
        elif options.wanted(row.id) and (mirror := other_form(options, "aro/*.parquet", "aro/data/*.parquet")):
            name = row.places[0].removeprefix("aro/")
            yield row.task((), note=f"{mirror} is a copy without regions and classes; take {name} of the authors")


@cache
def symmetric() -> frozenset[str]:
    content = tomllib.loads(Path(__file__).with_name("aro.toml").read_text(encoding="utf-8"))
    return frozenset(content["symmetric"])


def _aro_cases(task: str, file: Path, find: source.Find) -> Iterator[Case]:
    relations = task == "aro/relation"

    # The class of a case is its relation, or its two attributes in their order.
    def classed(record: Record) -> tuple[Record, str]:
        if relations:
            return record, record.text("relation_name")
        attributes = record.fields.get("attributes")
        if type(attributes) is not list or len(attributes) != 2 or any(type(name) is not str for name in attributes):
            record.reject("attributes", "a list of two strings")
        return record, f"{attributes[0]}_{attributes[1]}"

    def case(of: tuple[Record, str]) -> Case:
        record, name = of
        tags = {"macro_all": name}
        if name not in symmetric() if relations else sizes[name] >= _LEAST:
            tags["macro"] = name
        x, y, width, height = (record.count(f"bbox_{side}") for side in "xywh")
        if not width or not height:
            raise record.error(f"the region is {width} x {height} pixels, expected at least 1 x 1")
        region = region_of(find(record, record.text("image_path")), (x, y, width, height))
        return source.pair_of(record, region, ("true_caption", "false_caption"), tags)

    records = list(each(classed, listed_records(file)))
    sizes = Counter(name for _, name in records)
    yield from each(case, records)


ARO = source.Source(
    read=_aro,
    shapes=source.shapes_of(_ARO),
    take="visual_genome_relation.json and visual_genome_attribution.json of "
    "https://github.com/mertyg/vision-language-models-are-bows",
)

# VSR (Liu, Emerson, Collier 2023, https://github.com/cambridgeltl/visual-spatial-reasoning): is a statement about the
# place of one thing relative to another true of the photograph? A case's id is the line's number, from 1.

# The statements in the release until 2023-03, and in that since: figures of older papers are those of the first.
_VSR_SIZES = {
    "random-test": (2024, 2195),
    "random-dev": (1012, 1097),
    "random-train": (7083, 7680),
    "zeroshot-test": (731, 1222),
    "zeroshot-dev": (259, 340),
    "zeroshot-train": (5440, 3489),
}
_VSR = source.task_rows(
    "vsr/{}",
    {name: name.replace("-", "/") for name in _VSR_SIZES},
    # The last two are the places of the data sets of the hub.
    "vsr/data/splits/{}.jsonl vsr/splits/{}.jsonl vsr/{}.jsonl vsr/vsr_{}.jsonl vsr_{}.jsonl",
    shape="single",
    capability="foil",
    images="coco",
).values()


def _vsr(options: source.ReadOptions) -> Iterator[Task]:
    for row, file in source.present(options, _VSR):
        records = list(lined_records(file))
        number = len(records)
        older, newer = _VSR_SIZES[row.id.removeprefix("vsr/")]
        note = f"no release has {number:,} statements that can be read"
        if number in {older, newer}:
            note = f"the file is that of the release {'until' if number == older else 'since'} 2023-03"
        yield row.task(each(partial(_statement, find=options.find("coco")), records), note=note)


def _statement(record: Record, find: source.Find) -> Case:
    label = record.count("label")
    if label > 1:
        record.reject("label", "0 or 1")
    requests = source.texts_about(find(record, record.text("image")), [record.text("caption")])
    tags = {"relation": record.text("relation")}
    return source.case_of(record, requests, (label == 1,), name=record.id.removeprefix("on line "), tags=tags)


VSR = source.Source(
    read=_vsr,
    shapes=source.shapes_of(_VSR),
    take="data/splits/<split>/<part>.jsonl of https://github.com/cambridgeltl/visual-spatial-reasoning, or "
    "<part>.jsonl of cambridgeltl/vsr_<split> in vsr/vsr_<split>",
)

# What'sUp (Kamath, Hessel, Chang 2023, https://github.com/amitakamath/whatsup_vlms): the place of one thing relative to
# another, in photographs that differ in nothing else, COCO's and GQA's. A case of whatsup/a and whatsup/b is one
# photograph with four captions, the true one first. ``pair_all`` counts pairs of photographs of the same two things at
# opposite places of which both are right, ``set_all`` sets of all four (section 4).

_OPPOSITES = {
    **dict.fromkeys(("left", "right"), "left or right"),
    **dict.fromkeys(("on", "under"), "on or under"),
    **dict.fromkeys(("front", "behind"), "in front or behind"),
}
_OPTIONS = 4
_CONTROLLED = {"a": "controlled_images_dataset.json", "b": "controlled_clevr_dataset.json"}
_OF_COCO = {"coco-one": "coco_qa_one_obj.json", "coco-two": "coco_qa_two_obj.json"}
_OF_GQA = {"gqa-one": "vg_qa_one_obj.json", "gqa-two": "vg_qa_two_obj.json"}
_whatsup_rows = partial(source.task_rows, "whatsup/{}", places="whatsup/data/{} whatsup/{}")
_WHATSUP = {
    **_whatsup_rows(_CONTROLLED, shape="choice", capability="compositional", images="whatsup"),
    **_whatsup_rows(_OF_COCO, shape="pair", capability="foil", images="whatsup-coco"),
    **_whatsup_rows(_OF_GQA, shape="pair", capability="foil", images="whatsup-vg"),
}.values()


def _whatsup(row: source.TaskRow, file: Path, find: source.Find) -> Iterator[Case]:
    if row.shape == "choice":
        return source.distinct(partial(_controlled, find=find), listed_records(file), "image")
    return each(partial(_placed, find=find), listed_records(file, fields=("image", "true", "false")))


def _controlled(record: Record, find: source.Find) -> Case:
    path = record.text("image_path")
    if not is_plain(path):
        record.reject("image_path", "a relative path")
    first, *middle = stem(path).split("_")
    if len(middle) < 2:  # a preposition and a thing
        record.reject("image_path", "a name such as 'beer-bottle_left_of_armchair.jpeg'")
    things = f"{first} and {middle[-1]}"  # the first and the last part, as in the release's evaluation
    preposition = " ".join(middle[:-1])
    image = find(record, path.rpartition("/")[2])
    texts = record.texts("caption_options", _OPTIONS)
    opposites = next((_OPPOSITES[w] for w in preposition.replace("-", " ").split() if w in _OPPOSITES), None)
    if opposites is None:
        places = ", ".join(_OPPOSITES)
        raise record.error(f"the image's name has the preposition {preposition!r}, expected one of {places}")
    tags = {"preposition": preposition, "pair_all": f"2 of {things}, {opposites}", "set_all": f"4 of {things}"}
    truths = (True, *(False,) * (_OPTIONS - 1))
    return source.case_of(record, source.texts_about(image, texts), truths, name=stem(path), tags=tags)


def _placed(record: Record, find: source.Find) -> Case:
    number = record.fields["image"]  # an integer for COCO's
    image = find(record, str(number) if type(number) is int else record.text("image"))
    return source.pair_of(record, image, ("true", "false"))


WHATSUP = source.of_files(
    _WHATSUP, _whatsup, take="controlled_images_dataset.json and the other JSON files of whatsup_vlms"
)
