"""The ways to sign in that `.streamlit/secrets.toml` sets up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit import config

from core.access.sign_in import Provider, providers
from core.errors import ConfigError

FILES = "secrets.files"


@st.cache_resource(show_spinner=False, max_entries=1)
def ways() -> tuple[Provider, ...]:
    """The providers, () where no `[auth]` is there. Errors: ConfigError listing what is wrong with it, by name: what
    was meant to keep people out never lets them in because of a misspelt key."""
    kept = _kept()
    if "auth" not in kept:
        return ()
    section = kept["auth"]
    found, problems = providers(section) if isinstance(section, Mapping) else ((), ("auth is no section",))
    if problems:
        raise ConfigError(
            "Sign-in is set up wrongly in secrets.toml.", hint="\n".join(f"- {problem}" for problem in problems)
        )
    return found


def _kept() -> Mapping[str, Any]:
    """What the secrets files say; {} where there are none. Streamlit itself takes one that it cannot read for none.

    Errors: ConfigError for a file that cannot be read, and for one that was asked for and is not there.
    """
    asked = config.is_manually_set(FILES)
    try:
        return st.secrets.to_dict()
    except (OSError, ValueError) as error:
        if not asked and not any(os.path.lexists(path) for path in st.get_option(FILES)):
            return {}
        raise ConfigError(
            "The secrets file cannot be read, so that nobody knows who has to sign in.",
            hint=f"- {type(error).__name__}: is it there, TOML, and readable for this user? docs/sign-in.md",
        ) from None
