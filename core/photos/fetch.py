"""Download one image from an address that somebody else wrote, without being led anywhere inside.

The name is resolved once, every address of it must be public, and the connection goes to that very address: a name
that answers differently a second time gains nothing. http.client knows no proxy and follows no redirect by itself.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from core.errors import CoreError, InputError
from core.photos.addresses import is_public

LIMIT_BYTES = 10 * 1024 * 1024
DEADLINE_S = 15.0
STEP_S = 5.0
REDIRECTS = 3
URL_LIMIT = 2000
PORTS = frozenset({80, 443})
PART = 64 * 1024
_HEADERS = {"Accept": "image/*", "Accept-Encoding": "identity", "User-Agent": "memory-desk", "Connection": "close"}

Resolve = Callable[[str, int], list[str]]


class PhotoRefused(InputError):
    """The photo may not be fetched, or is none: asking again gives the same."""

    code, status = "photo_refused", 422


class PhotoUnreachable(CoreError):
    """The photo's server did not give it; later it might."""

    code, status, retryable = "photo_unreachable", 502, True


@dataclass(frozen=True)
class Fetched:
    """The bytes as they came, and what the server called them."""

    data: bytes
    content_type: str


def resolve(host: str, port: int) -> list[str]:
    """Every address of a name. Errors: OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Fetcher:
    """`allowed`, `ports` and `resolve` are replaced in tests alone, where the server is on this machine."""

    def __init__(
        self,
        *,
        allowed: Callable[[str], bool] = is_public,
        ports: frozenset[int] | None = PORTS,
        resolve: Resolve = resolve,
        limit_bytes: int = LIMIT_BYTES,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._allowed = allowed
        self._ports = ports
        self._resolve = resolve
        self._limit = limit_bytes
        self._deadline_s = deadline_s

    def fetch(self, url: str) -> Fetched:
        """The image behind a URL, at most three redirects away. Errors: PhotoRefused, PhotoUnreachable."""
        until = time.monotonic() + self._deadline_s
        for _ in range(REDIRECTS + 1):
            parts = self._checked(url)
            answer, onward = self._ask(parts, until)
            if answer is not None:
                return answer
            try:
                following = urljoin(url, onward)
            except ValueError:
                raise _refused("leads to what is no URL") from None
            if parts.scheme == "https" and not following.lower().startswith("https:"):
                raise PhotoRefused("The photo's server leads from https to another scheme.", field="url")
            url = following
        raise PhotoRefused(f"The photo's server redirects more than {REDIRECTS} times.", field="url")

    def _checked(self, url: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            port = parts.port
            host = (parts.hostname or "").encode("idna").decode("ascii") if parts.hostname else ""
        except (ValueError, UnicodeError):
            raise _refused("is no URL") from None
        if len(url.encode()) > URL_LIMIT or any(c.isspace() or not c.isprintable() for c in url):
            raise _refused("is too long, or holds white space")
        if parts.scheme not in ("http", "https"):
            raise _refused("is neither http nor https")
        if parts.username is not None or parts.password is not None:
            raise _refused("holds a user name or a password")
        if not host:
            raise _refused("names no host")
        if self._ports is not None and (_port(parts.scheme) if port is None else port) not in self._ports:
            raise _refused("names another port than 80 or 443")
        return parts

    def _ask(self, parts: SplitResult, until: float) -> tuple[Fetched | None, str]:
        """The image, or where the server points to."""
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port or _port(parts.scheme)
        address = self._address(host, port, until)
        connection = _Pinned(host, port, address, secure=parts.scheme == "https", timeout_s=_left(until))
        # What the server says is read within one deadline, however slowly it trickles: the socket is closed at its end.
        guard = threading.Timer(max(0.0, until - time.monotonic()), connection.abort)
        guard.daemon = True
        guard.start()
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", _quoted(target), headers=_HEADERS)
            answer = connection.getresponse()
            if answer.status in (301, 302, 303, 307, 308):
                location = answer.getheader("Location")
                if not location:
                    raise PhotoUnreachable("The photo's server redirects without saying where.")
                return None, location
            if answer.status != 200:
                raise PhotoUnreachable(
                    f"The photo's server answers {answer.status}.",
                    retryable=answer.status in (408, 429, 500, 502, 503, 504),
                )
            return self._read(answer, until), ""
        except (OSError, http.client.HTTPException, ValueError) as problem:
            kind = type(problem).__name__
            if time.monotonic() >= until or isinstance(problem, TimeoutError):
                raise _late() from None
            raise PhotoUnreachable("The photo's server cannot be reached.", detail=kind) from None
        finally:
            guard.cancel()
            connection.close()

    def _address(self, host: str, port: int, until: float) -> str:
        """The address to connect to. A name with one address inside is refused whole."""
        found: list[Any] = []

        def ask() -> None:
            try:
                found.append(self._resolve(host, port))
            except (OSError, UnicodeError):
                found.append([])

        thread = threading.Thread(target=ask, name="photo dns", daemon=True)
        thread.start()
        thread.join(min(STEP_S, max(0.0, until - time.monotonic())))
        if not found:
            raise _late()
        addresses = found[0]
        if not addresses:
            raise PhotoUnreachable("The photo's host has no address.")
        if not all(self._allowed(address) for address in addresses):
            raise PhotoRefused(
                "The photo's host is not on the public internet.", hint="Upload the image instead.", field="url"
            )
        return str(addresses[0])

    def _read(self, answer: http.client.HTTPResponse, until: float) -> Fetched:
        kind = (answer.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        if not kind.startswith("image/"):
            raise PhotoRefused("What the photo's server sends is called no image.", field="url")
        if (answer.getheader("Content-Encoding") or "identity").lower() != "identity":
            raise PhotoRefused("The photo's server sends it packed.", field="url")
        declared = answer.getheader("Content-Length") or ""
        if declared.isdigit() and int(declared) > self._limit:
            raise _too_large(self._limit)
        data = bytearray()
        while part := answer.read1(PART):
            data += part
            if len(data) > self._limit:
                raise _too_large(self._limit)
            if time.monotonic() >= until:
                raise _late()
        if declared.isdigit() and len(data) < int(declared):
            raise PhotoUnreachable("The photo came only in part.")
        return Fetched(bytes(data), kind)


class _Pinned(http.client.HTTPConnection):
    """To one address, whatever the name says by now; the certificate is checked against the name."""

    def __init__(self, host: str, port: int, address: str, *, secure: bool, timeout_s: float) -> None:
        super().__init__(host, port, timeout=timeout_s)
        self._address = address
        self._secure = secure

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def abort(self) -> None:
        """Ends a read under way, from another thread."""
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _left(until: float) -> float:
    return max(0.1, min(STEP_S, until - time.monotonic()))


def _quoted(target: str) -> str:
    """Letters beyond ASCII as percent signs; what is quoted already stays."""
    return "".join(c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode()) for c in target)


def _refused(why: str) -> PhotoRefused:
    return PhotoRefused(f"The photo's address {why}.", field="url")


def _late() -> PhotoUnreachable:
    return PhotoUnreachable("The photo did not come in time.", hint="Retry, or upload the image.")


def _too_large(limit: int) -> PhotoRefused:
    return PhotoRefused(f"The photo is larger than {limit // 2**20} MB.", field="url")
