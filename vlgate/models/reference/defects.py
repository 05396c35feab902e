"""``reader``, the reading oracle of the drawn scenes, and ``defect:NAME``, the same with one faculty broken."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import ModelLoadError, nearest
from vlgate.fixtures.reader.defects import DEFECTS
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.models.reference.blind import Blind
from vlgate.models.reference.controls import Constant, Random


def reader() -> Reader:
    return Reader()


_CONTROLS: Mapping[str, tuple[str, Callable[[int], object]]] = MappingProxyType(
    {
        "constant": ("Always gives the same reply.", lambda _: Constant()),
        "random": ("Replies with a hash of the request.", Random),
        "blind": ("Replies with what the words of other texts tell, and sees no image.", lambda _: Blind()),
    }
)
SAYS: Mapping[str, str] = MappingProxyType(
    {name: says for name, (says, _) in _CONTROLS.items()} | {name: defect.says for name, defect in DEFECTS.items()}
)  # what is broken, in a sentence, by the name of the defect


def check(weights: str, _: Path) -> None:
    if weights not in SAYS:
        raise ModelLoadError(f"there is no defect {weights!r}; {nearest(weights, SAYS)}")


def build(weights: str, seed: int = 0) -> object:
    return defective(weights, seed, Reading())


def defective(name: str, seed: int, reading: Reading) -> object:
    check(name, Path())
    return _CONTROLS[name][1](seed) if name in _CONTROLS else DEFECTS[name].build(reading)
