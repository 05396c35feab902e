"""What must never be: the layers of ARCHITECTURE.md, held against the imports of the tree."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest
from builders import tabled

ROOT = Path(__file__).parents[1]
FRAMEWORKS = {"torch", "torchvision", "transformers", "open_clip", "sentence_transformers"}
HEAVY = FRAMEWORKS | {"spacy", "inflect"}
OURS = {"vlgate", "tests_vl"}
MOST_FILES = 20


@dataclass(frozen=True)
class Import:
    """An imported name. It is ``early`` if importing the module imports it, ``typed`` if only annotations need it."""

    module: str
    name: str
    early: bool
    typed: bool = False

    @property
    def top(self):
        return self.name.partition(".")[0]

    def within(self, *packages):
        return any(self.name == package or self.name.startswith(f"{package}.") for package in packages)


def imports_of(tree, module, package):
    """All imports of a syntax tree, wherever they stand."""

    def walk(node, *, early, typed):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, early, typed) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            # `from vlgate import plugin` imports vlgate.plugin; a name that is not a module does no harm.
            yield from (Import(module, f"{base}.{alias.name}", early, typed) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for child in node.body:
                yield from walk(child, early=early, typed=True)
            for child in node.orelse:
                yield from walk(child, early=early, typed=typed)
        else:
            inside = early and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, early=inside, typed=typed)

    return list(walk(tree, early=True, typed=False))


def modules():
    """The files by the names under which they are imported; perturb and fixtures by those inside vlgate."""
    folders = {"vlgate": "vlgate", "tests_vl": "tests_vl", "perturb": "vlgate.perturb", "fixtures": "vlgate.fixtures"}
    for folder, prefix in folders.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            if folder != "vlgate" or parts[0] not in {"perturb", "fixtures"}:
                yield ".".join([prefix, *(part for part in parts if part != "__init__")]), file


MODULES = dict(modules())


NAMED = re.compile(r"(vlgate(?:\.\w+)+)(?::[\w.]+)?")


def named_in(text, module):
    """The modules that a registry names in a string: what importlib loads is an import too."""
    names = (found[1] for found in map(NAMED.fullmatch, text) if found)
    return [Import(module, name, early=False) for name in names if name in MODULES]


def all_imports():
    for module, file in MODULES.items():
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        tree = ast.parse(file.read_text(encoding="utf-8"))
        yield from imports_of(tree, module, package)
        strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        yield from named_in([text for text in strings if isinstance(text, str)], module)
    registry = (ROOT / "vlgate/models/loading/models.toml").read_text(encoding="utf-8")
    targets = [
        target for model in tomllib.loads(registry).values() for target in (model["build"], model.get("check", ""))
    ]
    yield from named_in(targets, "vlgate.models.loading.catalogue")


@cache
def every_import():
    return tuple(all_imports())


def imports(*packages):
    """The imports of all modules in some packages."""
    found = [
        one
        for one in every_import()
        if any(one.module == name or one.module.startswith(f"{name}.") for name in packages)
    ]
    assert found, f"{packages} import nothing at all: is the name right?"
    return found


def offenders(found):
    return sorted({f"{one.module} imports {one.name}" for one in found})


LAYER = re.compile(r"^\| ((?:`[\w/]+` ?)+) \|", re.MULTILINE)


def layers():
    """The rows of ARCHITECTURE.md's table, from the ground up: each the packages of one layer."""
    rows = LAYER.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    prefix = {"tests_vl": ""}
    return [
        tuple(prefix.get(name, "vlgate.") + name.replace("/", ".") for name in re.findall(r"`([\w/]+)`", row))
        for row in rows
    ]


LAYERS = layers()


def place(module):
    """The number of a module's layer; None for the two packages that only hold others."""
    found = [
        number
        for number, names in enumerate(LAYERS)
        if any(module == name or module.startswith(f"{name}.") for name in names)
    ]
    assert len(found) <= 1, f"{module} is in several layers of ARCHITECTURE.md"
    return found[0] if found else None


def module_of(one):
    """The module that an import names; `from a.b import c` may name the module a.b.c or something in a.b."""
    return one.name if one.name in MODULES else one.name.rpartition(".")[0]


def test_the_whole_tree_is_read():
    expected = {
        "vlgate.types",
        "vlgate.perturb.text.rewriting",
        "vlgate.fixtures.session",
        "tests_vl.test_foil",
        "vlgate.plugin",
    }
    assert expected <= set(MODULES)
    assert len(MODULES) == len(set(MODULES.values()))
    assert "vlgate.judging.verdicts imports vlgate.types.Verdict" in offenders(every_import())
    assert "vlgate.sources.registry imports vlgate.sources.benchmarks.valse" in offenders(every_import())
    assert "vlgate.models.loading.catalogue imports vlgate.fixtures.bag_of_words" in offenders(every_import())


def test_every_module_is_in_a_layer_and_every_layer_in_the_tree():
    assert {name for name in MODULES if place(name) is None} == {"vlgate", "vlgate.fixtures"}
    named = {name for names in LAYERS for name in names}
    assert {name for name in named if name not in MODULES} == set()
    assert len(LAYERS) > 15


