"""Check and load the model that --model NAME[:WEIGHTS] names: a registered one, or any package.module:callable."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.errors import ModelLoadError, described, did_you_mean, nearest
from vlgate.models.checkpoints.device import check_dtype, pick_device
from vlgate.models.checkpoints.fingerprint import digest, digest_path, digest_source, path_named
from vlgate.models.loading.catalogue import all_offered, meant, offered
from vlgate.models.specs import ModelSpec, registered

# A callable ``package.module:name`` is not vlgate's code: whatever it raises becomes a ModelLoadError that names the
# module or the callable.

METHODS = (("match",), ("encode_images", "encode_texts"), ("answer",), ("compare",), ("perplexity",))
_NEEDED = (
    "match(pairs), encode_images(images) with encode_texts(texts), answer(questions), compare(questions) or "
    "perplexity(texts)"
)


def can_be_found(module: str, folder: Path) -> bool:
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a module without a spec, such as __main__
        return True
    return spec is not None or PathFinder.find_spec(top, [str(folder)]) is not None


def import_target(target: str, what: str) -> Callable[..., object]:
    module, _, path = target.partition(":")
    named: object
    try:
        named = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            above = "" if error.name == module else f", nor {error.name!r}"
            why = f"there is no module {module!r}{above}; start in the folder that contains it, or install its package"
        else:
            why = f"{module!r} imports {error.name!r}, which is not installed ({error})"
        raise ModelLoadError(f"{what}: {why}") from error
    except KeyboardInterrupt:
        raise
    # A foreign module can raise anything, such as pytest.skip(), and a script without a main guard exits.
    except BaseException as error:
        raise ModelLoadError(f"{what}: importing {module!r} raised {described(error)}") from error
    for name in path.split("."):
        if not hasattr(named, name):
            known = [other for other in dir(named) if not other.startswith("_")]
            raise ModelLoadError(f"{what}: {module!r} has no {path!r}; {nearest(name, known)}")
        named = getattr(named, name)
    if not callable(named):
        problem = f"{target!r} is of type {type(named).__name__}, which cannot be called"
        raise ModelLoadError(f"{what}: {problem}; name a function that returns the model, or its class")
    return named


def named_arguments(
    made_by: Callable[..., object], weights: str, what: str, spec: ModelSpec | None = None
) -> tuple[str, ...]:
    offered = {"device", "dtype", "seed", "folder"} | ({"weights"} if weights else set())
    if spec is not None:
        offered.add("name")
        if spec.form and not weights:
            raise ModelLoadError(f"{what}: it needs weights after a colon: {spec.form}")
    parameters = _parameters(made_by)
    named = tuple(name for name in parameters if name in offered)
    if weights and "weights" not in named:
        raise ModelLoadError(f"{what}: it takes no weights, but {weights!r} stands after the colon; leave it out")
    for name, parameter in parameters.items():
        if name not in named and parameter.default is parameter.empty:
            if name == "weights":
                raise ModelLoadError(f"{what}: it needs weights; write them after a colon")
            passed = "device, dtype, seed, weights and folder"
            raise ModelLoadError(
                f"{what}: it requires the argument {name!r}; vlgate passes {passed}; give it a default"
            )
    return named


def _parameters(made_by: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(made_by).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return {}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: parameter for name, parameter in parameters.items() if parameter.kind not in several}


def _call(made_by: Callable[..., object], arguments: Mapping[str, object], what: str) -> object:
    try:
        model = made_by(**arguments)
    except (ModelLoadError, KeyboardInterrupt):
        raise
    # A foreign callable can raise anything, and may exit.
    except BaseException as error:
        raise ModelLoadError(f"{what}: building it raised {described(error)}") from error
    if isinstance(model, type):
        raise ModelLoadError(f"{what}: it returned the class {model.__name__}; return an instance of it")
    if not any(all(callable(getattr(model, name, None)) for name in way) for way in METHODS):
        raise ModelLoadError(
            f"{what}: it returned an object of type {type(model).__name__}, which has none of the methods {_NEEDED}"
        )
    return model


# A name is a section of ``models.toml`` or an entry point of an installed package; anything else must be
# ``package.module:callable[:WEIGHTS]``. Every callable gets the same keywords, as far as its signature has them:
# ``device`` (resolved for the worker), ``dtype``, ``seed``, ``weights`` and ``folder``.


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    name: str
    weights: str  # as the user wrote them; empty for none
    # 64 hexadecimal digits that change with everything that the replies depend on, except the tasks that a model with a
    # ``prepare`` method was given.
    fingerprint: str
    model: object
    registered: bool = False  # whether it is one of vlgate's own
    device: str = ""  # empty if it takes none


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    name: str
    target: str
    weights: str
    own: bool
    offered_by: str = ""

    @property
    def registered(self) -> ModelSpec | None:
        return None if self.own or self.offered_by else registered()[self.name]

    @property
    def what(self) -> str:
        named = f"model={self.name + (':' + self.weights if self.weights else '')!r}"
        return f"{named} (offered by {self.offered_by})" if self.offered_by else named


def check(spec: str, *, folder: Path | None = None) -> None:
    """Check a model's name before any worker starts. Loads no weights, no torch, and none of the user's modules."""
    try:
        _check(spec, folder or Path.cwd())
    except (OSError, ValueError, RuntimeError) as error:  # a text that can be no path, a folder that is not readable
        reason = getattr(error, "strerror", None) or error
        raise ModelLoadError(f"model={spec!r}: cannot be used ({reason}); name another") from None


def _check(spec: str, folder: Path) -> None:
    parsed = _parse(spec, folder)
    if (model_spec := parsed.registered) is not None:
        made_by = import_target(parsed.target, parsed.what)
        named_arguments(made_by, parsed.weights, parsed.what, model_spec)
        _beside(model_spec, "check", parsed.weights, folder)
        return
    module = parsed.target.partition(":")[0]
    if not can_be_found(module, folder):
        if parsed.offered_by:
            raise ModelLoadError(f"{parsed.what}: there is no module {module!r}; reinstall the package")
        close = _near(module, [file.stem for file in folder.glob("*.py")])
        remedy = close or "start in the folder that contains it, or install its package"
        raise ModelLoadError(
            f"{parsed.what}: there is no module {module!r} in {folder} or among the installed packages, and no "
            f"registered model of this name; {remedy}"
        )


def _near(name: str, more: Iterable[str] = ()) -> str:
    return did_you_mean(name, sorted({*registered(), *(one.name for one in all_offered()), *more}))


def fetch(spec: str, *, folder: Path) -> None:
    """Fetch the files of a published model before any worker starts; the error names all that are missing."""
    parsed, missing = _parse(spec, folder), []
    own = parsed.registered
    for part in () if own is None else _beside(own, "fetch", parsed.weights, folder) or ():
        try:
            part()
        except ModelLoadError as error:
            missing.append(str(error))
    if missing:
        raise ModelLoadError(*(missing if len(missing) == 1 else (f"{parsed.what}: files are missing", *missing)))


def _beside(spec: ModelSpec, action: str, weights: str, folder: Path) -> Any:
    # Call the function ``check`` or ``fetch`` beside the model's ``build``, if there is one.
    module, _, builder = spec.build.partition(":")
    function = getattr(importlib.import_module(module), builder.replace("build", action, 1), None)
    if not builder.startswith("build") or function is None:
        return None
    by_name = {"name": spec.name} if "name" in _parameters(function) else {}
    return function(weights, folder, **by_name)


def needs_images(spec: str) -> bool:
    """Return whether a model opens the images: not if it reads texts only, replays, or has the regions in files.

    >>> needs_images("clip"), needs_images("oracle"), needs_images("lxmert:?regions=features/")
    (True, False, False)
    """
    name, _, rest = spec.partition(":")
    known = registered().get(name)
    if known is None:  # a model from another package or of the user's own
        return True
    imageless = known.build.startswith(("vlgate.models.reference.", "vlgate.models.text."))
    return not imageless and "regions=" not in rest


def load(
    spec: str, *, folder: Path, device: str = "auto", dtype: str = "float32", seed: int = 0, worker: int = 0
) -> LoadedModel:
    check_dtype(dtype)
    parsed, made_by, named = _found(spec, folder)
    on_offer = {"dtype": dtype, "seed": seed, "weights": parsed.weights, "folder": folder, "name": parsed.name}
    arguments = {name: pick_device(device, worker) if name == "device" else on_offer[name] for name in named}
    model = _call(made_by, arguments, parsed.what)
    settings = [f"{name}={on_offer[name]}" for name in ("dtype", "seed") if name in named]
    version = parsed.offered_by or ("" if parsed.own else __version__)
    if hasattr(model, "fingerprint"):
        if not isinstance(model.fingerprint, str) or not model.fingerprint:
            raise ModelLoadError(
                f"{parsed.what}: fingerprint={model.fingerprint!r} of the model must be a non-empty string"
            )
        fingerprint = digest(parsed.name, version, model.fingerprint)
    else:
        path = path_named(parsed.weights, folder)
        weights = parsed.weights if path is None else digest_path(path)
        fingerprint = digest(digest(parsed.name, version, digest_source(made_by), weights), *settings)
    return LoadedModel(
        name=parsed.name,
        weights=parsed.weights,
        fingerprint=fingerprint,
        model=model,
        registered=parsed.registered is not None,
        device=str(arguments.get("device", "")),
    )


def takes(spec: str, argument: str, *, folder: Path) -> bool:
    return argument in _found(spec, folder)[2]


def _found(spec: str, folder: Path) -> tuple[_Spec, Callable[..., object], tuple[str, ...]]:
    parsed = _parse(spec)
    if parsed.own and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    made_by = import_target(parsed.target, parsed.what)
    return parsed, made_by, named_arguments(made_by, parsed.weights, parsed.what, parsed.registered)


def _parse(spec: str, folder: Path | None = None) -> _Spec:
    name, _, rest = spec.partition(":")
    offer = offered(name, builtin=name in registered())
    if name in registered():
        return _Spec(name=name, target=registered()[name].build, weights=rest, own=False)
    if offer is not None:
        return _Spec(name=name, target=offer.target, weights=rest, own=False, offered_by=offer.by)
    file = Path(name)
    if name.endswith(".py") and (rest or "/" in name):
        where = "" if file.parent == Path() else f" in the folder {file.parent}"
        raise ModelLoadError(
            f"model={spec!r}: {name!r} is a file, but a module is expected; drop '.py', and start{where} with "
            f"--model={file.stem}:{rest or 'build'}"
        )
    attribute, _, weights = rest.partition(":")
    if all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        target = f"{name}:{attribute}"
        return _Spec(name=target, target=target, weights=weights, own=True)
    module = name.removesuffix(".py")
    is_module = all(part.isidentifier() for part in module.split("."))
    path = None if folder is None else path_named(name, folder)
    no_code = path is not None and path.is_dir() and not (path / "__init__.py").is_file()
    if not rest and folder is not None and is_module and not no_code and can_be_found(module, folder):
        parts = module.split(".")
        ends = (end for end in range(1, len(parts)) if folder.joinpath(*parts[:end]).with_suffix(".py").is_file())
        end = next(ends, len(parts))
        target = f"{'.'.join(parts[:end])}:{'.'.join(parts[end:]) or 'build'}"
        raise ModelLoadError(
            f"model={spec!r}: a module is not yet a model; write the callable that returns the model after a colon, "
            f"did you mean {target!r}?"
        )
    plain, mark, options = spec.partition("?")
    if mark and plain in registered():
        raise ModelLoadError(f"model={spec!r}: options stand after a colon; write {plain}:?{options}")
    if folder is not None and (remedy := meant(spec, folder)):
        raise ModelLoadError(f"model={spec!r} {remedy}")
    close = _near(name)
    remedy = f"({close or 'vlgate models lists the names'}); write a model of your own as package.module:callable"
    if folder is not None and rest and not close and (named := meant(rest, folder)):
        remedy = f"before {rest!r}, which {named}"
    raise ModelLoadError(f"model={spec!r}: unknown model {name!r} {remedy}")
