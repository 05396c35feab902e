"""Files of region features: LXMERT's TSV, VOLTA's LMDB, numpy's npz, and vlgate's own safetensors."""
