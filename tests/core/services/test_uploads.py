"""Files that people hand in: never fewer dialogs than they hold, never a guess in silence."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from core.services.uploads import as_body, read_upload

DIALOGS = [
    {"dialogKey": f"k{n}", "conversationJson": {"messages": [{"id": f"m{n}", "body": f"text {n}"}]}} for n in (1, 2, 3)
]
LINES = "\n".join(json.dumps(dialog) for dialog in DIALOGS)


def bodies(name: str, data: bytes) -> list[dict]:
    return [item.body for item in read_upload(name, data).bodies]


@pytest.mark.parametrize(
    "data",
    [
        LINES.encode(),
        b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode() + b"\r\n\r\n",
        json.dumps(DIALOGS).encode(),
        json.dumps(DIALOGS, indent=2).encode("utf-16"),
    ],
    ids=["plain lines", "BOM, CRLF and a blank line", "a list", "UTF-16 with BOM"],
)
def test_the_same_dialogs_come_out_of_every_form(data: bytes) -> None:
    """A byte-order mark, CRLF, blank lines or another encoding change nothing: three dialogs, no problem."""
    upload = read_upload("three.jsonl", data)
    assert [item.body for item in upload.bodies] == DIALOGS
    assert not upload.problems


def test_a_zip_packed_on_a_mac_holds_its_dialogs_alone() -> None:
    """Side files are passed over and not counted as refused."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, dialog in zip(("d1.json", "d2.json", "sub/d3.json"), DIALOGS, strict=True):
            archive.writestr(name, json.dumps(dialog))
        archive.writestr("__MACOSX/._d1.json", b"\x00\x05\x16\x07binary")
        archive.writestr(".DS_Store", b"\x00\x00")
    upload = read_upload("all.zip", packed.getvalue())
    assert [item.body for item in upload.bodies] == DIALOGS
    assert [item.label for item in upload.bodies][2] == "all.zip: sub/d3.json"
    assert not upload.problems


def test_one_broken_line_is_named_and_the_others_are_read() -> None:
    """A line that is no JSON costs that line only, and its number is said."""
    lines = LINES.split("\n")
    upload = read_upload("x.jsonl", "\n".join([lines[0], '{"cut', lines[2]]).encode())
    assert [item.body for item in upload.bodies] == [DIALOGS[0], DIALOGS[2]]
    assert [problem.field for problem in upload.problems] == ["x.jsonl, line 2"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n", "empty"),
        (b"hello", "not JSON"),
        (b"hello\nworld", "neither JSON nor JSON lines"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"3", "a JSON object, or a list"),
        (b'{"a": NaN}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"PK\x03\x04 not an archive", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, says: str) -> None:
    """No dialog, one problem with a reason, and never an exception."""
    upload = read_upload("f", data)
    assert not upload.bodies
    assert [says in problem.message for problem in upload.problems] == [True]


def test_a_line_separator_inside_a_string_does_not_end_the_line() -> None:
    """U+2028 may stand unescaped in JSON: only a line feed parts the lines."""
    line = json.dumps({"conversationJson": [{"body": "a\u2028b\u0085c"}]}, ensure_ascii=False)
    assert len(bodies("x.jsonl", f"{line}\n{line}".encode())) == 2


def test_an_upstream_payload_becomes_the_conversation_of_a_body() -> None:
    """A payload as upstream sends it is wrapped; ids and key at its root count as those of the request."""
    payload = {"data": {"favorite": {"id": 1}}, "ruId": "r", "dialogKey": "k"}
    assert as_body(payload) == {"conversationJson": payload, "ruId": "r", "dialogKey": "k"}
    messages = [{"id": 1, "body": "hi"}]
    assert bodies("m.json", json.dumps(messages).encode()) == [{"conversationJson": messages}]


def test_a_large_file_of_lines_is_read_and_one_large_dialog_is_not() -> None:
    """The limit is that of one dialog, not of the file; what is over it is named."""
    line = json.dumps({"dialogKey": "k", "conversationJson": {"messages": [], "pad": "x" * 8_000_000}}).encode()
    assert len(read_upload("big.jsonl", b"\n".join([line] * 3)).bodies) == 3
    alone = read_upload("one.json", line[:-3] + b"x" * 14_000_000 + b'"}}')
    assert not alone.bodies
    assert "more than 20 MB" in alone.problems[0].message


def test_a_zip_that_unpacks_to_too_much_is_not_unpacked() -> None:
    """A small archive of a huge file is refused by the size it declares."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.json", b" " * (21 * 1024 * 1024))
    upload = read_upload("bomb.zip", packed.getvalue())
    assert not upload.bodies
    assert "more than the limit" in upload.problems[0].message


def test_a_zip_of_very_many_files_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """One refusal for all of them; as many as there may be are read."""
    monkeypatch.setattr("core.services.uploads.MEMBERS", 3)
    for files, read in ((3, 3), (4, 0)):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for number in range(files):
                archive.writestr(f"{number}.json", json.dumps({"dialogKey": f"k{number}", "conversationJson": {}}))
        upload = read_upload("many.zip", packed.getvalue())
        assert len(upload.bodies) == read
        assert len(upload.problems) == (not read)
