"""The ASGI entry: dashboard, HTTP API and MCP in one process, under `make run` and `streamlit run app.py` alike."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from core.api import build_routes, mounted
from core.api.web import Shield
from core.mcp import PATH, McpEndpoint
from pages._shared.lifespan import check_sign_in, lifespan
from pages._shared.resources import core
from pages._shared.session import sign_in_configured
from pages._shared.web.quiet import quiet_tracebacks, script_error
from pages._shared.web.site import never_asked, site

quiet_tracebacks()
check_sign_in()
mcp = McpEndpoint(core)


@asynccontextmanager
async def life(app: Any) -> AsyncIterator[dict[str, Any]]:
    """MCP ends before the core that it asks is closed."""
    async with lifespan(app) as state, mcp.running():
        yield state


app = st.App(
    str(Path(__file__).parent / "pages" / "_shared" / "frame.py"),
    routes=[*build_routes(core, sign_in_configured), *mounted(PATH, core, mcp, sign_in_configured)],
    lifespan=life,
    middleware=[Middleware(Shield, get_site=site, drop=never_asked)],
    on_script_error=script_error,
)
