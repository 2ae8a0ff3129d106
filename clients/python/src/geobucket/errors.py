"""What can go wrong, by what a program does about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class GeoBucketError(Exception):
    """A call that failed; the base of all that this package raises of its own.

    `code` and `error_code` are the service's, such as -32602 and `"INVALID_INPUT_DATA"`; they are
    None of what the client found by itself. `data` is whatever else the service said.
    """

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        error_code: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.error_code = error_code
        self.data: Mapping[str, Any] = data or {}

    @property
    def path(self) -> str | None:
        """The member of the params that is at fault, such as `bucketQuery.clause.radius`."""
        path = self.data.get("path")
        return path if isinstance(path, str) else None

    def __str__(self) -> str:
        return f"{self.message} ({self.path})" if self.path else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.message, self.code, self.error_code, dict(self.data))


def _again(
    kind: type[GeoBucketError], message: str, code: int | None, error_code: str | None, data: dict[str, Any]
) -> GeoBucketError:
    return kind(message, code=code, error_code=error_code, data=data)


class NotFound(GeoBucketError):
    """There is no such object or bucket."""


class InvalidInput(GeoBucketError, ValueError):
    """The service, or already the client, does not take these params; `path` says where."""


class Conflict(GeoBucketError):
    """The object has another version, or exists already."""


class Unauthorized(GeoBucketError):
    """A login is needed, or the token is not valid."""


class NotAllowed(GeoBucketError):
    """The login does not permit this."""


class TooManyRequests(GeoBucketError):
    """A limit of the service. The call was repeated for as long as its timeout allowed."""

    @property
    def retry_after(self) -> float | None:
        """In how many seconds to try again."""
        milliseconds = self.data.get("retryAfterMillis")
        return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


class Unavailable(GeoBucketError):
    """There is no connection, or the service cannot do this now."""


class Timeout(GeoBucketError, TimeoutError):
    """The call took longer than its timeout. A write may have been carried out."""


class Disconnected(GeoBucketError, ConnectionError):
    """The connection ended before the answer to a call that may not be repeated.

    It may have been carried out. Calls of a bucket are repeated, except an export under way.
    """


_BY_NAME: dict[str, type[GeoBucketError]] = {
    "OBJECT_NOT_FOUND": NotFound,
    "BUCKET_NOT_FOUND": NotFound,
    "INVALID_INPUT_DATA": InvalidInput,
    "QUERY_NOT_SUPPORTED": InvalidInput,
    "INVALID_BUCKET": InvalidInput,
    "INVALID_OBJECT_ID": InvalidInput,
    "OBJECT_TOO_LARGE": InvalidInput,
    "LINE_TOO_LONG": InvalidInput,
    "OBJECT_VERSION_IS_STALE": Conflict,
    "OBJECT_ALREADY_EXISTS": Conflict,
    "UNAUTHORIZED": Unauthorized,
    "WRONG_TOKEN": Unauthorized,
    "OPERATION_NOT_ALLOWED": NotAllowed,
    "TOO_MANY_REQUESTS": TooManyRequests,
    "QUERY_TIMEOUT": Unavailable,
    "TEMPORARY_UNAVAILABLE_ERROR": Unavailable,
    "STORE_FULL": Unavailable,
}


def from_answer(error: Any) -> GeoBucketError:
    """The exception for the `error` of an answer."""
    if not isinstance(error, dict):
        return GeoBucketError(f"the service sent an error that is none: {error!r:.200}")
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    name = data.get("errorCode")
    kind = _BY_NAME.get(name, GeoBucketError) if isinstance(name, str) else GeoBucketError
    code = error.get("code")
    return kind(
        str(error.get("message", "no reason is given")),
        code=code if isinstance(code, int) else None,
        error_code=name if isinstance(name, str) else None,
        data=data,
    )
