"""What the tests of decoding are given."""

import pytest

from vlgate.images.files import decode


@pytest.fixture
def decoded(tmp_path):
    """Return a function that writes bytes into a file and decodes it."""

    def decode_bytes(content, name="a.jpg"):
        path = tmp_path / name
        path.write_bytes(content)
        return decode(path, "key")

    return decode_bytes
