"""Train ``tiny-lxmert`` and ``tiny-clip``, the models that are shipped, and their twins that see a blank image.

``make train`` runs this: half an hour on two cores with bfloat16, an hour without. The models go to
``fixtures/checkpoints``, the twins and the log to ``build/train``. Everything is drawn; ``--seed`` decides the scenes
and the random weights.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from train.recipe import CLIP, LXMERT, TRIAL, Amounts, train

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=ROOT / "fixtures/checkpoints", help="folder of the two models")
    parser.add_argument("--work", type=Path, default=ROOT / "build/train", help="folder of the twins and the log")
    parser.add_argument("--seed", type=int, default=0, help="decides the scenes and the random weights")
    parser.add_argument("--trial", action="store_true", help="a few steps only, to see that it runs")
    parser.add_argument("--only", choices=[LXMERT, CLIP], help="train one of the models")
    parser.add_argument("--no-twin", action="store_true", help="leave out the twins")
    given = parser.parse_args()
    names = [given.only] if given.only else [LXMERT, CLIP]
    amounts = replace(TRIAL if given.trial else Amounts(), twins=not given.no_twin)
    train(given.out, given.work, given.seed, amounts, names)


if __name__ == "__main__":
    main()
