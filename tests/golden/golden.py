"""Golden runs: every output of the project, digested, so that a change that should change nothing is seen to.

``python tests/golden/golden.py write [GROUP ...]`` runs the groups of commands of ``golden_runs.toml`` (all, if none is
named) and puts a digest of each file that they write into ``digests.txt``. Run it before a change.
``python tests/golden/golden.py compare [GROUP ...]`` runs them again and names each file that differs, with the first
lines that do; its exit status is 1 if one does. Run it after the change. ``list`` lists the groups and their commands.

``--out DIR`` is the folder of the normalised copies, by default ``.golden``, which git ignores: ``DIR/write`` and
``DIR/compare`` mirror each other, for a diff of your own. Without copies of ``write``, ``compare`` has only digests.

A line of ``digests.txt`` has two digests and a name. The first is of the normalised text, which two runs on one
processor share. The second is for other processors, on which the last bits of sums differ: its fractions are rounded
to six digits, or masked for neural networks. The second alone decides if the file was written on another processor.
"""

import argparse
import difflib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from golden_normal import allure, digest, masked, normal, rounded, words

ROOT = Path(__file__).parents[2]
DIGESTS = Path(__file__).parent / "digests.txt"
PACKAGES = "numpy scipy highspy pillow torch transformers spacy wn lemminflect scikit-learn rich".split()
_APART = {"allure", "data", "home", "parses"}  # folders whose files are not outputs, or are one
_WEIGHED = {"tiny-lxmert", "tiny-clip"}  # their fingerprints come from weights
_SHOWN = 12  # lines of a difference
_WIDE = 300  # characters of a shown line
INPUTS = Path(__file__).parent / "inputs"
SHARED = ROOT.parent / "shared/data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Commands in one empty folder with the files of ``inputs`` and the data; LABEL.out has output and exit status."""

    commands: dict[str, str]
    real: bool = False
    wordnet: bool = False
    neural: bool = False
    quick: bool = False
    varying: tuple[str, ...] = ()


_TABLE = tomllib.loads(Path(__file__).with_name("golden_runs.toml").read_text("utf-8"))
_SHORT = _TABLE.pop("names")
GROUPS = {
    name: Group(**{**group, "commands": {label: one.format(**_SHORT) for label, one in group["commands"].items()}})
    for name, group in _TABLE.items()
}