def test_each_layer_imports_from_the_layers_below_it_only():
    ours = [
        one
        for one in every_import()
        if one.top in OURS and place(module_of(one)) is not None and place(one.module) is not None
    ]
    assert len(ours) > 1000
    assert offenders(our for our in ours if place(module_of(our)) > place(our.module)) == []


def test_no_room_of_the_models_is_in_a_circle():
    """The rooms of `models` are one layer: among themselves they can be put into an order, too."""

    def room(name):
        return ".".join(name.split(".")[:3])

    needs = {}
    for one in imports("vlgate.models"):
        inside = one.within("vlgate.models") and "." in one.module.removeprefix("vlgate.models")
        if inside and room(module_of(one)) != room(one.module) and module_of(one) != "vlgate.models":
            needs.setdefault(room(one.module), set()).add(room(module_of(one)))
    TopologicalSorter(needs).prepare()


def test_models_and_sources_never_import_each_other():
    found = [one for one in imports("vlgate.models") if one.within("vlgate.sources")]
    found += [one for one in imports("vlgate.sources") if one.within("vlgate.models")]
    assert offenders(found) == []


def test_no_loose_module_stands_at_the_top():
    loose = {name for name in MODULES if name.count(".") == 1 and MODULES[name].name != "__init__.py"}
    ours = {name for name in loose if name.startswith("vlgate.")}
    assert ours == {"vlgate.types", "vlgate.errors", "vlgate.seeds", "vlgate.__main__"}


@pytest.mark.parametrize("folder", ["vlgate", "perturb", "fixtures", "tests_vl"])
def test_no_folder_is_crowded(folder):
    crowded = {
        str(one.relative_to(ROOT)): number
        for one in [ROOT / folder, *(ROOT / folder).rglob("*")]
        if one.is_dir() and (number := len([file for file in one.glob("*.py") if file.is_file()])) > MOST_FILES
    }
    assert crowded == {}


def test_no_two_test_files_have_one_name():
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]  # pytest imports each by its name alone
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("layer", ["vlgate.metrics", "vlgate.gates"])
def test_metrics_and_decisions_know_no_framework_image_or_test_runner(layer):
    never = {*HEAVY, "PIL", "cv2", "pytest", "_pytest", "allure", "allure_commons", "xdist"}
    assert offenders(one for one in imports(layer) if one.top in never) == []


def test_an_import_is_found_wherever_it_stands():
    source = """
import one
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import two
try:
    from . import three
except ImportError:
    from ..above import four
class C:
    import five.deep
    def method(self):
        import six
        return lambda: __import__("never")
"""
    found = {(one.name, one.early, one.typed) for one in imports_of(ast.parse(source), "a.b.c", "a.b")}
    assert found == {
        ("one", True, False),
        ("typing.TYPE_CHECKING", True, False),
        ("two", True, True),
        ("a.b.three", True, False),
        ("a.above.four", True, False),
        ("five.deep", True, False),
        ("six", False, False),
    }


def test_no_framework_is_imported_before_it_is_used():
    assert offenders(one for one in every_import() if one.top in HEAVY and one.early and not one.typed) == []


def test_frameworks_are_imported_by_models_and_the_check_of_precision_only():
    allowed = ("vlgate.models", "vlgate.asking.checks.precision")
    found = [one for one in every_import() if one.top in FRAMEWORKS]
    assert found
    assert offenders(one for one in found if not Import("", one.module, early=True).within(*allowed)) == []


def test_spacy_is_known_to_the_parser_only():
    assert offenders(one for one in every_import() if one.top == "spacy") == [
        "vlgate.perturb.text.spacy_parser imports spacy"
    ]


def test_pytest_is_imported_by_the_plugin_the_fixtures_and_the_tests_only():
    allowed = ("vlgate.plugin", "vlgate.fixtures", "tests_vl")
    found = [one for one in every_import() if one.top in {"pytest", "_pytest", "pluggy", "xdist"}]
    assert found
    assert offenders(one for one in found if not Import("", one.module, early=True).within(*allowed)) == []


def test_allure_is_imported_where_its_report_is_made_only():
    found = [one for one in every_import() if one.top.startswith("allure")]
    assert found
    allowed = {("vlgate.report.allure.quiet", "allure_commons")}
    assert offenders(one for one in found if (one.module, one.top) not in allowed) == []
    # Without allure-pytest the plugin works: nothing that is always loaded may need it.
    early = [one for one in every_import() if one.within("vlgate.report.allure.quiet") and one.early and not one.typed]
    assert offenders(early) == []


@pytest.mark.parametrize("door", ["vlgate.plugin", "vlgate.cli", "vlgate.fixtures.session", "tests_vl", "tests"])
def test_nothing_imports_the_outer_layers_but_themselves(door):
    found = [one for one in every_import() if one.within(door) and not Import("", one.module, early=True).within(door)]
    assert offenders(one for one in found if one.module not in {"vlgate.plugin", "vlgate.__main__"}) == []


