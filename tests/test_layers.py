"""What must never be: the layers of the tree, read from its import statements."""

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"torch", "torchvision", "transformers", "open_clip"}
OURS = {"vlgate", "tests_vl"}


@dataclass(frozen=True)
class Import:
    """One imported name; ``early`` where it is imported as its module is, ``typed`` where for annotations only."""

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
            # `from vlgate import plugin` imports vlgate.plugin; a name that is no module does no harm here.
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


def all_imports():
    for module, file in MODULES.items():
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        yield from imports_of(ast.parse(file.read_text(encoding="utf-8")), module, package)


IMPORTS = list(all_imports())


def imports(*packages):
    """The imports of all modules in some packages."""
    found = [
        one for one in IMPORTS if any(one.module == name or one.module.startswith(f"{name}.") for name in packages)
    ]
    assert found, f"{packages} import nothing at all: is the name right?"
    return found


def offenders(found):
    return sorted({f"{one.module} imports {one.name}" for one in found})


def test_the_whole_tree_is_read():
    expected = {"vlgate.types", "vlgate.perturb.swap", "vlgate.fixtures.session", "tests_vl.test_foil", "vlgate.plugin"}
    assert expected <= set(MODULES)
    assert len(MODULES) == len(set(MODULES.values()))
    assert "vlgate.judging imports vlgate.types.Verdict" in offenders(IMPORTS)


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


def test_types_and_errors_import_nothing_else_of_ours():
    assert offenders(one for one in imports("vlgate.types", "vlgate.errors") if one.top in OURS) == []


def test_perturb_imports_nothing_of_ours_but_types():
    found = [one for one in imports("vlgate.perturb") if one.top in OURS]
    assert offenders(one for one in found if not one.within("vlgate.perturb", "vlgate.types")) == []


@pytest.mark.parametrize(
    ("layer", "may"),
    [
        ("vlgate.stats", ("vlgate.types",)),
        ("vlgate.metrics", ("vlgate.metrics", "vlgate.stats", "vlgate.types")),
        ("vlgate.gates", ("vlgate.metrics", "vlgate.types")),
        ("vlgate.thresholds", ("vlgate.errors", "vlgate.metrics", "vlgate.types")),
        ("vlgate.calling", ("vlgate.errors", "vlgate.types")),
        ("vlgate.ways", ("vlgate.answers", "vlgate.calling", "vlgate.types")),
        ("vlgate.scoring", ("vlgate.calling", "vlgate.errors", "vlgate.types", "vlgate.ways")),
        ("vlgate.judging", ("vlgate.answers", "vlgate.types")),
    ],
)
def test_the_arithmetic_rests_on_the_layers_below_it_only(layer, may):
    assert offenders(one for one in imports(layer) if one.top in OURS and not one.within(*may)) == []


@pytest.mark.parametrize("layer", ["vlgate.metrics", "vlgate.stats", "vlgate.gates", "vlgate.thresholds"])
def test_figures_and_decisions_know_no_framework_picture_or_test_runner(layer):
    never = {*HEAVY, "PIL", "cv2", "pytest", "_pytest", "allure", "allure_commons", "xdist"}
    assert offenders(one for one in imports(layer) if one.top in never) == []


def test_scoring_knows_a_model_by_its_protocol_only():
    never = ("vlgate.models", "vlgate.sources", "vlgate.plugin", "vlgate.fixtures")
    layers = ("vlgate.calling", "vlgate.ways", "vlgate.scoring")
    assert offenders(one for one in imports(*layers) if one.within(*never)) == []


def test_models_and_sources_never_import_each_other():
    found = [one for one in imports("vlgate.models") if one.within("vlgate.sources")]
    found += [one for one in imports("vlgate.sources") if one.within("vlgate.models")]
    assert offenders(found) == []


def test_no_framework_is_imported_before_it_is_used():
    assert offenders(one for one in IMPORTS if one.top in HEAVY and one.early and not one.typed) == []


def test_frameworks_are_imported_by_models_and_learned_filters_only():
    allowed = ("vlgate.models", "vlgate.perturb")
    found = [one for one in IMPORTS if one.top in HEAVY]
    assert found
    assert offenders(one for one in found if not Import("", one.module, early=True).within(*allowed)) == []


