"""From ``--model NAME[:WEIGHTS]`` to a model.

A registered name is one line of ``registered.REGISTRY``, or an entry point that an installed package offers; anything
else is ``package.module:callable[:WEIGHTS]``. All are called in the same way: with those of the keywords ``device``
(resolved for the worker), ``dtype``, ``seed``, ``weights`` and ``folder`` that their signature names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vlgate import __version__
from vlgate.errors import ModelLoadError, nearest
from vlgate.models.device import check_dtype, pick_device
from vlgate.models.entry_points import all_offered, offered
from vlgate.models.fingerprint import digest, digest_path, digest_source
from vlgate.models.registered import CHECKS, REGISTRY
from vlgate.models.resolve import call, can_be_found, import_target, named_arguments, put_on_path


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model with its name, its weights as the user wrote them (empty for none) and its fingerprint.

    The fingerprint (64 hexadecimal digits) changes with anything that the replies depend on. A model with a
    ``prepare`` method also depends on the tables that it was given, which the fingerprint cannot know.
    """

    name: str
    weights: str
    fingerprint: str
    model: object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    name: str
    target: str
    weights: str
    own: bool
    offered_by: str = ""

    @property
    def what(self) -> str:
        """The model as the user named it, for messages."""
        named = f"model={self.name + (':' + self.weights if self.weights else '')!r}"
        return f"{named} (offered by {self.offered_by})" if self.offered_by else named


def check(spec: str, *, folder: Path | None = None) -> None:
    """Say what is wrong with a model's name before any worker starts; loads no weights, no torch and no own module.

    Args:
        spec: what the user gave to ``--model``.
        folder: where the user started; the current folder where None.

    Raises: ModelLoadError.
    """
    parsed = _parse(spec)
    folder = folder or Path.cwd()
    if not parsed.own and not parsed.offered_by:
        named_arguments(import_target(parsed.target, parsed.what), parsed.weights, parsed.what)
        if parsed.name in CHECKS:
            import_target(CHECKS[parsed.name], parsed.what)(parsed.weights, folder)
        return
    module = parsed.target.partition(":")[0]
    if not can_be_found(module, folder):
        if parsed.offered_by:
            raise ModelLoadError(f"{parsed.what}: there is no module {module!r}; install the package anew")
        known = nearest(module, sorted(REGISTRY))
        raise ModelLoadError(
            f"{parsed.what}: {module!r} is neither a registered model ({known}) nor a module that can be imported "
            f"from {folder}; start where it can be imported, or install it"
        )


def load(
    spec: str, *, folder: Path, device: str = "auto", dtype: str = "float32", seed: int = 0, worker: int = 0
) -> LoadedModel:
    """Load a model.

    Args:
        spec: a registered name or ``package.module:callable``, each with ``:WEIGHTS`` where it takes some.
        folder: where the user started; relative paths and own modules are looked for there.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
        dtype: ``float32``, ``float16`` or ``bfloat16``.
        seed: for what is random on purpose.
        worker: the number of this worker, which picks its GPU.

    Returns: the model, with its name and fingerprint. An own model may have an attribute ``fingerprint`` that says
        all that its replies depend on; without one it is its spec, its module's source, the content of its weights
        where they are a path, and the dtype and seed where it takes them.
    Raises: ModelLoadError.
    """
    parsed = _parse(spec)
    check_dtype(dtype)
    if parsed.own:
        put_on_path(folder)
    made_by = import_target(parsed.target, parsed.what)
    on_offer = {"dtype": dtype, "seed": seed, "weights": parsed.weights, "folder": folder}
    named = named_arguments(made_by, parsed.weights, parsed.what)
    arguments = {name: pick_device(device, worker) if name == "device" else on_offer[name] for name in named}
    model = call(made_by, arguments, parsed.what)
    settings = [f"{name}={on_offer[name]}" for name in ("dtype", "seed") if name in named]
    version = parsed.offered_by or ("" if parsed.own else __version__)
    fingerprint = digest(parsed.name, version, *_depends_on(model, made_by, parsed, folder))
    if not hasattr(model, "fingerprint"):
        fingerprint = digest(fingerprint, *settings)
    return LoadedModel(name=parsed.name, weights=parsed.weights, fingerprint=fingerprint, model=model)


def takes(spec: str, argument: str, *, folder: Path) -> bool:
    """Whether a model is built with an argument, such as ``dtype``; imports what builds it.

    >>> takes("oracle", "dtype", folder=Path())
    False

    Raises: ModelLoadError.
    """
    parsed = _parse(spec)
    if parsed.own:
        put_on_path(folder)
    return argument in named_arguments(import_target(parsed.target, parsed.what), parsed.weights, parsed.what)


def _depends_on(model: object, made_by: Callable[..., object], parsed: _Spec, folder: Path) -> tuple[str, ...]:
    if hasattr(model, "fingerprint"):
        if not isinstance(model.fingerprint, str) or not model.fingerprint:
            raise ModelLoadError(
                f"{parsed.what}: its fingerprint={model.fingerprint!r} must be a string that says something"
            )
        return (model.fingerprint,)
    path = folder / Path(parsed.weights).expanduser()
    weights = digest_path(path) if parsed.weights and path.exists() else parsed.weights
    return digest_source(made_by), weights


def _parse(spec: str) -> _Spec:
    name, _, rest = spec.partition(":")
    found = offered(name, builtin=name in REGISTRY)
    if name in REGISTRY:
        return _Spec(name=name, target=REGISTRY[name], weights=rest, own=False)
    if found is not None:
        return _Spec(name=name, target=found.target, weights=rest, own=False, offered_by=found.by)
    attribute, _, weights = rest.partition(":")
    if all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        target = f"{name}:{attribute}"
        return _Spec(name=target, target=target, weights=weights, own=True)
    known = nearest(name, sorted({*REGISTRY, *(one.name for one in all_offered())}))
    raise ModelLoadError(f"model={spec!r}: unknown model {name!r}; {known}; an own one is package.module:callable")