def test_the_command_asks_no_model_and_runs_no_test():
    never = ("vlgate.plugin", "vlgate.fixtures", "vlgate.asking")
    found = [one for one in imports("vlgate.cli") if not one.within("vlgate.asking.cache")]
    assert offenders(one for one in found if one.top in HEAVY or one.within(*never)) == []
    of_models = ("vlgate.cli.features", "vlgate.cli.models", "vlgate.cli.init")  # init reads the table of the models
    found = [one for one in imports("vlgate.cli") if one.within("vlgate.models") and one.module not in of_models]
    assert offenders(found) == []


IMAGES = {*HEAVY, "PIL", "cv2"}


@pytest.mark.parametrize("layer", ["vlgate.perturb.questions", "vlgate.perturb.ontology", "vlgate.perturb.scene_graph"])
def test_questions_are_made_without_images(layer):
    assert offenders(one for one in imports(layer) if one.top in IMAGES) == []


@tabled
def test_what_they_stand_on_loads_no_image_library_either(modules):
    code = f"import sys, {', '.join(modules)}; print({{name.partition('.')[0] for name in sys.modules}} & {IMAGES})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


def test_the_names_of_all_tasks_are_known_without_the_ontology():
    code = "import sys, vlgate.sources.graphs.generated as s; print(s.TASK_SHAPES); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "scene-graphs/order-inv" in ended.stdout
    loaded = ended.stdout.split()
    assert "vlgate.perturb.questions" not in loaded
    assert "vlgate.perturb.ontology" not in loaded
    assert "vlgate.sources.graphs.annotated" not in loaded


def test_what_makes_questions_is_loaded_for_no_other_command():
    code = "import sys, vlgate.cli.make, vlgate.making.kinds.captions, vlgate.making.kinds.valse; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {"vlgate.perturb.questions", "vlgate.perturb.graphs.persons"} & {*ended.stdout.split()}
    assert not loaded


@pytest.mark.parametrize("name", ["perturb", "fixtures"])
def test_the_two_open_folders_are_imported_by_their_names_inside_vlgate(name):
    """Both are names of other projects on PyPI."""
    assert offenders(one for one in every_import() if one.within(name)) == []


def test_no_threshold_stands_in_a_test_of_the_suite():
    files = [file for module, file in MODULES.items() if module.startswith("tests_vl")]
    numbers = [
        f"{file.name}, line {node.lineno}: {node.value!r}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]
    assert numbers == []


@pytest.mark.slow
def test_no_test_imports_another_test_module():
    found = [
        f"{file.relative_to(ROOT)} imports {one.name}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for one in imports_of(ast.parse(file.read_text(encoding="utf-8")), file.stem, "")
        if one.top.startswith("test_")
    ]
    assert found == []


def test_git_ignores_no_module():
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    files = [*MODULES.values(), *(ROOT / "tests").rglob("*.py")]
    names = "\n".join(str(file.relative_to(ROOT)) for file in files)
    ignored = subprocess.run(
        ["git", "check-ignore", "--stdin"], cwd=ROOT, input=names, capture_output=True, text=True, check=False
    )
    assert ignored.stdout.splitlines() == []


NOTE = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path(__file__).with_name("loaded").write_text("\\n".join(sys.modules)))
"""


def loaded_by(arguments, folder, cwd=ROOT):
    (folder / "note_what_is_loaded.py").write_text(NOTE)
    command = [sys.executable, "-m", "pytest", *arguments, "-p", "no:cacheprovider", "-p", "note_what_is_loaded"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("VLGATE_DATA", None)
    ended = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    loaded = set((folder / "loaded").read_text().splitlines())
    assert "vlgate.plugin.run" in loaded
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()
    return loaded


def test_a_run_of_a_model_that_needs_no_torch_loads_none_nor_the_drawn_world(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def match(self, pairs):\n        return [len(pair.text) for pair in pairs]\n\n\n"
        "def build(device):\n    return Mine()\n"
    )
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.ppm").write_bytes(b"P6 1 1 255\n" + bytes(3))
    case = {"task": "mine/spatial", "image": "1.ppm", "caption": "a dog left of a cat", "foil": "a cat"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    run = ["--pyargs", "tests_vl", "--model=mine:build", "--device=cpu", "--data=.", "--results=run", "--cache=off"]
    loaded = loaded_by([*run, "--no-require-gates"], tmp_path, tmp_path)
    assert "vlgate.report.page.page" in loaded
    drawn = ("scipy", "vlgate.fixtures.scenes.objects", "vlgate.fixtures.reader", "vlgate.probes.shrink.moves")
    assert {name for name in loaded if name.startswith(drawn)} == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--collect-only", "-q", "--limit=1"]])
def test_asking_for_help_or_for_a_list_of_the_tests_loads_no_framework(arguments, tmp_path):
    loaded = loaded_by([*arguments, "--model=open_clip:ViT-B-32/laion2b_s34b_b79k"], tmp_path)
    late = {"plugin.closing", "gates.decide", "gates.acuity", "asking.cache.store"}
    assert loaded.isdisjoint({f"vlgate.{name}" for name in late}), "imported only if a model is loaded"
