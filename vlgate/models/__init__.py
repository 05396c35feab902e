"""Models: registered ones, those of installed packages, and the user's own callables.

``loading/models.toml`` has a row per registered model (``ModelSpec``); each family is a folder: ``dual``, ``cross``,
``generative``, ``served``, ``text``, ``regions``, ``reference``. ``checkpoints`` reads folders and hubs, ``ray`` puts a
model on a cluster. The room never sees a truth or a source, runs no foreign code unless the user's option says so, and
imports torch, transformers and Ray only inside functions.
"""

from vlgate.models.loading.registry import LoadedModel, check, load
from vlgate.models.specs import registered

__all__ = ["LoadedModel", "check", "load", "registered"]
