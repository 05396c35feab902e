"""Reads the text after ``openai:`` in ``--model``: a service's address, the model's name there, and options."""

from __future__ import annotations

import ipaddress
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.specs import registered, split_options

FORM = "expected openai:https://HOST/v1#MODEL?option=value&..., for example openai:http://localhost:8000/v1#llava"
KEY = "OPENAI_API_KEY"
OPTIONS = tuple(sorted(registered()["openai"].options))
_NUMBERS = {"concurrency": 256, "max_tokens": 1_000_000, "rpm": 1_000_000, "size": 65_536, "timeout": 86_400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A served model: its address without ``/chat/completions``, its name there, and its options; 0 means unlimited."""

    url: str
    name: str
    concurrency: int = 8
    rpm: int = 0
    timeout: int = 120
    retries: int = 5
    max_tokens: int = 512
    form: Literal["png", "jpeg"] = "png"
    size: int = 0
    key_env: str = KEY
    logprobs: bool = True
    loopback: bool = False


class Key:
    """An API key that only the service sees: ``repr`` hides it, and so do logs, reports and tracebacks."""

    __slots__ = ("_value",)
    _SHORTEST = 8  # a shorter one ("EMPTY") is not a secret, and may be a word of an answer

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Key(***)"

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def cleaned(self, value: object) -> object:
        """A service's parsed JSON, with ``***`` in place of the key."""
        if isinstance(value, str) and len(self._value) >= self._SHORTEST:
            return value.replace(self._value, "***")
        if isinstance(value, list):
            return [self.cleaned(part) for part in value]
        if isinstance(value, dict):
            return {self.cleaned(name): self.cleaned(part) for name, part in value.items()}
        return value


def parse(weights: str) -> Place:
    """Parse ``URL#MODEL?option=value&...``; use no network."""
    tail = weights.partition("?")[2]
    for option in (part.partition("=")[0] for part in tail.split("&") if tail):
        if option not in OPTIONS:  # its value is not shown: that of api_key=... must not reach a log
            known = nearest(option, OPTIONS) if re.fullmatch(r"\w{1,20}", option) else f"known are {', '.join(OPTIONS)}"
            shown = f"unknown option {option!r}" if re.fullmatch(r"[a-z_]{1,20}", option) else "an unknown option"
            raise ModelLoadError(f"openai: {shown}; {known}; set the key in the environment; options come last")
    place, options = split_options(weights, OPTIONS)
    address, _, name = place.partition("#")
    loopback = _check_address(address, insecure=_flag(options, "insecure", default=False))
    if not name:
        raise ModelLoadError(f"openai:{address} names no model; {FORM}")
    if not re.fullmatch(r"[A-Za-z_]\w*", options.get("key_env", KEY)):
        raise ModelLoadError(f"openai: key_env is not the name of an environment variable; write key_env={KEY}")
    form = options.get("format", "png")
    if form not in ("png", "jpeg"):
        raise ModelLoadError(f"openai: format={form!r} is unknown; {nearest(form, ('png', 'jpeg'))}")
    return Place(
        url=address.rstrip("/").removesuffix("/chat/completions"),
        name=name,
        form="png" if form == "png" else "jpeg",
        key_env=options.get("key_env", KEY),
        logprobs=_flag(options, "logprobs", default=True),
        loopback=loopback,
        retries=_number(options, "retries", 0, 100, default=5),
        **{option: _number(options, option, 1, most) for option, most in _NUMBERS.items() if option in options},
    )


def key_of(place: Place) -> Key:
    value = os.environ.get(place.key_env, "").strip()
    if not value and place.key_env != KEY:  # the name is not shown either: it may be the key itself
        raise ModelLoadError("openai: the environment variable that key_env names is not set or is empty; export it")
    if not all("!" <= letter <= "~" for letter in value):
        raise ModelLoadError(f"openai: the key in {place.key_env} holds blanks or non-ASCII characters; copy it again")
    return Key(value)


def _check_address(address: str, *, insecure: bool) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise ModelLoadError(f"openai: the address cannot be parsed; {FORM}") from None
    if parts.username is not None or parts.password is not None:
        raise ModelLoadError("openai: the address holds a user or password; put the key into an environment variable")
    plain = address.isprintable() and all("!" <= letter <= "~" for letter in parts.path)
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not plain:
        raise ModelLoadError(f"openai:{address!r} is not the address of a service; {FORM}")
    loopback = parts.hostname == "localhost"
    with suppress(ValueError):
        ip = ipaddress.ip_address(parts.hostname)
        loopback = loopback or ip.is_loopback or ip.is_unspecified  # servers on all interfaces print 0.0.0.0
    if parts.scheme == "http" and not loopback and not insecure:
        raise ModelLoadError(
            f"openai:{address} would send the key and all images unencrypted to another machine; use https, or add "
            "insecure=1 if you trust the network in between"
        )
    return loopback


def _flag(options: dict[str, str], name: str, *, default: bool) -> bool:
    value = options.get(name, str(int(default)))
    if value not in ("0", "1"):
        raise ModelLoadError(f"openai: {name}={value!r}; write {name}=1 or {name}=0")
    return value == "1"


def _number(options: dict[str, str], name: str, least: int, most: int, *, default: int = 0) -> int:
    value = options.get(name, str(default))
    if not value.isascii() or not value.isdecimal() or not least <= int(value) <= most:
        raise ModelLoadError(f"openai: {name}={value!r}; expected a whole number from {least} to {most}")
    return int(value)
