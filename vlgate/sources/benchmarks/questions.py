"""Questions whose answers are checked against the image: POPE and RePOPE, NaturalBench, MMVP and MMVP-VLM."""

import csv
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TypeVar

from vlgate.errors import DataError
from vlgate.sources.reading import source, tables
from vlgate.sources.reading.image_finder import SOURCES, is_plain, stem
from vlgate.sources.reading.records import Record, each, lined_records, listed_records
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_text
from vlgate.types import Ask, Case, LazyImage, Task

# POPE (Li et al. 2023, https://github.com/AoiDragon/POPE): is an object in the image? And RePOPE (Neuhaus, Hein 2025,
# https://github.com/YanNeu/RePOPE), the same questions with labels that were checked again. A case's id is the
# ``question_id``. The kinds are how the absent objects were chosen.

KINDS = ("random", "popular", "adversarial")
_POPE_HUB = "lmms-lab/POPE"
_POPE_TABLES = f"take the Parquet files of {_POPE_HUB}, or coco_pope_*.json of https://github.com/AoiDragon/POPE"
# For the beginning of a task's id: the source of its images, and the places of its file.
_POPE_FILES = {
    "pope/coco": ("coco", "coco_pope_{}.json", "pope/output/coco pope/coco pope"),
    "pope/gqa": ("gqa", "gqa_pope_seem_{}.json", "pope/output/seem/gqa pope/output pope/gqa pope"),
    "pope/aokvqa": ("coco", "aokvqa_pope_seem_{}.json", "pope/output/seem/aokvqa pope/output pope/aokvqa pope"),
    "pope/repope": ("coco", "coco_repope_{}.json", "repope/annotations repope pope/repope"),
}
_POPE = {
    start: source.task_rows(
        start + "-{}",
        KINDS,
        " ".join(f"{folder}/{name}" for folder in folders.split()),
        shape="single",
        capability="foil",
        images=images,
    )
    for start, (images, name, folders) in _POPE_FILES.items()
}
_V2_PLACES = "pope/POPEv2/dataset/annotations.json POPEv2/dataset/annotations.json pope/annotations.json"
_POPE_V2 = source.task_rows("pope/{}", ("v2",), _V2_PLACES, shape="single", capability="foil")
_OF_2023_05 = 2910  # questions of COCO's random file in its first release; the later ones have 3,000


def _pope(options: source.ReadOptions) -> Iterator[Task]:
    for start, rows in _POPE.items():
        coco = start == "pope/coco"
        # The folder ``Full`` of ``lmms-lab/POPE`` has the rows of ``data`` once more.
        places = (("", "data", "test", "POPE/data"), ("Full", "POPE/Full")) if coco and options.wants(rows) else ()
        files: list[Path] = []
        for group in places:
            files = files or tables.table_files(
                [folder / "pope" / place for folder in options.folders for place in group]
            )
        read: set[str] = set()
        for kind, row in rows.items():
            file = row.file(options)
            if file is None:
                continue
            read.add(row.id)
            tables.refuse_both(file, files)
            # COCO's files are JSON lines, the others one list.
            is_list = read_text(file, FETCH_AGAIN).lstrip().startswith("[")
            records = list(listed_records(file) if is_list else lined_records(file))
            cases = source.distinct(partial(_pope_case, find=options.find(row.images)), records, "question_id")
            yield row.task(cases, note=_pope_release(kind, records) if coco else "")
        if files:
            images = tables.table_rows(files, ("image",), _POPE_TABLES)
            lacking = {row.id for row in rows.values() if options.wanted(row.id)} - read
            note = f"the file is that of {_POPE_HUB}"
            yield from tables.tasks_by_kind(images, "category", _pope_row, rows, lacking.__contains__, note)
    for row, file in source.present(options, _POPE_V2.values()):
        case = partial(_v2_case, photographs=options.find("coco"), edited=options.find("pope-v2"))
        yield row.task(each(case, listed_records(file)))


