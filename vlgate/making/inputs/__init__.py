"""The inputs of the making of data sets: captions, answered questions, dialogs, role frames and scene graphs."""
