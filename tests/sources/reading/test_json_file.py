import gc
import json
import tracemalloc
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

import pytest
from builders import json_table
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import DataError
from vlgate.sources.reading import text_files
from vlgate.sources.reading.records import Record, keyed_records, lined_records, listed_records
from vlgate.sources.reading.text_files import collector_paused, read_json

TABLES = Path(__file__).with_suffix(".tsv")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "existence.json"


def problem(file, content=None, read=read_json):
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        list(read(file))
    assert str(file) in str(caught.value)
    assert str(caught.value).rpartition("; ")[2]
    return str(caught.value)


def test_a_missing_file_a_folder_and_an_unreadable_one(file, monkeypatch):
    assert "there is no such file" in problem(file)
    file.mkdir()
    assert "cannot be read (Is a directory)" in problem(file)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "Permission denied" in problem(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        *((content, "is empty") for content in ("", " \n\t", "\ufeff")),
        *(
            (content, "is cut off")
            for content in ('{"a": {"caption": "There a', '{"a": {"caption": 1}', '{"a"', "[1,\n 2,")
        ),
        ('{"a": 1,\n"b": "There', "line 2, column 6"),
        ("<!DOCTYPE html>", "at line 1, column 1, which reads '<!DOCTYPE html>'"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "which reads 'version https://git-lfs.github"),
        ('{"a": 1}\n{"b": 2}', "is not JSON: Extra data at line 2, column 1"),
        ('{"a": 1,\n"b": "é"}'.encode("latin-1"), "line 2, column 7 is not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "is not UTF-8"),
        (
            '{"a": {"caption": "x"},\n "b": {"caption": "y", "foil": ":", "\\u0063aption": "z"}}',
            "line 2, column 37 repeats the key 'caption'",
        ),
        ('{"a": {"a": "a"}, "b": "a", "a": {}}', "repeats the key 'a'"),
        *(
            (f'{{"a": "NaN",\n"b": [{constant}]}}', f"line 2, column 7 holds {constant},")
            for constant in ("NaN", "Infinity", "-Infinity")
        ),
        ("[" * 200_000, "nested too deeply"),
        ("[" + "1" * 5000 + "]", "a number that cannot be read"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(file, content, says):
    assert says in problem(file, content)


@given(st.integers(0, 60))
def test_every_cut_is_an_error(tmp_path_factory, length):
    content = '{"id": {"caption": "Two dogs.", "mturk": {"caption": 3, "x": [1]}}}'[:length]
    problem(tmp_path_factory.getbasetemp() / "cut.json", content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON)
def test_what_is_written_is_read(tmp_path_factory, value):
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    assert read_json(file) == value


@given(JSON, JSON)
def test_a_repeated_key_is_found_wherever_it_is(tmp_path_factory, first, second):
    file = tmp_path_factory.getbasetemp() / "repeated.json"
    content = f'{{"x": {json.dumps(first)}, "y": [{{"k\\"": 1, "z": {json.dumps(second)}, "k\\"": 2}}]}}'
    assert "repeats the key 'k\"'" in problem(file, content)


@pytest.mark.parametrize(
    ("content", "read", "says"),
    [
        *(
            (content, keyed_records, f"existence.json: is {kind} {shown}, expected an object {{id: record}}")
            for content, kind, shown in (
                ("[]", "a list", "([])"),
                ("null", "null", "(None)"),
                ('"text"', "a string", "('text')"),
                ("3", "an integer", "(3)"),
            )
        ),
        ("{}", listed_records, "is an object ({}), expected a list of records"),
        ('{"a": {}, "b": [1]}', keyed_records, "existence.json, record b: is a list ([1]),"),
        ("[{}, null]", listed_records, "existence.json, record 1: is null (None),"),
        (r'{"\ud83d": {}}', keyed_records, "the record's id holds half"),
    ],
)
def test_records_of_something_else(file, content, read, says):
    assert says in problem(file, content, read)


def test_records_are_read_one_by_one(file):
    file.write_text(' \n{ "a" : {"x": 1} ,\n"b":{} , "c": cut')
    found = keyed_records(file)
    assert [next(found).id, next(found).id] == ["a", "b"]
    with pytest.raises(DataError, match=r"is not JSON: Expecting value at line 3, column 15"):
        next(found)


@pytest.mark.parametrize(
    "content",
    [value for [value] in json_table(TABLES, "the_members_of_a_broken_object_have_the_error_of_the_whole_file")],
)
def test_the_members_of_a_broken_object_have_the_error_of_the_whole_file(file, content):
    assert problem(file, content, keyed_records) == problem(file, content)


def test_records_keep_the_order(file):
    file.write_text(" { }\n")
    assert list(keyed_records(file)) == []
    file.write_text('{"b": {"x": 1}, "a": {"x": 2}}')
    assert [(record.id, record.count("x")) for record in keyed_records(file)] == [("b", 1), ("a", 2)]
    file.write_text('[{"x": "1"}, {"x": "2"}]')
    assert [(record.id, record.text("x")) for record in listed_records(file)] == [("0", "1"), ("1", "2")]


FIELDS = {
    "text": "two dogs",
    "count": 3,
    "truth": True,
    "list": ["x"],
    "none": None,
    "nested": {"count": 0},
    "half": 0.5,
}
RECORD = Record(Path("valse/existence.json"), "existence_1", FIELDS)


def test_fields_of_the_right_type_and_what_else_is_wrong_with_one():
    assert RECORD.text("text") == "two dogs"
    assert RECORD.count("count") == 3
    assert RECORD.nested("nested").count("count") == 0
    with pytest.raises(DataError, match="record existence_1, field 'nested': field 'caption' is missing"):
        RECORD.nested("nested").count("caption")
    for value, says in (
        ("", "blank"),
        (" ", "blank"),
        ("\n\t", "blank"),
        (-1, r"an integer \(-1"),
        (["long"] * 1000, "a list"),
    ):
        record = Record(Path("a.json"), "1", {"x": value})
        with pytest.raises(DataError, match=rf"a\.json, record 1: field 'x' is {says}") as caught:
            record.count("x") if value == -1 else record.text("x")
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize(("method", "field", "message"), json_table(TABLES, "fields_of_the_wrong_type"))
def test_fields_of_the_wrong_type(method, field, message):
    with pytest.raises(DataError) as caught:
        getattr(RECORD, method)(field)
    assert str(caught.value).startswith(f"valse/existence.json, record existence_1: {message}")
    assert str(caught.value).endswith("; download the file again from the benchmark's release")


def test_half_of_a_surrogate_pair(file):
    file.write_text(r'{"a": {"x": "smile \ud83d", "y": "smile \ud83d\ude00"}}')
    (record,) = keyed_records(file)
    assert record.text("y") == "smile 😀"
    with pytest.raises(DataError, match="record a: field 'x' holds half of a surrogate pair"):
        record.text("x")


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_as_before(was_on):
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_json_lines_and_a_byte_order_mark(file):
    file.write_bytes('\ufeff{"a": "x\u2028y"}\r\n\n  \n{"a": 2}'.encode())
    records = list(lined_records(file))
    assert [record.fields for record in records] == [{"a": "x\u2028y"}, {"a": 2}]
    assert [record.id for record in records] == ["on line 1", "on line 4"]
    file.write_bytes('{"a": "é"}'.encode("utf-8-sig"))
    assert read_json(file) == {"a": "é"}


@pytest.mark.parametrize(("content", "says"), json_table(TABLES, "broken_json_lines"))
def test_broken_json_lines(file, content, says):
    message = problem(file, content, read=lambda file: lined_records(file, "write it anew"))
    assert fnmatchcase(message, f"*{escape(says).replace('[*]', '*')}; write it anew")


def test_a_record_of_json_lines_names_the_remedy_that_its_reader_gave(file):
    file.write_text('{"a": {"b": 3}}')
    [record] = lined_records(file, "mend that line")
    for wrong in (lambda: record.text("a"), lambda: record.nested("a").text("b"), lambda: record.count("c")):
        with pytest.raises(DataError, match=r"record on line 1.*; mend that line$"):
            wrong()


OBJECT = {"a b": {"é": "x, } {", "n": -12.5e3}, "b": {}, "c": {"list": [1, [2, {"d": None}]], "t": '\\"'}}
FORMS = {
    "plain": json.dumps(OBJECT),
    "wide": f"\ufeff\r\n {json.dumps(OBJECT, indent=3, ensure_ascii=False)} \n\n",
    "dense": json.dumps(OBJECT, separators=(",", ":")),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_read_in_parts_has_the_records_of_one_that_is_read_at_once(file, form, monkeypatch):
    file.write_bytes(FORMS[form].encode())
    for size in range(4, len(FORMS[form])):  # the first part has the first brace
        monkeypatch.setattr(text_files, "_PART", size)
        assert {record.id: record.fields for record in keyed_records(file)} == OBJECT


@pytest.mark.parametrize(
    "content",
    ['{"a": {}, "a": {}}', '{"a": {"b": 1, "b": 2}}', '{"a": {}} {}', '{"a": {}}}', '{"a": {}', '{"a" {}}', "[]"],
)
def test_a_wrong_file_that_is_read_in_parts_says_what_one_that_is_read_at_once_says(file, content, monkeypatch):
    at_once = problem(file, content, keyed_records)
    monkeypatch.setattr(text_files, "_PART", 3)
    assert problem(file, content, keyed_records) == at_once


@pytest.mark.parametrize("read", [keyed_records, lined_records])
def test_reading_takes_less_memory_than_the_file(file, read):
    records = {str(number): {"text": f"{number:0400}"} for number in range(20_000)}
    lines = (json.dumps(record) for record in records.values())
    file.write_text(json.dumps(records) if read is keyed_records else "\n".join(lines))
    tracemalloc.start()
    assert sum(1 for _ in read(file)) == len(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < file.stat().st_size
