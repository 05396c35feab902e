"""A user's own cases: their files, what each line becomes, and the boxes of images."""
