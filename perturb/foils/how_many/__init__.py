"""How-many questions turned into statements: what is counted, its number, and what is told about it."""
