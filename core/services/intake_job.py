"""The job that ingests an upload: dialog by dialog, refused ones named, to be taken up again where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from core.errors import ConflictError, CoreError, IncompatibleRows, InputError, ProviderError, ProviderMissing
from core.jobs.run import Interrupted, JobRun
from core.memory.ingest import IngestResult
from core.memory.notices import Notice
from core.memory.payload import Normalised, normalise, with_key
from core.memory.windows import split_windows
from core.services.ingest import IngestService
from core.services.upload_files import Line, UploadFiles

log = logging.getLogger(__name__)

COUNTS = ("dialogs", "refused", "chunks", "added", "unchanged", "reembedded", "warnings")
REFUSALS_IN_A_ROW = 3  # of the embedder: then it is not the dialog's fault

Capture = Callable[[Mapping[str, Any], Normalised], Any]  # gives a Notice where something was odd


@dataclass
class _Tally:
    """Where a job stands, as its cursor holds it: the next line, steps done, bytes of results, counts so far."""

    line: int = 0
    steps: int = 0
    results: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def add(self, row: Mapping[str, Any]) -> None:
        if "error" in row:
            self.counts["refused"] += 1
        elif "erased" not in row:
            self.counts["dialogs"] += 1
            self.counts["warnings"] += len(row["warnings"])
            for name in ("chunks", "added", "unchanged", "reembedded"):
                self.counts[name] += row[name]


class IntakeJob:
    """Handler of the kind. A step is one ingest; the cursor is saved after each dialog, which is idempotent."""

    def __init__(self, ingest: IngestService, files: UploadFiles, capture: Capture | None) -> None:
        self._ingest = ingest
        self._files = files
        self._capture = capture

    def __call__(self, run: JobRun) -> Mapping[str, Any]:
        """Errors: what stops the whole job: a database or embedder that is away, rows that are not ours."""
        tally = _Tally(**dict(run.cursor)) if run.cursor else _Tally()
        steps, refusals = int(run.params["steps"]), 0
        run.result.update(tally.counts)
        for line in self._files.lines(run.params["sha256"], run.job.id, tally.line):
            run.check()
            run.progress(tally.steps, steps, f"Dialog {line.number + 1:,} of {run.params['dialogs']:,}")
            row, took, failure = self._one(run, line, tally.steps, steps)
            refusals = refusals + 1 if isinstance(failure, ProviderError) else 0
            if failure is not None and refusals >= REFUSALS_IN_A_ROW:
                raise failure
            tally.add(row)
            tally.steps += took
            tally.results = self._files.add_result(run.job.id, tally.results, row)
            tally.line = line.number + 1
            run.result.update(tally.counts)
            run.progress(tally.steps, steps)
            run.save(asdict(tally))
        return tally.counts

    def _one(self, run: JobRun, line: Line, before: int, steps: int) -> tuple[dict[str, Any], int, CoreError | None]:
        """One dialog: its result, the steps it took, and the error where it was refused for a reason of its own."""
        if line.erased:
            return {"label": line.label, "erased": 1}, 1, None
        if line.body is None:
            return _refused(line, {"code": "unreadable", "message": line.problem}), 1, None
        bodies: list[dict[str, Any]] = [line.body]
        done: list[IngestResult] = []
        try:
            if run.params.get("windows"):
                bodies = split_windows(line.body)
            for body in bodies:
                run.check()
                done.append(self._ingest.ingest(body, upload=True))
                run.progress(before + len(done), steps)
            return self._written(line, done, bool(run.params.get("capture"))), len(bodies), None
        except Interrupted:
            for name, number in _sums(done).items():  # the windows that were written stay
                run.result[name] = run.result.get(name, 0) + number
            raise
        except CoreError as failure:
            if not _is_its_own(failure):
                raise
            said = {"code": failure.code, "field": failure.field, "message": failure.what, "hint": failure.hint}
            return _refused(line, said, len(done)), len(bodies), failure
        except Exception as bug:  # one dialog's payload must not end the others' ingest
            log.error("job %s, line %d: %s", run.job.id, line.number, type(bug).__name__)
            said = {"code": "internal", "message": "An error of the dashboard."}
            return _refused(line, said, len(done)), len(bodies), None

    def _written(self, line: Line, done: Sequence[IngestResult], capture: bool) -> dict[str, Any]:
        last = done[-1]
        notices = dict.fromkeys(notice for result in done for notice in result.warnings)
        if capture and self._capture is not None and line.body is not None and last.total_chunks:
            # Under the key that the chunks got.
            noted = self._capture(line.body, with_key(normalise(line.body), last.dialog_key))
            if isinstance(noted, Notice):
                notices[noted] = None
        return {
            "label": line.label,
            "dialogKey": last.dialog_key,
            "keyReason": last.key_reason,
            **_sums(done),
            "ingests": len(done),
            "warnings": [{"field": n.field, "message": n.message} for n in notices],
        }


def _sums(done: Sequence[IngestResult]) -> dict[str, int]:
    """Profile, photo and notes come with every window; they are counted with the first."""
    chunks = sum(r.total_chunks if n == 0 else r.sources.get("conversation", 0) for n, r in enumerate(done))
    added, reembedded = sum(r.added for r in done), sum(r.reembedded for r in done)
    return {"chunks": chunks, "added": added, "unchanged": chunks - added - reembedded, "reembedded": reembedded}


def _refused(line: Line, error: Mapping[str, Any], done: int = 0) -> dict[str, Any]:
    """`ingests`: windows of it that were written before the one that was refused."""
    row = {"label": line.label, "error": {name: value for name, value in error.items() if value}}
    return {**row, "ingests": done} if done else row


def _is_its_own(error: CoreError) -> bool:
    """Whether the fault lies with this dialog, so that the next one may do better."""
    if isinstance(error, IncompatibleRows) or error.retryable:
        return False
    if isinstance(error, ProviderError):
        return not isinstance(error, ProviderMissing)
    return isinstance(error, (InputError, ConflictError))