def test_pytest_is_imported_by_the_plugin_the_fixtures_and_the_tests_only():
    allowed = ("vlgate.plugin", "vlgate.fixtures", "tests_vl")
    found = [one for one in IMPORTS if one.top in {"pytest", "_pytest", "pluggy", "xdist"}]
    assert found
    assert offenders(one for one in found if not Import("", one.module, early=True).within(*allowed)) == []


def test_allure_is_imported_where_its_report_is_made_only():
    found = [one for one in IMPORTS if one.top.startswith("allure")]
    assert found
    allowed = {
        ("vlgate.report.allure", "allure"),
        ("vlgate.report.allure", "allure_commons"),
        ("vlgate.plugin.allure_link", "allure_commons"),
    }
    assert offenders(one for one in found if (one.module, one.top) not in allowed) == []
    # Without allure-pytest the plugin works: nothing that is always loaded may need it.
    early = [one for one in IMPORTS if one.within("vlgate.report.allure") and one.early]
    assert offenders(early) == []


@pytest.mark.parametrize("door", ["vlgate.plugin", "vlgate.cli", "vlgate.fixtures", "tests_vl", "tests"])
def test_nothing_imports_the_outer_layers_but_themselves(door):
    found = [one for one in IMPORTS if one.within(door) and not Import("", one.module, early=True).within(door)]
    assert offenders(found) == []


def test_the_command_asks_no_model_and_runs_no_test():
    never = ("vlgate.plugin", "vlgate.fixtures", "vlgate.report", "vlgate.scoring")
    assert offenders(one for one in imports("vlgate.cli") if one.top in HEAVY or one.within(*never)) == []
    of_models = ("vlgate.cli.features", "vlgate.cli.models")
    found = [one for one in imports("vlgate.cli") if one.within("vlgate.models") and one.module not in of_models]
    assert offenders(found) == []


PICTURES = {*HEAVY, "PIL", "cv2"}


@pytest.mark.parametrize("layer", ["vlgate.perturb.questions", "vlgate.perturb.ontology", "vlgate.perturb.scene_graph"])
def test_questions_are_made_without_pictures(layer):
    assert offenders(one for one in imports(layer) if one.top in PICTURES) == []


@pytest.mark.parametrize(
    "modules",
    [
        ["vlgate.perturb.questions", "vlgate.perturb.ontology"],
        ["vlgate.cli.questions", "vlgate.sources.generated"],
        ["vlgate.perturb.images", "vlgate.sources.annotated"],
    ],
)
def test_what_they_stand_on_loads_no_picture_library_either(modules):
    code = f"import sys, {', '.join(modules)}; print({{name.partition('.')[0] for name in sys.modules}} & {PICTURES})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


def test_the_names_of_all_tables_are_known_without_the_ontology():
    code = "import sys, vlgate.sources.generated as s; print(s.SHAPES); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "scene-graphs/order-inv" in ended.stdout
    assert "vlgate.perturb" not in ended.stdout.split()
    assert "vlgate.sources.scene_graphs" not in ended.stdout.split()


@pytest.mark.parametrize("name", ["perturb", "fixtures"])
def test_the_two_open_folders_are_imported_by_their_names_inside_vlgate(name):
    """Both are names of other projects on PyPI."""
    assert offenders(one for one in IMPORTS if one.within(name)) == []


def test_no_threshold_stands_in_a_test_of_the_suite():
    files = [file for module, file in MODULES.items() if module.startswith("tests_vl")]
    numbers = [
        f"{file.name}, line {node.lineno}: {node.value!r}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]
    assert numbers == []


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


@pytest.mark.parametrize("arguments", [["--help"], ["--collect-only", "-q", "--limit=1"]])
def test_asking_for_help_or_for_a_list_of_the_tests_loads_no_framework(arguments, tmp_path):
    (tmp_path / "note_what_is_loaded.py").write_text(NOTE)
    command = [sys.executable, "-m", "pytest", *arguments, "-p", "no:cacheprovider", "-p", "note_what_is_loaded"]
    command += ["--model=open_clip:ViT-B-32/laion2b_s34b_b79k"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "VLGATE_DATA": ""}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    loaded = set((tmp_path / "loaded").read_text().splitlines())
    assert "vlgate.plugin.run" in loaded
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()
