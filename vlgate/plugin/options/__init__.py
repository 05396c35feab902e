"""The options of the command line: their names and help texts, and one record of what the user gave."""
