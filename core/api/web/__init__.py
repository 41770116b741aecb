"""What stands between the network and everything that is served: an ASGI middleware and its rules."""

from core.api.web.hosts import names_of
from core.api.web.shield import Shield
from core.api.web.site import Site

__all__ = ["Shield", "Site", "names_of"]
