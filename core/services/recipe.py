"""The switch between embedding recipes: what it costs, why it is refused, and its start."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from core.access.roles import permit
from core.db.client import Database
from core.embedding.recipe import RECIPES, Recipe, model_name
from core.errors import InputError
from core.events.emitter import Events
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.services.embedder import ActiveEmbedder
from core.services.other_writer import AnotherWriter, OtherWriter, other_writer
from core.services.recipe_setting import RecipeSetting
from core.services.recipe_switch import RecipeSwitch
from core.services.reembed import CHARACTERS_A_TOKEN, Price, ReembedService
from core.services.reembed import KIND as REEMBED

KIND = "recipe"
NAME_CHARACTERS = 8  # what a name and its colon add to a text, about


@dataclass(frozen=True)
class RecipePreview:
    """What a switch would take. `messages` get a new vector, less `waiting`, which have theirs from a switch that was
    stopped; every other chunk keeps its vector.

    `tokens` and `minutes` are estimates; `minutes` is None where nobody has measured, `cost_usd` where the model costs
    money and no price is known. `refused` says why it may not be, in words.
    """

    active: Recipe
    target: Recipe
    from_model: str
    to_model: str
    chunks: int
    messages: int
    waiting: int
    tokens: int
    minutes: float | None
    rate_per_s: float | None
    paid: bool
    cost_usd: Decimal | None
    writer: OtherWriter
    refused: str | None
    running: Job | None

    @property
    def to_embed(self) -> int:
        return self.messages - self.waiting


class RecipeService:
    """One per process, thread-safe."""

    def __init__(
        self,
        db: Database,
        embedder: ActiveEmbedder,
        setting: RecipeSetting,
        events: Events,
        jobs: Jobs,
        reembed: ReembedService,
        price: Price | None = None,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._setting = setting
        self._jobs = jobs
        self._reembed = reembed
        self._price = price
        jobs.register(
            KIND, RecipeSwitch(db, embedder, setting, events).run, action="switch_recipe", title="Switch recipe"
        )
        jobs.hourly(self._prune)

    def active(self) -> Recipe:
        """The recipe whose rows are searched, as the database has it. Errors: DatabaseError."""
        return self._setting.fresh()

    def preview(self, target: str, *, measure: bool = True) -> RecipePreview:
        """What a switch to `target` would do and take. Errors: Forbidden, InputError for a recipe that does not exist,
        those of the embedder, DatabaseError."""
        permit("switch_recipe")
        recipe = next((known for known in RECIPES if known == target), None)
        if recipe is None:
            raise InputError("There is no such recipe.", hint=f"Recipes: {', '.join(RECIPES)}.", field="recipe")
        base, active = self._embedder.base(), self._setting.fresh()
        source, goal = model_name(base.name, active), model_name(base.name, recipe)
        held = self._db.rpc("desk_recipe_summary", {"p_from": source, "p_to": goal}, read=True, returns=dict)
        messages, waiting = int(held["messages"]), int(held["waiting"])
        named = (messages - waiting) * NAME_CHARACTERS if recipe == "speaker" else 0
        tokens = -(-(int(held["characters"]) + named) // CHARACTERS_A_TOKEN)
        paid = base.name.startswith("gemini-")
        rate = self._reembed.rate(base, measure=measure and not paid and messages > waiting, of_model=source)
        price = self._price(base.name) if paid and self._price else None
        writer = other_writer(self._db, base.name)
        return RecipePreview(
            active=active,
            target=recipe,
            from_model=source,
            to_model=goal,
            chunks=int(held["chunks"]),
            messages=messages,
            waiting=waiting,
            tokens=tokens,
            minutes=(messages - waiting) / rate / 60 if rate else None,
            rate_per_s=rate,
            paid=paid,
            cost_usd=price * tokens / 1_000_000 if price is not None else None,
            writer=writer,
            refused=writer.refusal(recipe),
            running=self._running(),
        )

    def start(self, target: str, *, id: str | None = None) -> Job:
        """Start the switch; never beside another one or a re-embedding. Going on with one that was stopped is the same.

        Errors: AnotherWriter, InputError where it is the active one already, JobRunning, Forbidden, DatabaseError.
        """
        found = self.preview(target, measure=False)
        if found.active == found.target and (id is None or found.running is None):
            raise InputError(f"The recipe is {found.target} already.", hint="Nothing has to be done.", field="recipe")
        if found.refused:
            raise AnotherWriter(found.refused, hint="Switch when it has been silent for 30 days.")
        params = {"recipe": found.target, "from": found.from_model, "to": found.to_model, "messages": found.messages}
        return self._jobs.start(KIND, params, key=REEMBED, id=id)

    def _running(self) -> Job | None:
        live = self._jobs.list(live=True, limit=100).rows
        return next((job for job in live if job.kind in (KIND, REEMBED)), None)

    def _prune(self) -> None:
        self._db.rpc("desk_prune_recipe_vectors", {}, read=False, returns=dict)
