"""Files, pasted text and snapshots on their way into memory: read once, looked at, then ingested as a job."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.access.roles import permit
from core.errors import ConflictError, CoreError, InputError
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.memory.notices import Notice
from core.memory.windows import count_windows, split_windows
from core.services.ingest import IngestService
from core.services.intake_job import Capture, IntakeJob
from core.services.prepared import Preview, PreviewChunk
from core.services.upload_files import Line, UploadFiles
from core.services.uploads import SIZE_LIMIT, UploadedBody, read_upload

KIND = "ingest_upload"
PROBLEMS_SHOWN = 50
WINDOWS_PREVIEWED = 12  # each is two questions to the database


@dataclass(frozen=True)
class Staged:
    """An upload that was read and waits to be looked at. `windows`: ingests it takes in windows of 80; `long`: dialogs
    with more than 80 messages; `older`: messages that plain ingests would leave out. `problems`: the first 50."""

    sha: str
    dialogs: int
    windows: int
    long: int
    older: int
    unread: int = 0
    problems: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class DialogPreview:
    """One dialog of an upload before it is written: a preview, or why it would be refused. `windows`: how many it
    takes; `previewed`: how many of them the preview speaks of, at most 12."""

    number: int
    label: str
    preview: Preview | None = None
    refused: CoreError | None = None
    windows: int = 1
    older: int = 0
    previewed: int = 1


class IntakeService:
    """One per process, thread-safe. `capture` writes snapshots beside an ingest, and never fails it."""

    def __init__(self, ingest: IngestService, files: UploadFiles, jobs: Jobs, capture: Capture | None = None) -> None:
        self._ingest = ingest
        self.files = files
        self._jobs = jobs
        self.can_capture = capture is not None
        handler = IntakeJob(ingest, files, capture)
        jobs.register(KIND, handler, action="ingest", title="Ingest", local=True, ended=self._ended)
        jobs.hourly(files.sweep)

    def stage(self, files: Sequence[tuple[str, bytes]]) -> Staged:
        """Read files (JSON, JSON lines, ZIP) and keep their dialogs; nothing is ingested. Files are known by their
        number from here on: a file of one dialog is often called as its person.

        Errors: Forbidden, InputError where not one dialog could be read, naming the reason.
        """
        permit("ingest")
        numbered = enumerate((data for _, data in files), start=1)
        uploads = [read_upload(f"file {number}", data, numbered=True) for number, data in numbered]
        bodies = [body for upload in uploads for body in upload.bodies]
        problems = [problem for upload in uploads for problem in upload.problems]
        if not bodies:
            why = "; ".join(f"{p.field}: {p.message}" for p in problems[:5]) or "No file was given."
            raise InputError("No dialog could be read.", hint=why, field="upload")
        return self._keep(bodies, problems)

    def stage_text(self, text: str) -> Staged:
        """The same for pasted JSON or JSON lines."""
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > SIZE_LIMIT:
            raise InputError("The pasted text is larger than a file may be.", field="text")
        return self.stage([("pasted text", data)])

    def stage_body(self, label: str, body: Mapping[str, Any]) -> Staged:
        """The same for one body that was made here, as from a snapshot."""
        permit("ingest")
        return self._keep([UploadedBody(label, dict(body))], [])

    def preview(self, sha: str, *, windows: bool, start: int = 0, limit: int = 5) -> list[DialogPreview]:
        """What an ingest of these dialogs would do now. Errors: InputError where the upload is gone, DatabaseError,
        ProviderMissing."""
        permit("preview_ingest")
        lines = (line for line in self.files.lines(sha) if line.body is not None)
        return [self._preview(line, windows) for line in islice(lines, start, start + limit)]

    def start(self, staged: Staged, *, windows: bool, capture: bool = False, id: str | None = None) -> Job:
        """Ingest it as a job. Errors: Forbidden, JobRunning, InputError where the upload is gone, DatabaseError."""
        params = {
            "sha256": staged.sha,
            "dialogs": staged.dialogs,
            "steps": (staged.windows if windows else staged.dialogs) + staged.unread,
            "windows": windows,
            "capture": capture and self.can_capture,
        }
        id = id or str(uuid.uuid4())
        self.files.hand_over(staged.sha, id)  # before the job is there: a worker may take it at once
        try:
            job = self._jobs.start(KIND, params, key=f"{KIND}:{staged.sha}", id=id)
        except ConflictError:
            self.files.let_go(staged.sha, id)
            raise
        if not job.live:
            self.files.let_go(staged.sha, id)
        return job

    def discard(self, sha: str) -> None:
        """Forget an upload that nobody wants to ingest."""
        self.files.remove(sha)

    def results(self, job_id: str) -> Iterator[dict[str, Any]]:
        """Per dialog: label, and key with counts or the error that refused it. Kept for seven days."""
        return self.files.results(job_id)

    def refused(self, job_id: str) -> list[dict[str, Any]]:
        """Those that were refused: label, code, field and message, no text of a dialog."""
        return [{"label": row["label"], **row["error"]} for row in self.results(job_id) if "error" in row]

    def _keep(self, bodies: Sequence[UploadedBody], problems: Sequence[Notice]) -> Staged:
        windows = long = older = 0
        for item in bodies:
            try:
                needed, left = count_windows(item.body)
            except InputError:
                needed, left = 1, 0
            windows, long, older = windows + needed, long + (left > 0), older + left
        rows = [{"label": item.label, "body": item.body} for item in bodies]
        unread = [{"label": problem.field, "problem": problem.message} for problem in problems]
        sha = self.files.keep([*rows, *unread])
        return Staged(sha, len(bodies), windows, long, older, len(problems), tuple(problems[:PROBLEMS_SHOWN]))

    def _preview(self, line: Line, windows: bool) -> DialogPreview:
        body = line.body or {}
        try:
            needed, older = count_windows(body)
            parts = split_windows(body)[:WINDOWS_PREVIEWED] if windows else [body]
            previews = [self._ingest.preview(part) for part in parts]
        except (InputError, ConflictError) as refused:
            return DialogPreview(line.number, line.label, refused=refused)
        return DialogPreview(line.number, line.label, _united(previews), None, needed, older, len(parts))

    def _ended(self, job: Job) -> None:
        self.files.let_go(str(job.params["sha256"]), job.id)
        self.files.remove(str(job.params["sha256"]))


def _united(previews: Sequence[Preview]) -> Preview:
    """Windows of one dialog as one preview: every chunk once."""
    first = previews[0]
    if len(previews) == 1:
        return first
    chunks: dict[str, PreviewChunk] = {}
    for preview in previews:
        for item in preview.chunks:
            chunks.setdefault(item.chunk.content_hash, item)
    notices = tuple(dict.fromkeys(n for preview in previews for n in preview.notices))
    return Preview(
        dialog_key=first.dialog_key,
        key_order=first.key_order,
        key_reason=first.key_reason,
        favorite_id=first.favorite_id,
        ru_id=first.ru_id,
        tu_id=first.tu_id,
        chunks=tuple(chunks.values()),
        notices=notices,
        model=first.model,
    )


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as JSON lines: the file of the refused ones."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
