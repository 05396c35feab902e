"""Modules of a library without the code of the package they are in, which imports what nothing here uses."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any


def bare_module(package: str, name: str) -> Any:
    """Import ``package.name`` without running ``package``; a later import of the package runs its own code."""
    module, spec = f"{package}.{name}", find_spec(package)
    if package in sys.modules or spec is None:
        return import_module(module)
    sys.modules[package] = module_from_spec(spec)
    try:
        return import_module(module)
    finally:
        del sys.modules[package]  # whoever imports it later finds the modules that are there already
