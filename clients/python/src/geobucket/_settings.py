"""What a client is made with: addresses, login, TLS, bounds."""

from __future__ import annotations

import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union
from urllib.parse import urlsplit

PORT = 4362
Path = Union[str, "os.PathLike[str]"]


class Address(NamedTuple):
    """Where a service listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Settings:
    """What all connections of a client have in common. Times are seconds."""

    addresses: Sequence[Address]
    tls: ssl.SSLContext | None = None
    token: str | None = field(default=None, repr=False)
    #: A call with all its attempts.
    timeout: float = 30.0
    #: One attempt to connect, TLS and login included.
    connect_timeout: float = 10.0
    #: For how long calls wait while no address can be reached.
    retry_time: float = 15.0
    #: Between attempts: doubled from the first to the longest, each a random part of it.
    first_pause: float = 0.05
    longest_pause: float = 2.0
    #: How long a connection with watches may be silent before it is asked.
    check_time: float = 45.0
    #: Requests and bytes without an answer on the connection; one request may be larger.
    pipelined: int = 256
    pipelined_bytes: int = 4 << 20
    #: Calls that wait to be sent; a further one fails.
    waiting: int = 10_000
    #: Bytes of one answer.
    answer_bytes: int = 256 << 20
    decimals: bool = False
    datetimes: bool = False


def addresses(names: str | Sequence[str]) -> tuple[tuple[Address, ...], bool]:
    """The addresses, and whether they are of TLS.

    A name is `HOST`, `HOST:PORT`, `geobucket://HOST:PORT` or `geobuckets://HOST:PORT`; several stand
    in a sequence or between commas.
    """
    parts = names.split(",") if isinstance(names, str) else list(names)
    schemes, found = set(), []
    for part in parts:
        scheme, separator, rest = part.strip().rpartition("://")
        if separator and scheme not in ("geobucket", "geobuckets"):
            raise ValueError(f"{part.strip()}: an address begins with geobucket:// or geobuckets://, or with neither")
        # A scheme holds for those that follow: geobuckets://a:1,b:1
        schemes.update([scheme] if separator else [])
        if rest.count(":") > 1 and not rest.startswith("["):
            rest = f"[{rest}]"
        try:
            url = urlsplit(f"//{rest}")
            host, port = url.hostname, url.port
        except ValueError as error:
            raise ValueError(f"{part.strip()} is no address: {error}") from None
        if not host or url.path.strip("/") or url.query or url.username:
            raise ValueError(f"{part.strip()!r} is no address, such as localhost:{PORT}")
        found.append(Address(host, PORT if port is None else port))
    if len(schemes) > 1:
        raise ValueError("some addresses are of TLS and some are not")
    return tuple(found), schemes == {"geobuckets"}


def tls_context(
    secure: bool,
    tls: bool | ssl.SSLContext | None,
    ca: Path | None,
    certificate: Path | None,
    key: Path | None,
) -> ssl.SSLContext | None:
    """The context that arguments ask for; None for plain text.

    - tls: True, or a context of the caller's own.
    - ca: a PEM file of trusted roots in place of the system's.
    - certificate, key: the client's own, PEM files.
    """
    if isinstance(tls, ssl.SSLContext):
        return tls
    if tls is False and (secure or ca or certificate):
        raise ValueError("tls=False does not go with geobuckets://, ca or certificate")
    if not (tls or secure or ca or certificate):
        return None
    context = ssl.create_default_context(cafile=os.fspath(ca) if ca else None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate:
        context.load_cert_chain(os.fspath(certificate), os.fspath(key) if key else None)
    return context


def make_settings(
    names: str | Sequence[str],
    token: str | None,
    tls: tuple[bool | ssl.SSLContext | None, Path | None, Path | None, Path | None],
    options: dict[str, Any],
) -> Settings:
    """The settings that the arguments of `connect` mean.

    - Raises: `ValueError`, `TypeError` for an option that does not exist.
    """
    found, secure = addresses(names)
    settings = Settings(found, tls_context(secure, *tls), token, **options)
    for name in ("timeout", "connect_timeout", "pipelined", "pipelined_bytes", "waiting", "answer_bytes"):
        if not getattr(settings, name) > 0:
            raise ValueError(f"{name} must be greater than 0")
    return settings
