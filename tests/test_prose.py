"""The project's prose is plain English, as far as a script can tell."""

from prose import findings, tracked


def test_no_phrase_of_the_list_is_left():
    found = [f"{file.name}:{number}: {kind}: {line}" for kind, file, number, line in findings(tracked())]
    assert found == []


def test_a_phrase_is_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text('"""None where there is none; the place where it is."""\n# 12 us a case\nX = "is no name"\n')
    assert [kind for kind, *_ in findings([file])] == ["where for if", "cases a task", "is no for is not a"]
