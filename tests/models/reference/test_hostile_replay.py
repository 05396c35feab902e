"""Replay files that are hostile or damaged end in one line that names them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vlgate.errors import ModelLoadError
from vlgate.models.reference.replay import read_rows


def test_a_line_of_many_brackets_is_named(tmp_path):
    file = tmp_path / "replies.jsonl"
    file.write_text("{}[\n".format("[" * 100_000))
    with pytest.raises(ModelLoadError, match=r"replies\.jsonl, line 1: .*nested"):
        read_rows(file)


def test_text_in_parquet_that_is_not_utf8_is_named(tmp_path):
    file = tmp_path / "replies.parquet"
    texts = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    pq.write_table(pa.table({"image": ["a.jpg"], "text": texts, "score": [1.0]}), file)
    with pytest.raises(ModelLoadError, match=r"replies\.parquet.*utf-8"):
        read_rows(file)
