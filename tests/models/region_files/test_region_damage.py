"""Files of features that are damaged, or cut while they are open, end in an error that names them, not in a signal."""

import os

import pytest
from region_file_forms import KEYS, MADE, database, item, regions, same

from vlgate.errors import DataError, ModelLoadError
from vlgate.models.regions.feature_file import Tsv
from vlgate.models.regions.feature_lmdb import Volta
from vlgate.models.regions.feature_shards import Shards

OPENS = {"tsv": Tsv, "safetensors": Shards, "lmdb": Volta}


@pytest.mark.parametrize("form", OPENS)
def test_a_file_that_is_cut_while_it_is_open_costs_the_cases_beyond_the_cut(tmp_path, form):
    path = MADE[form](tmp_path)
    opened = OPENS[form](path)
    file = path / "data.mdb" if path.is_dir() else path
    os.truncate(file, file.stat().st_size // 4)
    with pytest.raises(DataError, match=r"record .*(cut off|killed|cannot be read)"):
        opened.read(KEYS[2])


def damaged(folder, place):
    """A database with one changed byte, counted from the length of the key of the entry "1"."""
    path = database(folder / "f.lmdb", {str(number): item(regions(number)) for number in range(3)})
    content = bytearray((path / "data.mdb").read_bytes())
    content[content.index((1).to_bytes(2, "little") + b"1") + place] = 1
    (path / "data.mdb").write_bytes(content)
    return path


def test_an_entry_that_claims_to_go_beyond_the_end_costs_its_own_case_only(tmp_path):
    opened = Volta(damaged(tmp_path, place=-3))  # its length is 16 MB more
    for _ in range(2):
        with pytest.raises(DataError, match=r"f\.lmdb, record 1: cannot be read \(the process.*damaged"):
            opened.read("1")
        same(opened.read("0"), regions(0), ("features", "boxes", "objects"))


def test_an_entry_that_lies_beyond_the_end_is_refused(tmp_path):
    with pytest.raises(ModelLoadError, match=r"f\.lmdb: cannot be read as an LMDB"):
        Volta(damaged(tmp_path, place=2 + 1 + 4))  # the number of the page where it begins


def test_a_database_whose_root_is_beyond_the_end_is_refused(tmp_path):
    file = MADE["lmdb"](tmp_path) / "data.mdb"
    content = bytearray(file.read_bytes())
    for meta in (0, 4096):  # the number of the root's page, in both pages of metadata
        content[meta + 16 + 24 + 48 + 40 + 4] = 1
    file.write_bytes(content)
    with pytest.raises(ModelLoadError, match=r"f\.lmdb: cannot be read as an LMDB"):
        Volta(file.parent)
