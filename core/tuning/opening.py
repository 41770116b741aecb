"""Labels, evaluations and the search for better boosts, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.db.client import Database
from core.embedding.provider import Embedder
from core.events.emitter import Events
from core.jobs.jobs import Jobs
from core.tuning.boost_search import BoostSearch
from core.tuning.evaluations import Evaluations
from core.tuning.fits import Fits
from core.tuning.label_files import LabelFiles
from core.tuning.label_store import LabelStore
from core.tuning.labelling import Labelling
from core.tuning.shelf import Shelf


@dataclass(frozen=True)
class Tuning:
    """What the Tuning page asks of labels and evaluations."""

    labels: Labelling
    files: LabelFiles
    evaluations: Evaluations
    boosts: BoostSearch


def open_tuning(db: Database, embedder: Callable[[], Embedder], events: Events, jobs: Jobs) -> Tuning:
    """Its kinds of job are registered; nothing is asked of database or embedder yet."""
    store, shelf = LabelStore(db), Shelf(db, embedder, events)
    fits = Fits(db)
    evaluations = Evaluations(db, store, shelf, fits, events, jobs)
    boosts = BoostSearch(evaluations, fits, events, jobs)
    return Tuning(Labelling(store, shelf, events), LabelFiles(store, events), evaluations, boosts)
