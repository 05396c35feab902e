"""The pages of docs/reference, each made from the code that it describes."""
