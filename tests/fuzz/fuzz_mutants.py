"""Mutants of a file: each follows from its seed, so that a failure can be made again from two numbers."""

import json
import os
import random
from pathlib import Path

ODD = (
    None, True, False, 0, -1, 2**63, 10**400, -(10**30), 1e308, 0.1, "", " ", "\x00", "\ud800", "\ufeff", "é" * 300,
    "../../../etc/passwd", "/etc/passwd", "~", "a/" * 3000, "x" * 5000, "%s{}{0}", "\x1b[31m", "1" * 5000, [], {}, [[]],
    {"": {}}, [None], {"id": []}, ["a", 1, None],
)  # fmt: skip
TEXTS = (
    b"", b"\x00",
    b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 20_000, b'{"a":' * 20_000, b"1" * 10_000, b"NaN", b"1e999", b"-0",
    b"\\ud800", b"\r", b"\n\n", b"\t", b'"', b"\\", b"\xe2\x80\xae", b"\x7f", b"null", b"true",
)  # fmt: skip
PLACES = {
    "folder": Path.mkdir,
    "missing": lambda _: None,
    "loop": lambda file: file.symlink_to(file.name),
    "pipe": os.mkfifo,
    "unreadable": lambda file: (file.write_bytes(b"{}"), file.chmod(0)),
    "empty": Path.touch,
    "device": lambda file: file.symlink_to("/dev/null"),
}
"""What stands in the place of the file itself in one mutant of forty."""


def mutant(content, seed):
    """Return the bytes of a mutant, or the name of one of ``PLACES``."""
    chance = random.Random(seed)
    if chance.random() < 1 / 40:
        return chance.choice(tuple(PLACES))
    if chance.random() < 0.5:
        changed = _of_json(content, chance)
        if changed is not None:
            return changed
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        content = chance.choice(_BYTES)(content, chance)
    return content


def put(file, made):
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    file.unlink(missing_ok=True)
    if isinstance(made, bytes):
        file.write_bytes(made)
    else:
        PLACES[made](file)


def _flip(content, chance):
    found = bytearray(content)
    if found:
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def _set(content, chance):
    found = bytearray(content)
    if found:
        found[chance.randrange(len(found))] = chance.choice(
            (0, 255, 127, 10, 9, 34, 92, 91, 123, chance.randrange(256))
        )
    return bytes(found)


def _insert(content, chance):
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.choice(TEXTS) + content[place:]


def _delete(content, chance):
    start = chance.randrange(len(content) + 1)
    return content[:start] + content[start + chance.choice((1, 2, 16, 300)) :]


def _cut(content, chance):
    return content[: chance.randrange(len(content) + 1)]


def _double(content, chance):
    start = chance.randrange(len(content) + 1)
    end = min(len(content), start + chance.choice((1, 20, 2000)))
    return content[:end] + content[start:]


def _number(content, chance):
    """Change the digits after a place, as in a length or an offset."""
    found = bytearray(content)
    places = [index for index, byte in enumerate(found[:100_000]) if 48 <= byte < 58]
    if not places:
        return _set(content, chance)
    place = chance.choice(places)
    return bytes(found[:place] + chance.choice((b"-1", b"0", b"9" * 20, b"1e400", b"9" * 5000)) + found[place + 1 :])


def _recoded(content, chance):
    text = content.decode("utf-8", "replace")
    code = chance.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32", "cp500"))
    return text.encode(code, "replace")


_BYTES = (_flip, _flip, _set, _insert, _delete, _cut, _double, _number, _recoded)


def _of_json(content, chance):
    """Change a value of a JSON text, or of one line of it; None if it is none."""
    try:
        lines = [content] if content.lstrip()[:1] == b"[" or content.count(b"\n") < 2 else content.split(b"\n")
        place = chance.randrange(len(lines))
        value = json.loads(lines[place])
    except ValueError:
        try:
            lines, place, value = [content], 0, json.loads(content)
        except ValueError:
            return None
    for _ in range(chance.choice((1, 1, 1, 2, 6))):
        value = _changed(value, chance)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.05:  # a key twice
        text = text.replace("{", '{"id": 7, "id": 8, ', 1)
    lines[place] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _changed(value, chance):
    if isinstance(value, dict) and value and chance.random() < 0.85:
        return _changed_object(value, chance)
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        how = chance.randrange(5)
        if how == 0:
            return value[:place] + value[place + 1 :]
        if how == 1:
            return [*value, value[place]]
        if how == 2:
            return value[::-1]
        return [*value[:place], _changed(value[place], chance), *value[place + 1 :]]
    return chance.choice((*ODD, [value], {"a": value}, str(value), [value] * 50))


def _changed_object(value, chance):
    key = chance.choice(list(value))
    how = chance.randrange(6)
    rest = {name: one for name, one in value.items() if name != key}
    if how == 0:
        return rest
    if how == 1:
        name = chance.choice((key.upper(), key + " ", "", "\x00", "\ud800", "x" * 3000, "a/../b"))
        return {**rest, str(name): value[key]}
    if how == 2:
        return {**value, key: value[chance.choice(list(value))]}
    return {**value, key: _changed(value[key], chance)}