def _pope_release(kind: str, records: Sequence[Record]) -> str:
    if any("image_id" in record.fields for record in records):
        return "the file is that of 2023-08-04, another draw than the others; it was replaced after six days"
    misspelled = any("imange" in str(record.fields.get("text")) for record in records)
    if misspelled or (kind == "random" and len(records) == _OF_2023_05):
        date = "2023-11-16" if kind == "adversarial" else "2023-10-09"
        lacking = ", and 90 of its 3,000 questions are missing" if kind == "random" else ""
        return f"the file is older than {date}: some questions have 'imange' for 'image'{lacking}"
    return f"the file is that of {'2023-11-16' if kind == 'adversarial' else '2023-10-09 or later'}"


def _pope_case(record: Record, find: source.Find) -> Case:
    name = str(record.count("question_id"))
    return _yes_no(name, record, find(record, record.text("image")), "text")


def _pope_row(row: tables.Row) -> Case:
    record = row.record
    name = record.text("image_source")
    key = name if stem(name) != name else f"{name}.jpg"  # as COCO's files are called
    if not is_plain(key):
        record.reject("image_source", "the name of an image of COCO")
    return _yes_no(str(record.number("question_id")), record, row.image(key, "image"), "question", "answer")


def _v2_case(record: Record, photographs: source.Find, edited: source.Find) -> Case:
    path = record.text("image_name").lstrip("/")  # coco/train2017/ or images/
    original = path.startswith("coco/")
    image = photographs(record, path.rpartition("/")[2]) if original else edited(record, path)
    return _yes_no(record.id, record, image, "query")


def _yes_no(name: str, record: Record, image: LazyImage, question: str, answer: str = "label") -> Case:
    label = record.text(answer).strip().lower()
    if label not in {"yes", "no"}:
        record.reject(answer, "'yes' or 'no'")
    asked = Ask(image=image, question=record.text(question), choices=("yes", "no"))
    return source.case_of(record, [asked], (label,), name=name)


POPE = source.Source(
    read=_pope,
    shapes=source.shapes_of(row for rows in (*_POPE.values(), _POPE_V2) for row in rows.values()),
    take="output/coco/coco_pope_*.json of https://github.com/AoiDragon/POPE, or the Parquet files of lmms-lab/POPE",
)

# NaturalBench (Li et al. 2024, BaiqiL/NaturalBench, a row per group, or BaiqiL/NaturalBench-lmms-eval, four rows per
# group): two questions about two photographs whose answers are crossed; and captions of the same images. The options of
# naturalbench/multiple-choice stand in the text of the question ("Option: A:...; B:...;"): the choices are the letters,
# A and B whatever the punctuation.

_NATURALBENCH_HUB = "BaiqiL/NaturalBench"
_NATURALBENCH = {
    kind: source.TaskRow(id=f"naturalbench/{name}", shape="question_quad", capability="compositional")
    for kind, name in {"yes_no": "yes-no", "multiple_choice": "multiple-choice"}.items()
}
_RETRIEVAL = source.TaskRow(
    id="naturalbench/retrieval",
    shape="quad",
    capability="compositional",
    places=tuple(f"{folder}/metadata.json" for folder in SOURCES["naturalbench"].folders),
    images="naturalbench",
)
_OPTION = re.compile(r"\b([A-Z])\s*:\s*([^;]+)")
_SIGN = re.compile(r"\bB\b|\bA\s*[^\w\s]")  # of options in another form, as "A: a cat. B: a dog"
_NATURALBENCH_TABLES = f"take the Parquet files of {_NATURALBENCH_HUB} or of {_NATURALBENCH_HUB}-lmms-eval"
_EACH = 4  # the rows of a group in the form of lmms-eval: both images with the first question, then with the second


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    record: Record  # the group as the release has it in one row
    # The row of the table and the column of each image.
    images: tuple[tuple[tables.Row, str], tuple[tables.Row, str]]


