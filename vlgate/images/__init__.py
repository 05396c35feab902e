"""Image files, decoded to upright RGB when a model asks for them.

It never trusts a file: its name, its size, its content.
"""
