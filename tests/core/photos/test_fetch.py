"""A download that cannot be led inside."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from core.photos.fetch import LIMIT_BYTES, Fetcher, PhotoRefused, PhotoUnreachable
from tests.core.photos.web import Web, png

PNG = {"Content-Type": "image/png"}


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()


def test_an_image(web: Web) -> None:
    """The bytes, what they are called, and the name in the request although the connection goes to an address."""
    found = web.fetcher().fetch(web.url())
    assert (found.data, found.content_type) == (png(), "image/png")
    assert web.asked == [(f"photos.example:{web.port}", "/p.png")]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/p.png", "file:///etc/passwd", "gopher://example.org/", "data:image/png;base64,AA",
        "//x/p.png", "p.png", "http://", "http:///p.png", "https://user@example.org/p.png", "https://user:pw@example.org/p.png",
        "http://example.org:22/", "http://example.org:5432/p.png", "https://example.org:8443/p.png",
        "http://example.org:0/", "http://example.org:99999/", "http://exa mple.org/", "http://example.org/a\nb",
        "http://[::1", "http://example.org/" + "a" * 2100,
    ],
)  # fmt: skip
def test_addresses_that_are_refused_unasked(url: str) -> None:
    """Scheme, credentials, port, form: no name is looked up."""

    def never(host: str, port: int) -> list[str]:
        raise AssertionError("looked up")

    with pytest.raises(PhotoRefused):
        Fetcher(resolve=never).fetch(url)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], ["10.0.0.5"], ["169.254.169.254"], ["100.64.3.4"], ["224.0.0.1"], ["0.0.0.0"], ["::1"],
        ["fe80::1"], ["fd00:ec2::254"], ["::ffff:10.0.0.5"], ["93.184.215.14", "10.0.0.5"],
        ["10.0.0.5", "93.184.215.14"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_names_that_lead_inside(addresses: list[str], scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One such address among several is enough; nothing is connected to."""
    monkeypatch.setattr("socket.create_connection", lambda *a, **k: pytest.fail("connected"))
    with pytest.raises(PhotoRefused, match="not on the public internet"):
        Fetcher(resolve=lambda host, port: addresses).fetch(f"{scheme}://photos.example/p.png")


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "017700000001", "127.1", "[::1]", "0"]
)
def test_other_ways_to_write_this_machine(host: str) -> None:
    """Whatever the resolver makes of them is what is judged."""
    with pytest.raises((PhotoRefused, PhotoUnreachable)):
        Fetcher().fetch(f"http://{host}/p.png")


def test_a_name_that_changes_its_mind(web: Web) -> None:
    """Asked once; the connection goes to the address that was judged."""
    answers = [["127.0.0.1"], ["10.0.0.5"]]
    found = web.fetcher(resolve=lambda host, port: answers.pop(0)).fetch(web.url())
    assert found.data and len(answers) == 1


def test_redirects_are_judged_anew(web: Web) -> None:
    """The second name leads inside: refused, and never asked."""
    web.answers["/go"] = (302, {"Location": "http://metadata.internal/latest/meta-data"}, b"")
    inside = {"metadata.internal": ["169.254.169.254"]}
    fetcher = web.fetcher(resolve=lambda host, port: inside.get(host, ["127.0.0.1"]))
    with pytest.raises(PhotoRefused, match="public internet"):
        fetcher.fetch(web.url("/go"))
    assert [path for _, path in web.asked] == ["/go"]


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://user@photos.example/p.png", "ftp://photos.example/p", "http://[::1"]
)
def test_redirects_to_what_is_no_web_address(web: Web, location: str) -> None:
    """The same rules as for the first."""
    web.answers["/go"] = (301, {"Location": location}, b"")
    with pytest.raises(PhotoRefused):
        web.fetcher().fetch(web.url("/go"))


def test_a_redirect_to_another_port_is_refused_in_earnest(web: Web) -> None:
    """With the ports of production."""
    web.answers["/go"] = (302, {"Location": "http://photos.example:5432/"}, b"")
    with pytest.raises(PhotoRefused, match="port"):
        web.fetcher(ports=frozenset({80, 443, web.port})).fetch(web.url("/go"))


