"""A member of an .npz file without the ending .npy comes as bytes, and is refused."""

import zipfile

import numpy as np
import pytest

from vlgate.errors import ModelLoadError
from vlgate.models.regions.feature_shards import Npz


def test_a_member_that_is_not_an_array_is_refused(tmp_path):
    file = tmp_path / "f.npz"
    np.savez(file, images=np.array(["a"]), boxes=np.zeros((1, 2, 4)))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("features", b"bytes")
    with pytest.raises(ModelLoadError, match=r"f\.npz"):
        Npz(file)
