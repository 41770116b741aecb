"""Who may what, and how that is changed: by administrators alone, each change with its event in one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, get_args

from core.access.checking import TokenCheck
from core.access.masking import Known, Mask
from core.access.people import Directory, Person
from core.access.roles import Role, acting, permit
from core.access.rulebook import Rulebook
from core.access.rules import RoleRule, default_roles, is_public, overruled, parse, roles_for
from core.access.sessions import Sessions
from core.access.store import AccessStore
from core.access.tokens import DAYS, DEFAULT_DAYS, REASON, ApiToken, check, digest, new_token
from core.clock import Clock
from core.config import Settings
from core.db.client import Database
from core.errors import ConflictError, InputError, NotFound
from core.events.emitter import Events

TOKENS_AT_ONCE = 100


class AccessDesk:
    """Thread-safe; one per process. `rulebook` says who has which role, `bearer` whose token it is, `sessions` who is
    signed in: they are asked before anybody has a role."""

    def __init__(
        self, db: Database, events: Events, clock: Clock, settings: Settings, directory: Directory | None = None
    ) -> None:
        self._store = AccessStore(db)
        self._events = events
        self._clock = clock
        self._settings = settings
        self.rulebook = Rulebook(self._store, settings)
        self.bearer = TokenCheck(self._store, clock)
        self.sessions = Sessions(db, events, clock, self.rulebook, settings.session_hours)
        self._directory: Directory = directory or self.sessions

    def rules(self) -> tuple[RoleRule, ...]:
        """Those of the settings, then those of the database. Errors: Forbidden, DatabaseError."""
        permit("access")
        return self.rulebook.configured + self._store.rules()

    def set_rule(
        self,
        who: str,
        roles: Iterable[str],
        *,
        sign_in: bool = True,
        me: Mapping[str, Any] | None = None,
        sure: bool = False,
    ) -> bool:
        """Give whoever `who` fits exactly these roles; False where they had them.

        `sign_in`: whether it is set up; then the last rule that makes an administrator stays. `me`: the claims of the
        one who asks, who has to be `sure` to take away their own. Errors: InputError, ConflictError, DatabaseError.
        """
        permit("change_access")
        kind, value = parse(who)
        held = frozenset(role for role in get_args(Role) if role in set(roles))
        if not held or held != frozenset(roles):
            raise InputError("A rule gives at least one role.", hint="To give none, drop the rule.", field="roles")
        rules = self.rules()
        made = RoleRule(kind, value, held, "database")
        if overruled(made, rules):
            raise ConflictError(
                "The settings say something of exactly this already, and they come first.",
                hint="Change them there, or name somebody more exactly.",
            )
        kept = tuple(rule for rule in rules if (rule.origin, rule.kind, rule.value) != ("database", kind, value))
        self._not_oneself(me, rules, (*kept, made), sure)
        event = self._events.prepare("RoleRuleSet", {}, collection="desk_role_rules")
        answer = self._store.set_rule(
            str(uuid.uuid4()),
            kind,
            value,
            held,
            by=acting().display_name,
            at=self._clock.now(),
            keep_admin=self._guarded(sign_in),
            ignored=_ignored(rules),
            event=event,
        )
        self._done(answer)
        if answer["changed"]:
            self._events.announce(event)
        return bool(answer["changed"])

    def drop_rule(
        self, id: str, *, sign_in: bool = True, me: Mapping[str, Any] | None = None, sure: bool = False
    ) -> None:
        """End a rule of the database. Errors: as `set_rule`, and NotFound."""
        permit("change_access")
        rules = self.rules()
        if not any(rule.id == id for rule in rules):
            raise NotFound("This rule does not hold any more.", hint="Reload the page.")
        self._not_oneself(me, rules, tuple(rule for rule in rules if rule.id != id), sure)
        event = self._events.prepare("RoleRuleDropped", {}, collection="desk_role_rules")
        answer = self._store.drop_rule(
            id, at=self._clock.now(), keep_admin=self._guarded(sign_in), ignored=_ignored(rules), event=event
        )
        self._done(answer)
        if answer["dropped"]:
            self._events.announce(event)

    def tokens(self) -> tuple[ApiToken, ...]:
        """Those that are revoked last, else the newest first. Errors: Forbidden, DatabaseError."""
        permit("access")
        return self._store.tokens()

    def create_token(
        self, name: str, roles: Iterable[str], *, days: int | None = DEFAULT_DAYS, reveal_reason: str | None = None
    ) -> tuple[ApiToken, str]:
        """A token and its whole text, which nobody can be shown again. `days` None: it does not expire.

        Errors: InputError naming the field, ConflictError where there are too many, DatabaseError.
        """
        permit("change_access")
        name, reason, held = name.strip(), " ".join((reveal_reason or "").split()) or None, frozenset(roles)
        check(name, held, reason)
        reason = reason and Mask(Known()).text(reason)[: REASON[1]]  # it is shown to all administrators
        if days is not None and not 1 <= days <= DAYS:
            raise InputError(f"A token lives for 1 to {DAYS:,} days.", field="days")
        now = self._clock.now()
        id, secret = new_token()
        expires = now + timedelta(days=days) if days is not None else None
        token = ApiToken(id, name, held, reason, acting().display_name, now, expires)
        facts = {"token_id": id, "roles": sorted(held), "expires_at": expires, "unmasked": reason is not None}
        event = self._events.prepare("ApiTokenCreated", facts, record_id=id, collection="desk_api_tokens")
        answer = self._store.create_token(token, digest(secret), TOKENS_AT_ONCE, event)
        if "refused" in answer:
            raise ConflictError(f"There are {TOKENS_AT_ONCE} tokens in force already.", hint="Revoke one first.")
        self._events.announce(event)
        return token, secret

    def revoke_token(self, id: str) -> None:
        """It opens nothing from now on here, and within five seconds elsewhere. Errors: NotFound, DatabaseError."""
        permit("change_access")
        if not any(token.id == id for token in self._store.tokens()):
            raise NotFound("There is no such token.", hint="List the tokens.")
        event = self._events.prepare("ApiTokenRevoked", {"token_id": id}, record_id=id, collection="desk_api_tokens")
        try:
            done = self._store.revoke_token(id, self._clock.now(), event)
        finally:
            self.bearer.forget()  # also where only the answer was lost
        if done:
            self._events.announce(event)

    def people(self) -> tuple[Person, ...]:
        """Whoever signed in, the latest first; nobody where no sign-in is set up. Errors: Forbidden, DatabaseError."""
        permit("access")
        return self._directory.people()

    def end_sessions(self, principal_id: str) -> int:
        """Sign somebody out everywhere; how many sessions that ended. Errors: Forbidden, NotFound, DatabaseError."""
        permit("change_access")
        event = self._events.prepare("SessionsEnded", {"person": principal_id}, record_id=principal_id)
        done = self._directory.end_sessions(principal_id, self._clock.now(), event)
        if done is None:
            raise NotFound("Nobody of that name was here.", hint="Reload the page.")
        self._events.announce(event)
        return done

    def _guarded(self, sign_in: bool) -> bool:
        """Whether the last rule of the database that makes an administrator has to stay."""
        return sign_in and not any("admin" in rule.roles for rule in self.rulebook.configured)

    def _done(self, answer: Mapping[str, Any]) -> None:
        self.rulebook.forget()
        if answer.get("refused") == "last_admin":
            raise ConflictError(
                "Nobody would be an administrator any more.",
                hint="Make somebody else one first, here or with MEMORY_DESK_ADMINS.",
            )

    def _not_oneself(
        self, me: Mapping[str, Any] | None, before: tuple[RoleRule, ...], after: tuple[RoleRule, ...], sure: bool
    ) -> None:
        if me is None or sure:
            return
        public = is_public(str(me.get("iss") or ""))
        default = default_roles(self._settings, public)
        if "admin" in roles_for(me, before, default, public=public) and "admin" not in roles_for(
            me, after, default, public=public
        ):
            raise OwnRole(
                "You would take away your own role of an administrator.",
                hint="Say that you mean it, or let somebody else do it.",
            )


class OwnRole(ConflictError):
    """Somebody would lose what they need to take this back."""

    code = "own_role"


def _ignored(rules: Iterable[RoleRule]) -> list[str]:
    every = tuple(rules)
    return [rule.id for rule in every if rule.id is not None and overruled(rule, every)]
