import pytest

from vlgate.errors import DataError
from vlgate.sources.benchmarks.quads import WINOGROUND
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.reading.tables import dataset_folder


def test_offline_without_a_copy_the_error_names_the_data_set_and_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=r"facebook/winoground: .*hf auth login"):
        dataset_folder("facebook/winoground", ["data/*.parquet"])


def test_the_protocol_reads_what_the_hub_gave(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda name, **options: asked.append((name, options)) or str(tmp_path)
    )
    options = ReadOptions(folders=(), seed=0, wanted=lambda _: True, protocols=frozenset({"winoground_hub"}))
    assert list(WINOGROUND.read(options)) == []
    assert asked == [("facebook/winoground", {"repo_type": "dataset", "allow_patterns": ["data/*.parquet"]})]


def test_without_the_protocol_nothing_is_asked_of_the_hub(monkeypatch):
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("asked"))
    assert list(WINOGROUND.read(ReadOptions(folders=(), seed=0, wanted=lambda _: True))) == []