def environment(home: Path, lexicon: Path) -> dict[str, str]:
    """This process's environment without what changes a run; an empty home for caches, a database of wn."""
    changing = ("PYTEST", "VLGATE", "COV", "GITHUB", "CI", "HF_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    ours = {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    ours |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "XDG_CACHE_HOME": str(home), "VLGATE_CACHE": "off"}
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return kept | ours | {"WN_DATA_DIR": str(lexicon), "PATH": programs}


def with_wordnet(lexicon: Path) -> None:
    """Read Open English Wordnet into a database of wn, once: it takes 12 seconds."""
    if not any(lexicon.glob("*")):
        added = f"import wn; wn.add({str(SHARED / 'wordnet/oewn.xml.gz')!r}, progress_handler=None)"
        variables = os.environ | {"WN_DATA_DIR": str(lexicon)}
        subprocess.run([sys.executable, "-c", added], env=variables, check=True, capture_output=True)


def run(group: Group, folder: Path, lexicon: Path) -> None:
    """Run a group's commands in a folder, the output and the status of each in LABEL.out."""
    if group.wordnet:
        with_wordnet(lexicon)
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    if group.real:
        (folder / "data").symlink_to(SHARED.resolve())
    for label, command in group.commands.items():
        program, *arguments = command.split()
        module = ["pytest", "--pyargs", "tests_vl", "-p", "no:cacheprovider"] if program == "pytest" else [program]
        done = subprocess.run(
            [sys.executable, "-m", *module, *arguments],
            cwd=folder,
            env=environment(folder / "home", lexicon),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        (folder / f"{label}.out").write_text(f"$ {command}\n{done.stdout}exit status {done.returncode}\n", "utf-8")


def texts(folder: Path) -> dict[str, str]:
    """The normalised text of each file that a group wrote, by its path in the folder."""
    paths = {str(folder): "<folder>", str(SHARED.resolve()): "<data>", str(ROOT): "<checkout>"}
    for file in (*folder.rglob("metrics.json"), *folder.rglob("acuity.json")):
        content = json.loads(file.read_text("utf-8"))
        model = content.get("model") or {}
        named = isinstance(model, dict)
        name = model.get("name") if named else model
        fingerprint = model.get("fingerprint") if named else content["fingerprint"]
        if fingerprint and name not in _WEIGHED:  # a digest of our own source, which any change of the code changes
            paths |= {fingerprint: "<source>", fingerprint[:12]: "<source>"}
    contents = {}
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        name = words(inside.as_posix(), paths)
        if file.is_dir() and file.name == "allure":
            contents[name] = allure(file, paths)
        kept = not _APART & set(inside.parts[:-1]) and not (INPUTS / inside).exists()
        if file.is_file() and kept:
            contents[name] = normal(file, paths)
    return contents


def outputs(name: str, copies: Path) -> dict[str, tuple[str, str]]:
    """Run a group; write its normalised texts below ``copies``; return both digests of each, by name."""
    group = GROUPS[name]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as made:  # paths of one length wrap alike
        folder = Path(made).resolve()
        run(group, folder, copies.parent / "wordnet")
        contents = texts(folder)
    contents = {path: text for path, text in contents.items() if path not in group.varying}
    shutil.rmtree(copies / name, ignore_errors=True)
    for path, text in contents.items():
        (copies / name / path).parent.mkdir(parents=True, exist_ok=True)
        (copies / name / path).write_text(text, "utf-8")
    coarse = masked if group.neural else rounded
    print(f"{name}: {len(group.commands)} commands, {len(contents)} files, {time.monotonic() - started:.0f} s")
    return {f"{name}/{path}": (digest(text.encode()), digest(coarse(text).encode())) for path, text in contents.items()}


def processor() -> str:
    """The kind of processor: its name, which several may share, and a digest of its family and flags."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return platform.processor() or platform.machine()
    first = cpuinfo.read_text("utf-8").partition("\n\n")[0].splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first)}
    kind = [fields.get(key, "") for key in ("cpu family", "model", "flags", "Features")]
    return f"{fields.get('model name', platform.machine())} {digest(repr(kind).encode())}"


def here() -> dict[str, str]:
    """The processor and the versions that the digests hold for."""
    facts = {"processor": processor(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "none"
    return facts


def written() -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    facts, digests = {}, {}
    for line in DIGESTS.read_text("utf-8").splitlines() if DIGESTS.exists() else []:
        if line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            facts[key] = value
        else:
            exact, coarse, name = line.split(" ", 2)
            digests[name] = exact, coarse
    return facts, digests


def missing(name: str) -> str:
    return f"needs {SHARED}, which is not here" if GROUPS[name].real and not SHARED.is_dir() else ""


def write(names: list[str], out: Path) -> int:
    """Run the groups and keep their digests; those of other groups stay."""
    _, digests = written()
    for name in names:
        digests = {path: both for path, both in digests.items() if path.partition("/")[0] != name}
        digests |= outputs(name, out / "write")
        lines = [f"# {key}: {value}" for key, value in here().items()]
        lines += [f"{exact} {coarse} {path}" for path, (exact, coarse) in sorted(digests.items())]
        DIGESTS.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


def compare(names: list[str], out: Path) -> int:
    """Run the groups again and print what differs; 1 if something does."""
    facts, digests = written()
    same_processor = facts.get("processor") == here()["processor"]
    differing, compared = 0, 0
    for name in names:
        before = {path: both for path, both in digests.items() if path.partition("/")[0] == name}
        now = outputs(name, out / "compare")
        compared += len(before | now)
        for path in sorted(before | now):
            if path not in now or path not in before:
                print(f"{'not written any more' if path in before else 'new'}: {path}")
            elif now[path][0] != before[path][0] and (same_processor or now[path][1] != before[path][1]):
                print(f"differs: {path}\n{difference(out, path, before[path][0])}")
            else:
                continue
            differing += 1
    versions = [f"{key} {facts.get(key)} -> {value}" for key, value in here().items() if facts.get(key) != value]
    if versions:
        print(f"written with other versions, which may be why a file differs: {', '.join(versions)}")
    print(f"{differing} of {compared} files differ" if differing else f"all {compared} files are as before")
    return int(differing > 0)


def difference(out: Path, path: str, expected: str) -> str:
    """The first lines of two normalised copies that differ."""
    before, now = out / "write" / path, out / "compare" / path
    if not before.exists() or digest(before.read_bytes()) != expected:
        return "  no copy to compare with; run write at the commit of digests.txt"
    pair = before.read_text("utf-8").splitlines(), now.read_text("utf-8").splitlines()
    lines = [line for line in difflib.unified_diff(*pair, lineterm="", n=0) if not line.startswith(("---", "+++"))]
    shown = [f"  {line[:_WIDE]}" for line in lines[:_SHOWN]]
    return "\n".join([*shown, f"  and {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else shown)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("write", "compare", "list"))
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(GROUPS)} (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / ".golden", help="the folder of the normalised copies")
    given = parser.parse_args(arguments)
    if unknown := set(given.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}; expected {', '.join(GROUPS)}")
    names = given.groups or list(GROUPS)
    for name in [name for name in names if missing(name)]:
        print(f"{name}: skipped, {missing(name)}")
        names = [one for one in names if one != name]
    if given.action == "list":
        for name in names:
            print(name, *(f"  {label}: {command}" for label, command in GROUPS[name].commands.items()), sep="\n")
        return 0
    return write(names, given.out) if given.action == "write" else compare(names, given.out)


if __name__ == "__main__":
    sys.exit(main())
