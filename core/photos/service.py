"""Photos into words: fetch or take an upload, look, store as chunk and in the snapshot; one by one or as a job.

Off without its own consent, MEMORY_DESK_PHOTO_ANALYSIS=on, and a Gemini key: pictures of people leave the machine.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder, check_vectors
from core.errors import CoreError, DatabaseError, NotFound
from core.events.emitter import Events
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.memory.chunks import Chunk
from core.memory.keys import chunk_hash
from core.memory.store import ChunkStore, Owner, chunk_rows
from core.memory.tags import tags_of
from core.photos.batch import describe_all
from core.photos.fetch import Fetcher
from core.photos.image import safe_jpeg
from core.photos.vision import GeminiVision, Look, VisionMissing
from core.photos.words import photo_text
from core.snapshots.rows import Snapshot
from core.snapshots.store import SnapshotStore

log = logging.getLogger(__name__)

KIND = "photos"
ACTION = "photos_describe"
PAGE = 25

Tokens = Callable[[str, Look], None]


@dataclass(frozen=True)
class Photo:
    """A photo chunk that holds a URL and no words; `source_id` is the URL."""

    id: str
    dialog_key: str
    source_id: str
    client_id: str | None = None
    woman_id: str | None = None
    favorite_id: str | None = None
    compose_mode: str = "both"
    updated_at: str | None = None


@dataclass(frozen=True)
class PhotoPage:
    """Photos without words: a page of them, how many there are, of how many photos."""

    rows: tuple[Photo, ...]
    total: int
    photos: int


@dataclass(frozen=True)
class Described:
    """What was written of one photo: the chunk's text, and whether the snapshot took it (upstream's row is kept)."""

    dialog_key: str
    text: str
    added: bool
    snapshot: bool
    model: str


class PhotoService:
    """One per process, thread-safe."""

    def __init__(
        self,
        db: Database,
        events: Events,
        clock: Clock,
        embedder: Callable[[], Embedder],
        jobs: Jobs,
        *,
        vision: GeminiVision | None,
        missing: tuple[str, ...] = (),
        fetcher: Fetcher | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._db = db
        self._chunks = ChunkStore(db)
        self._snapshots = SnapshotStore(db)
        self._events = events
        self._clock = clock
        self._embedder = embedder
        self._jobs = jobs
        self._vision = vision
        self.missing = missing
        self._fetcher = fetcher or Fetcher()
        self._tokens = tokens
        jobs.register(KIND, lambda run: describe_all(self, run), action=ACTION, title="Describe photos")

    def waiting(self, *, limit: int = PAGE, after: str | None = None, dialog_key: str | None = None) -> PhotoPage:
        """Photos without words, by id. Errors: DatabaseError. SQL: desk_photos_without_text."""
        params = {"p_limit": limit, "p_after": after, "p_dialog_key": dialog_key}
        found = self._db.rpc("desk_photos_without_text", params, read=True, returns=dict)
        names = {f.name for f in fields(Photo)}
        rows = tuple(Photo(**{k: v for k, v in row.items() if k in names}) for row in found["rows"])
        return PhotoPage(rows, int(found["total"]), int(found["photos"]))

    def describe(self, photo: Photo, *, upload: bytes | None = None) -> Described:
        """Look at one photo, fetched from its URL or uploaded, and store what is seen.

        Errors: Forbidden, VisionMissing (says what to set), PhotoRefused, PhotoUnreachable, other ProviderErrors,
        DatabaseError.
        """
        permit(ACTION)
        vision = self.ready()
        began = time.perf_counter()
        try:
            jpeg = safe_jpeg(upload if upload is not None else self._fetcher.fetch(photo.source_id).data)
            look = vision.look(jpeg)
            if self._tokens:
                self._tokens(photo.dialog_key, look)
            described = self._store(photo, look)
        except CoreError as failure:
            self._emit("PhotoFailed", photo, error_class=type(failure).__name__)
            raise
        self._emit(
            "PhotoDescribed",
            photo,
            model=look.model,
            added=described.added,
            snapshot=described.snapshot,
            uploaded=upload is not None,
            duration_ms=round((time.perf_counter() - began) * 1000, 1),
        )
        return described

    def find(self, photo_id: str) -> Photo:
        """One photo chunk by its id. Errors: NotFound, DatabaseError."""
        columns = ",".join(f.name for f in fields(Photo)) + ",source"
        rows = self._db.sample("client_memory_chunks", columns, order="id", limit=1, where={"id": photo_id})
        if not rows or rows[0].pop("source") != "photo":
            raise NotFound("This photo is not there.", hint="Reload the page.")
        return Photo(**rows[0])

    def start(self, *, id: str | None = None) -> Job:
        """Describe every photo without words, as a job. Errors: Forbidden, VisionMissing, JobRunning, DatabaseError."""
        self.ready()
        return self._jobs.start(KIND, {}, key=KIND, id=id)

    def close(self) -> None:
        """Let go of the connection to Gemini."""
        if self._vision is not None:
            self._vision.close()

    def ready(self) -> GeminiVision:
        """What looks at photos. Errors: VisionMissing, saying what to set."""
        if self._vision is None:
            raise VisionMissing(
                f"Photos cannot be described: {' and '.join(self.missing)} is missing.",
                hint="It sends pictures of people to Google, so it needs its own consent besides the key.",
            )
        return self._vision

    def _store(self, photo: Photo, look: Look) -> Described:
        text = photo_text(look.seen)
        chunk = Chunk(
            source="photo",
            source_id=photo.source_id,
            text=text,
            content_hash=chunk_hash(photo.dialog_key, "photo", photo.source_id, text),
            tags=tags_of("photo", text),
            original_id=f"photo-text:{photo.source_id}",
        )
        owner = Owner(
            photo.dialog_key,
            photo.client_id,
            photo.woman_id,
            photo.favorite_id or photo.dialog_key,
            photo.compose_mode,
        )
        embedder = self._embedder()
        vectors = check_vectors(embedder.embed_documents([text]), 1)
        rows = chunk_rows(owner, [chunk], {chunk.content_hash: vectors[0]}, embedder.name)
        written = self._chunks.write(owner, rows, {"photo": 1}, [chunk.content_hash])
        return Described(photo.dialog_key, text, written.added > 0, self._keep_snapshot(photo, look, text), look.model)

    def _keep_snapshot(self, photo: Photo, look: Look, text: str) -> bool:
        """Beside the chunk, which stands: a snapshot that cannot be written is no failure of the whole."""
        row = Snapshot(
            dialog_key=photo.dialog_key,
            sync_date=self._clock.now().date().isoformat(),
            entity_type="photo",
            source_role="ru",
            source_id="ru",
            payload={"url": photo.source_id, "vision": {**look.seen.model_dump(), "model": look.model}},
            ru_id=photo.client_id,
            tu_id=photo.woman_id,
            text=text,
        )
        try:
            captured = self._snapshots.capture([row])
            return captured.kept == 0
        except DatabaseError as failure:
            log.warning("the description of a photo is in no snapshot (%s)", failure.code)
            return False

    def _emit(self, event: str, photo: Photo, **payload: object) -> None:
        # The URL may hold a name: its hash tells two photos apart as well.
        facts = {"photo_hash": hashlib.sha256(photo.source_id.encode()).hexdigest(), **payload}
        self._events.emit(event, {"dialog_key": photo.dialog_key, **facts}, record_id=photo.dialog_key)
