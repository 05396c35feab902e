"""The kinds of data that ``vlgate make`` makes, one module for each kind or family of kinds."""
