"""The names of the tests that are generated from scene graphs, apart from the generator, which is slow to import.

Source: Jimenez et al. 2022 (CARETS), sections 3 and 4.2.
"""

from typing import Literal

Test = Literal[
    "rephrase-inv",
    "order-inv",
    "ontological-inv",
    "visual-inv",
    "negation-dir",
    "antonym-dir",
    "mirror-inv",
    "occlusion-dir",
]
Distribution = Literal["release", "uniform"]
TESTS: tuple[Test, ...] = ("rephrase-inv", "order-inv", "ontological-inv", "visual-inv", "negation-dir", "antonym-dir")
BEYOND: tuple[Test, ...] = ("mirror-inv", "occlusion-dir")
"""Two more: left and right in the mirrored image, and the object of the question or another one covered."""
VISUAL = ("blur3", "blur6", "blur9", "mask", "crop")
"""The five image perturbations of VISUAL-INV (section 4.2 d); each question has a pair of each."""
