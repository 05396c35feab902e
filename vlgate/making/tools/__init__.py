"""The tools of the making of data sets, each built when it is first used."""
