"""Runs with --shard=I/N, and vlgate merge: the same bytes as one run, and no gate before all parts are there."""

import json
import shutil

import pytest

from vlgate.cli import main
from vlgate.record.folder import read_part, seal, sha

SAME = ("metrics.json", "verdict.json", "summary.md", "badge.json", "cases.parquet", "predictions.parquet")
GATES = '[gate."valse/existence".acc_r]\nmin = {}\n'


@pytest.fixture
def data(place):
    place.ready(GATES.format(0.5))
    return place


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A folder for the two parts that the first test asks, so that the others need not."""
    return tmp_path_factory.mktemp("asked")


@pytest.fixture
def parts(data, right, asked):
    """Two parts, ``p1`` and ``p2``, of a model that is right."""
    for number in (1, 2):
        folder = data.path / f"p{number}"
        if not (asked / folder.name).exists():
            assert data.run(right, f"--shard={number}/2", f"--results=p{number}").ret == 0
            shutil.copytree(folder, asked / folder.name)
        else:
            shutil.copytree(asked / folder.name, folder)
            options = {"data": [str(data.path / "data")], "thresholds": str(data.path / "thresholds.toml")}
            edit(folder, **{f"environment__options__{name}": value for name, value in options.items()})
    return data


def merge(place, *folders, to="joined", more=()):
    named = [str(place.path / folder) for folder in folders]
    return main(["merge", *named, f"--results={place.path / to}", *map(str, more)])


def differing(place, one="whole", other="joined"):
    return [n for n in SAME if (place.path / one / n).read_bytes() != (place.path / other / n).read_bytes()]


def edit(folder, **changes):
    """Change what part.json says, and seal it again."""
    content = json.loads((folder / "part.json").read_text())
    for path, value in changes.items():
        *inner, last = path.split("__")
        place = content
        for name in inner:
            place = place[name]
        place[last] = value
    (folder / "part.json").write_text(json.dumps({**content, "seal": seal(content)}))


@pytest.mark.slow
def test_joined_parts_are_the_bytes_of_one_run(parts, right, capsys):
    assert parts.run(right, "--results=whole").ret == 0
    capsys.readouterr()
    assert merge(parts, "p2", "p1") == 0
    assert differing(parts) == []
    page, other = ((parts.path / name / "report.html").read_text().splitlines() for name in ("whole", "joined"))
    assert len(page) == len(other)
    assert all(line.startswith('<footer class="end">') for line, b in zip(page, other, strict=True) if line != b)
    assert "PASS: right_model:build may be released: 1 of 1 gate passes (exit status 0)" in capsys.readouterr().out
    told = json.loads((parts.path / "joined" / "environment.json").read_text())
    assert [one["options"]["shard"] for one in told["parts"].values()] == [{"number": n, "of": 2} for n in (1, 2)]
    assert merge(parts, "p1", "p2") == 4  # the folder holds a run
    assert merge(parts, "p1", "p2", more=["--overwrite"]) == 0


def test_a_matrix_of_one_part_is_joined_and_an_ini_file_cannot_ask_for_a_part(data, right, capsys):
    data.pytester.makeini("[pytest]\nvlgate_shard = 1/2\n")
    assert data.run(right, "--results=whole").ret == 0
    data.run(right, "--shard=1/1", "--results=p1", ret=0, says="INCOMPLETE: *part 1 of 1, of which no gate is judged*")
    assert merge(data, "p1") == 0
    assert differing(data) == []
    assert merge(data, "whole", to="other") == 4
    assert "whole: holds no part.json, because the run had no --shard" in capsys.readouterr().err


@pytest.mark.slow
def test_a_thresholds_file_without_gates_is_judged_as_in_a_run(data, right, capsys, monkeypatch):
    data.thresholds("")

    def ended(*more):
        run = data.run(right, "--results=whole", *more)
        capsys.readouterr()
        joined = merge(data, "p1", more=["--overwrite", *more])
        said = (run.outlines, capsys.readouterr().out.splitlines())
        [word] = {next(line for line in lines if "may be" in line or "may not" in line) for lines in said}
        return int(run.ret), joined, word.partition(":")[0]

    assert data.run(right, "--shard=1/1", "--results=p1").ret == 0
    assert ended() == (0, 0, "NOT GATED")
    assert ended("--require-gates") == (1, 1, "INCONCLUSIVE")
    monkeypatch.setenv("CI", "true")
    assert ended() == (1, 1, "INCONCLUSIVE")
    assert ended("--no-require-gates") == (0, 0, "NOT GATED")


def test_a_part_judges_nothing_and_says_so(data, right, monkeypatch):
    monkeypatch.setenv("CI", "true")  # which asks for a judged gate
    result = data.run(right, "--shard=1/2", ret=0)
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE: right_model:build may not be released: part 1 of 2, of which no gate is judged: *",
            "20 cases: 20 right, 0 missed",
            "not run: valse/existence:acc_r: part 1 of 2, of which no gate is judged*",
        ]
    )
    out = data.path / "out"
    figures, verdict = data.metrics(), data.verdict()
    assert (figures["complete"], figures["run"]["shard"]) == (False, "1/2")
    assert {gate["decision"] for gate in figures["gates"]} == {"not run"}
    assert (verdict["verdict"], verdict["status"], verdict["run"]["shard"]) == ("incomplete", 1, "1/2")
    assert json.loads((out / "badge.json").read_text())["message"] == "incomplete, part 1 of 2"
    assert (out / "summary.md").read_text().startswith("# right_model:build: incomplete, part 1 of 2\n")
    assert "This release may not ship: the run is incomplete." in (out / "report.html").read_text()
    thresholds = data.path / "thresholds.toml"
    assert main(["judge", str(out), f"--thresholds={thresholds}"]) == 1
    assert main(["compare", str(out), str(out)]) == 4
    assert data.run(right, "--results=later", f"--baseline={out}").ret == 4


@pytest.mark.slow
def test_workers_quick_and_limit_make_parts_of_the_same_run(data, right):
    args = (right, "--limit=31", "--quick", "--missing-images=skip")
    (data.path / "data/images/vg/100.jpg").unlink()
    assert data.run(*args, "--results=whole").ret == 1
    assert data.run(*args, "--results=p1", "--shard=1/2", "-n", "2").ret == 0
    assert data.run(*args, "--results=p2", "--shard=2/2", "--items=batch").ret == 0
    assert merge(data, "p1", "p2") == 1
    assert differing(data) == []
    assert data.task(folder="joined")["cases"] == 30


def test_a_gate_on_a_control_says_what_decides_it_as_parts_ask_no_control(parts, capsys):
    file = parts.path / "control.toml"
    file.write_text("schema = 1\n" + GATES.format(0.5) + '[gate."valse/existence".visual_gain]\nmin = 0.05\n')
    assert merge(parts, "p1", "p2", more=["--thresholds", file]) == 1
    [gate] = [gate for gate in parts.metrics("joined")["gates"] if gate["gate"].endswith("visual_gain")]
    assert gate["decision"] == "inconclusive"
    assert gate["why"].endswith(
        "has no visual_gain of this task, because parts of a run ask no control; judge this gate in a run without "
        "--shard, with --controls look, and name a --thresholds file without it here"
    )
    assert gate["why"] in capsys.readouterr().out


def test_what_does_not_belong_together_is_refused_and_nothing_is_written(parts, capsys):
    def refused(*folders, says, more=()):
        capsys.readouterr()
        assert merge(parts, *folders, more=more) == 4, says
        said = capsys.readouterr().err
        assert says in said
        assert not (parts.path / "joined").exists()

    def changed(**changes):
        folder = parts.path / "odd"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(parts.path / "p2", folder)
        edit(folder, **changes)
        return "odd"

    options = "environment__options__"
    refused("p1", says="part 2 of 2 missing beside ")
    shutil.copytree(parts.path / "p1", parts.path / "copy")
    refused("p1", "copy", says="are both part 1 of 2; name each part once")
    refused("p1", "p2", "p1", says=f"{parts.path / 'p1'} is given twice; name each part once")
    refused("p1", "p2", "p2/../p1", says="also as ")
    refused("p1", changed(of=3, number=3), says="is part 3 of 3, but ")
    refused("p1", changed(complete=False, why="Ctrl-C"), says="is incomplete (Ctrl-C)")
    refused("p1", changed(model__fingerprint="f" * 64), says="asked another model than ")
    refused("p1", changed(digests__plan="blake2b:0"), says="has other cases than ")
    refused("p1", changed(digests__images="blake2b:0"), says="has other images than ")
    refused("p1", changed(digests__thresholds="sha256:0"), says="--thresholds")
    refused("p1", changed(vlgate="0.0.1"), says="is of vlgate 0.0.1")
    refused("p1", changed(environment__packages__numpy="1.0"), says="ran with other versions than ")
    for name, value in {"seed": 1, "ties": "half", "limit": 7, "suite": ["valse/*"], "protocols": ["x"]}.items():
        refused("p1", changed(**{options + name: value}), says=f"{name}=")
    refused("p1", "nowhere", says="nowhere: does not exist")
    refused("p1", "data", says="holds no part.json, nor any figures of a run that ended")
    changed()
    (parts.path / "odd" / "part.json").unlink()
    refused("p1", "odd", says="no part.json, although the run was --shard=2/2; copy the whole folder, or run this")
    refused("p1", "p2", says="is the folder of a part", more=[f"--results={parts.path / 'p2'}"])
    refused("p1", "p2", says="is not there; name one with --thresholds", more=["--thresholds=nowhere.toml"])
    refused("p1", "p2", says="is not on this machine; name it with --data DIR", more=["--data=nowhere"])
    parts.thresholds(GATES.format(0.6))
    refused("p1", "p2", says="is not what it was when the part ran")
    assert merge(parts, "p1", "p2", more=[f"--thresholds={parts.path / 'thresholds.toml'}"]) == 0


def test_an_edited_part_is_refused(parts, capsys):
    folder = parts.path / "p2"
    kept = (folder / "part.jsonl").read_bytes()
    lines = kept.splitlines(keepends=True)

    def refused(says, content=None, *, sealed=True):
        capsys.readouterr()
        if content is not None:
            (folder / "part.jsonl").write_bytes(content)
            if sealed:
                edit(folder, replies=sha(content))
        assert merge(parts, "p1", "p2") == 4
        assert says in capsys.readouterr().err
        assert not (parts.path / "joined").exists()

    refused("part.jsonl was changed after the part ended", kept.replace(b"-", b"", 1), sealed=False)
    refused("lacks 1 of the cases of part 2 of 2", b"".join(lines[1:]))
    refused("not of this part, or has them twice", b"".join([*lines, lines[0]]))
    refused("not of this part, or has them twice", b"".join([*lines[1:], lines[0].replace(b"existence", b"nothing")]))
    refused("expected 2 scores", b"".join([*lines[1:], lines[0].replace(b'"scores":[', b'"scores":[NaN,')]))
    refused("line 1: expected the replies of a batch", b"{}\n" + kept)
    refused("has no score", b"".join([*lines[1:], lines[0].partition(b'"rows"')[0] + b'"rows":{}}\n']))
    (folder / "part.jsonl").write_bytes(kept)
    edit(folder, replies=sha(kept))
    assert read_part(folder).number == 2
    text = (folder / "part.json").read_text()
    (folder / "part.json").write_text(text.replace('"complete": true', '"complete":  false'))
    refused("part.json was changed after the part ended")
    (folder / "part.jsonl").unlink()
    (folder / "part.json").write_text(text)
    refused("holds no part.jsonl")


def test_a_part_that_leaves_cases_out_cannot_be_joined(parts, right, capsys):
    assert parts.run(right, "--results=p1", "--shard=1/2", "-k", "record_1").ret == 1
    capsys.readouterr()
    assert merge(parts, "p1", "p2") == 4
    assert "of the 20 cases of the part were deselected; select tasks with --suite instead" in capsys.readouterr().err


def test_the_worst_check_of_any_part_is_that_of_the_whole(parts):
    checks = json.loads((parts.path / "p2/part.json").read_text())["model"]["checks"]
    next(check for check in checks if check["name"] == "determinism").update(outcome="suspect", why="it drifts")
    edit(parts.path / "p2", model__checks=checks)
    assert merge(parts, "p1", "p2") == 1
    assert parts.decisions("joined") == {"model:determinism": "inconclusive", "valse/existence:acc_r": "pass"}


def test_data_may_lie_elsewhere_when_the_parts_are_joined(parts, capsys):
    (parts.path / "data").rename(parts.path / "moved")
    assert merge(parts, "p1", "p2") == 4
    assert "is not on this machine; name it with --data DIR" in capsys.readouterr().err
    file = parts.path / "moved/valse/existence.json"
    text = file.read_text()
    file.write_text(text.replace("There are 7 dogs.", "There are 7 cats."))
    assert merge(parts, "p1", "p2", more=[f"--data={parts.path / 'moved'}"]) == 4
    assert "asked other cases than those of" in capsys.readouterr().err
    file.write_text(text)
    assert merge(parts, "p1", "p2", more=[f"--data={parts.path / 'moved'}"]) == 0


def test_parts_with_other_disputes_are_told_from_parts_with_other_data(data, right, capsys):
    for number in (3, 4):
        line = {"task": "valse/existence", "case": f"record_{number}", "claim": "wrong", "evidence": "seen"}
        (data.path / f"{number}.jsonl").write_text(json.dumps(line))
    mine, others = (f"--disputes={data.path / name}" for name in ("3.jsonl", "4.jsonl"))
    for number in (1, 2):
        data.run(right, mine, "--health=off", f"--shard={number}/2", f"--results=p{number}")
    capsys.readouterr()
    assert merge(data, "p1", "p2", more=[others]) == 4
    said = capsys.readouterr().err
    assert "3.jsonl; these are " in said
    assert "4.jsonl; name the same files with --disputes FILE" in said
    shutil.copy(data.path / "4.jsonl", data.path / "3.jsonl")
    assert merge(data, "p1", "p2") == 4
    said = capsys.readouterr().err
    assert "name the same data with --data DIR, and name the same files with --disputes FILE, as they were" in said
