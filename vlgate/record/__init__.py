"""A finished run, read back from the files of its folder."""
