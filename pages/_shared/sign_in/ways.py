"""The ways to sign in that `.streamlit/secrets.toml` sets up."""

from __future__ import annotations

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from core.access.sign_in import Provider, providers
from core.errors import ConfigError


@st.cache_resource(show_spinner=False, max_entries=1)
def ways() -> tuple[Provider, ...]:
    """The providers, () where no `[auth]` is there. Errors: ConfigError listing what is wrong with it, by name: what
    was meant to keep people out never lets them in because of a misspelt key."""
    section = get_secrets_auth_section().to_dict()
    if not section:
        return ()
    found, problems = providers(section)
    if problems:
        raise ConfigError(
            "Sign-in is set up wrongly in secrets.toml.", hint="\n".join(f"- {problem}" for problem in problems)
        )
    return found