def test_three_redirects_and_no_more(web: Web) -> None:
    """Relative ones too; a circle ends."""
    for n in range(1, 5):
        web.answers[f"/{n}"] = (307, {"Location": f"/{n - 1}" if n > 1 else "/p.png"}, b"")
    assert web.fetcher().fetch(web.url("/3")).data
    with pytest.raises(PhotoRefused, match="redirects more than 3"):
        web.fetcher().fetch(web.url("/4"))
    web.answers["/round"] = (302, {"Location": "/round"}, b"")
    with pytest.raises(PhotoRefused):
        web.fetcher().fetch(web.url("/round"))


def test_size(web: Web) -> None:
    """Declared or not, over the limit is refused, and no more than the limit is read."""
    web.answers["/said"] = (200, {**PNG, "Content-Length": str(LIMIT_BYTES + 1)}, b"")
    web.answers["/unsaid"] = (200, PNG, b"x" * 3000)
    for path, limit in (("/said", LIMIT_BYTES), ("/unsaid", 2000)):
        with pytest.raises(PhotoRefused, match="larger"):
            web.fetcher(limit_bytes=limit).fetch(web.url(path))
    assert len(web.fetcher(limit_bytes=3000).fetch(web.url("/unsaid")).data) == 3000


@pytest.mark.parametrize("kind", ["text/html", "application/octet-stream", "", "imagex/png"])
def test_only_what_is_called_an_image(web: Web, kind: str) -> None:
    """A login page, a download, nothing."""
    web.answers["/x"] = (200, {"Content-Type": kind} if kind else {}, png())
    with pytest.raises(PhotoRefused, match="no image"):
        web.fetcher().fetch(web.url("/x"))


def test_a_packed_body_is_refused(web: Web) -> None:
    """A small answer may unpack to a huge one."""
    web.answers["/x"] = (200, {**PNG, "Content-Encoding": "gzip"}, b"x")
    with pytest.raises(PhotoRefused, match="packed"):
        web.fetcher().fetch(web.url("/x"))


def test_a_body_that_trickles(web: Web) -> None:
    """One deadline for the whole, however little comes at a time."""
    web.answers["/slow"] = (200, {**PNG, "X-Trickle": "0.1"}, b"x" * 200)
    began = time.monotonic()
    with pytest.raises(PhotoUnreachable, match="in time"):
        web.fetcher(deadline_s=0.7).fetch(web.url("/slow"))
    assert time.monotonic() - began < 3


def test_a_name_server_that_hangs(web: Web) -> None:
    """Part of the same deadline."""

    def hang(host: str, port: int) -> list[str]:
        time.sleep(3)
        return ["127.0.0.1"]

    began = time.monotonic()
    with pytest.raises(PhotoUnreachable):
        web.fetcher(resolve=hang, deadline_s=0.3).fetch(web.url())
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(("status", "again"), [(404, False), (403, False), (429, True), (500, True), (204, False)])
def test_other_answers(web: Web, status: int, again: bool) -> None:
    """Whether a retry is worth it."""
    web.answers["/x"] = (status, PNG, b"")
    with pytest.raises(PhotoUnreachable) as caught:
        web.fetcher().fetch(web.url("/x"))
    assert caught.value.retryable is again


def test_a_body_cut_short(web: Web) -> None:
    """Half an image is none."""
    web.answers["/x"] = (200, {**PNG, "Content-Length": "5000"}, b"half")
    with pytest.raises(PhotoUnreachable):
        web.fetcher().fetch(web.url("/x"))


def test_nobody_there(web: Web) -> None:
    """No name and no path of it in the words."""
    url = web.url("/secret-name.png")
    web.close()
    with pytest.raises(PhotoUnreachable) as caught:
        web.fetcher().fetch(url)
    assert "secret-name" not in str(caught.value) and "photos.example" not in str(caught.value)


def test_no_proxy_is_asked(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would resolve the name by itself."""
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert web.fetcher().fetch(web.url()).data


def test_letters_beyond_ascii(web: Web) -> None:
    """In the path quoted, in the name as IDNA."""
    web.answers["/%D0%BB%D1%8E%D0%B4%D0%B8.png"] = (200, PNG, png())
    assert web.fetcher().fetch(web.url("/люди.png", host="фото.example")).data
    assert web.asked[0][0].startswith("xn--")