def _naturalbench(options: source.ReadOptions) -> Iterator[Task]:
    files = tables.release_files(options, "naturalbench", _NATURALBENCH_HUB) if options.wants(_NATURALBENCH) else []
    if files:
        yield from tables.tasks_by_kind(_groups(files), "Question_Type", _crossed, _NATURALBENCH, options.wanted)
    remedy = "is not read; take the release's Parquet files"
    unread = [(row, "*.tsv", remedy) for row in _NATURALBENCH.values() if not files]
    file = _RETRIEVAL.file(options)
    if file is not None:
        case = partial(_retrieval, find=options.find(_RETRIEVAL.images))
        yield _RETRIEVAL.task(source.distinct(case, listed_records(file), "index"))
    else:
        unread.append((_RETRIEVAL, "NaturalBench-Retrieval.zip", "is not unpacked"))
    for row, pattern, problem in unread:  # a task without cases that says why
        if options.wanted(row.id) and (other := tables.other_form(options, f"naturalbench/{pattern}")):
            yield row.task((), note=f"{other} {problem}")


def _groups(files: Sequence[Path]) -> Iterator[_Group]:
    if "Image" not in tables.column_names(files[0]):
        for row in tables.table_rows(files, ("Image_0", "Image_1"), _NATURALBENCH_TABLES):
            yield _Group(record=row.record, images=((row, "Image_0"), (row, "Image_1")))
        return
    groups: dict[int, dict[int, tables.Row]] = {}

    def add(row: tables.Row) -> None:
        number = row.record.number("Index")
        group = groups.setdefault(number // _EACH, {})
        if group.setdefault(number % _EACH, row) is not row:
            raise row.record.error(f"Index {number} is repeated")

    deque(each(add, tables.table_rows(files, ("Image",), _NATURALBENCH_TABLES)), maxlen=0)
    yield from each(lambda numbered: _joined(*numbered), groups.items())


def _joined(number: int, rows: Mapping[int, tables.Row]) -> _Group:
    first = next(iter(rows.values())).record
    if len(rows) < _EACH:
        lacking = [str(_EACH * number + index) for index in range(_EACH) if index not in rows]
        raise first.error(f"group {number} lacks the rows with Index {', '.join(lacking)}")
    four = [rows[index] for index in range(_EACH)]
    asked = [row.record.text("Question") for row in four]
    kinds = {_kind(row.record) for row in four}
    if len(kinds) > 1 or asked[0] != asked[1] or asked[2] != asked[3]:
        raise first.error(f"group {number} does not ask two questions of one type, each about both images")
    fields = {"Index": number, "Question_Type": kinds.pop(), "Question_0": asked[0], "Question_1": asked[2]}
    for index, row in enumerate(four):
        fields[f"Image_{index % 2}_Question_{index // 2}"] = row.record.text("Answer")
    if first.fields.get("Source"):
        fields["Source"] = first.fields["Source"]
    record = replace(four[0].record, fields=fields)
    return _Group(record=record, images=((four[0], "Image"), (four[1], "Image")))


def _kind(record: Record) -> str:
    kind = record.text("Question_Type").strip().lower()
    if kind not in _NATURALBENCH:
        record.reject("Question_Type", " or ".join(map(repr, _NATURALBENCH)))
    return kind


def _crossed(group: _Group) -> Case:
    record = group.record
    name = str(record.count("Index"))
    images = [row.image(f"naturalbench_{name}_{which}", column) for which, (row, column) in enumerate(group.images)]
    texts = record.text("Question_0"), record.text("Question_1")
    choices = [_letters(record, text) for text in texts]
    requests, truths = [], []
    for which, image in enumerate(images):
        for number, text in enumerate(texts):
            field = f"Image_{which}_Question_{number}"
            answer = record.text(field).strip().lower()
            if answer not in choices[number]:
                record.reject(field, " or ".join(map(repr, choices[number])))
            requests.append(Ask(image=image, question=text, choices=choices[number]))
            truths.append(answer)
    tags = {"source": record.text("Source")} if record.fields.get("Source") else {}
    return source.case_of(record, requests, tuple(truths), name=name, tags=tags)


def _letters(record: Record, question: str) -> tuple[str, ...]:
    if _kind(record) == "yes_no":
        return ("yes", "no")
    letters = tuple(letter.lower() for letter, _ in _OPTION.findall(question))
    if len(letters) < 2 and not _SIGN.search(question):  # a choice
        raise record.error(f"the question {question!r} has no options such as 'A:sleeping; B:playing;'")
    return letters if len(letters) > 1 else ("a", "b")


def _retrieval(record: Record, find: source.Find) -> Case:
    names = record.text("image_0"), record.text("image_1")
    for field, name in zip(("image_0", "image_1"), names, strict=True):
        if not is_plain(name):
            record.reject(field, "a relative path")
    images = tuple(find(record, name.rpartition("/")[2]) for name in names)
    return source.Pictured(record=record, images=images).quad(("caption_0", "caption_1"), str(record.count("index")))


NATURALBENCH = source.Source(
    read=_naturalbench,
    shapes=source.shapes_of([*_NATURALBENCH.values(), _RETRIEVAL]),
    take="the Parquet files of BaiqiL/NaturalBench or BaiqiL/NaturalBench-lmms-eval",
)

# MMVP-VLM and MMVP (Tong et al. 2024, section 3): nine visual patterns in which a CLIP takes two unlike images for
# alike, a statement about each image; and the questions with two options. The images of a case of mmvp/vlm are those
# of an odd id and the next one; a text is "a photo of " and the statement, as in the release's evaluation. Its figure
# is ``image``, with strict comparisons: the released code counts a tie of the second text as right, one of the first
# as wrong. ``macro`` is the mean of the nine patterns.

_MMVP_HUB = "lmms-lab-eval/MMVP"
_VLM = source.TaskRow(
    id="mmvp/vlm",
    shape="image_quad",
    capability="compositional",
    places=("mmvp-vlm/Questions.csv", "mmvp_vlm/Questions.csv", "MMVP_VLM/Questions.csv"),
    images="mmvp-vlm",
)
_MLLM = source.TaskRow(
    id="mmvp/questions",
    shape="questions",
    capability="directional",
    places=("mmvp/Questions.csv", "MMVP/Questions.csv"),
    images="mmvp",
)
# In the order of the pairs; the release assigns them by position, 15 pairs each.
PATTERNS = (
    "orientation and direction",
    "presence of specific features",
    "state and condition",
    "quantity and count",
    "positional and relational context",
    "colour and appearance",
    "structural and physical characteristics",
    "text",
    "viewpoint and perspective",
)
_PAIRS = 15
_NUMBERS = ("Index", "lineId")  # columns with the number of a question; without one it is that of the row
_MMVP_TABLES = f"take the Parquet files of {_MMVP_HUB}, or Questions.csv and the images of MMVP/MMVP"
_LETTERED = re.compile(r"\(([a-z])\)\s*(.*?)\s*(?=\([a-z]\)|$)", re.IGNORECASE | re.DOTALL)

_Asked = tuple[Record, Callable[[str], LazyImage]]  # a row, and a function that returns its image by its key
_Item = TypeVar("_Item")


def _mmvp(options: source.ReadOptions) -> Iterator[Task]:
    for row, file in source.present(options, [_VLM]):
        pairs = enumerate(_in_pairs(file, _csv_rows(file)))
        task = row.task(each(partial(_statements, find=options.find(row.images)), pairs))
        whole, number = _PAIRS * len(PATTERNS), len(task.cases)
        note = f"the release has {whole} pairs, 15 a pattern, and this file {number}"
        yield task if number == whole else replace(task, note=note)
    if not options.wanted(_MLLM.id):
        return
    folders = [folder / place for folder in options.folders for place in ("mmvp", "mmvp/data", "MMVP", "MMVP/data")]
    questions, files = _MLLM.file(options), tables.table_files(folders, ("*.parquet",))
    tables.refuse_both(questions, files)
    if questions is not None:
        find = options.find(_MLLM.images)
        asked = [(record, partial(find, record)) for record in _csv_rows(questions)]
        yield _MLLM.task(each(_question_pair, _in_pairs(questions, asked)))
    elif files:
        rows = tables.table_rows(files, ("image",), _MMVP_TABLES)
        inside = [(row.record, partial(row.image, column="image")) for row in rows]
        note = f"the file is that of {_MMVP_HUB}, in which the answers of two pairs are corrected"
        yield _MLLM.task(each(_question_pair, _in_pairs(files[0], inside)), note=note)


def _statements(numbered: tuple[int, tuple[Record, Record]], find: source.Find) -> Case:
    number, pair = numbered
    ids = _ids(pair, "Question ID")
    images = [find(pair[0], f"{name}.jpg") for name in ids]
    texts = [f"a photo of {record.text('Statement')}" for record in pair]
    pattern = PATTERNS[min(number // _PAIRS, len(PATTERNS) - 1)]
    tags = {"pattern": pattern, "macro": pattern}
    return source.case_of(
        pair[0], source.quad_requests(images, texts), source.QUAD_TRUTHS, name=f"{ids[0]}-{ids[1]}", tags=tags
    )


def _question_pair(pair: tuple[_Asked, _Asked]) -> Case:
    first, second = (record for record, _ in pair)
    ids = _ids((first, second), next((name for name in _NUMBERS if name in first.fields), ""))
    requests, truths = [], []
    for name, (record, image) in zip(ids, pair, strict=True):
        choices = _lettered(record)
        letter = record.text("Correct Answer").strip().strip("()").lower()
        if letter not in choices:
            record.reject("Correct Answer", f"one of {', '.join(f'({choice})' for choice in choices)}")
        truths.append(choices[letter])
        texts, letters, question = tuple(choices.values()), tuple(choices), record.text("Question")
        requests.append(Ask(image=image(f"{name}.jpg"), question=question, choices=texts, aliases=letters))
    return source.case_of(first, requests, tuple(truths), name=f"{ids[0]}-{ids[1]}")


def _lettered(record: Record) -> Mapping[str, str]:
    options = {letter.lower(): text for letter, text in _LETTERED.findall(record.text("Options"))}
    if len(options) < 2 or not all(options.values()):  # a choice
        record.reject("Options", "options such as '(a) Open (b) Closed'")
    return options


def _csv_rows(file: Path) -> list[Record]:
    lines = csv.DictReader(StringIO(read_text(file, FETCH_AGAIN).lstrip("\ufeff"), newline=""))
    return [Record(file, f"in row {number}", fields) for number, fields in enumerate(lines, 1)]


def _in_pairs(file: Path, rows: Sequence[_Item]) -> Iterator[tuple[_Item, _Item]]:
    if not rows or len(rows) % 2:
        raise DataError(file, None, f"has {len(rows)} rows, expected an even number", FETCH_AGAIN)
    return zip(rows[::2], rows[1::2], strict=True)


def _ids(pair: tuple[Record, Record], field: str) -> tuple[int, int]:
    """The ids of two rows: an odd one and the next; without a column of ids, the numbers of the rows."""
    numbers = []
    for record in pair:
        given = record.fields.get(field) if field else record.id.removeprefix("in row ")
        text = str(given).strip() if type(given) in {str, int} else ""
        if not text.isdecimal():
            record.reject(field, "a whole number")
        numbers.append(int(text))
    first, second = numbers
    if first % 2 == 0 or second != first + 1:
        raise pair[1].error(f"the ids of the pair are {first} and {second}, expected an odd one and the next")
    return first, second


MMVP = source.Source(
    read=_mmvp,
    shapes=source.shapes_of([_VLM, _MLLM]),
    take="Questions.csv and the images of MMVP/MMVP, or the Parquet files of lmms-lab-eval/MMVP",
)
