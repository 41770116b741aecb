"""Which addresses of the internet may be asked for a photo: public ones, and nothing inside. Pure."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Public by their number, yet answered by the cloud's own machinery: Azure's host channel.
INSIDE = frozenset({ipaddress.ip_address("168.63.129.16")})
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.ip_network("::/96")
# Named here because the standard library calls some of them global, depending on its version.
_SPECIAL = tuple(
    ipaddress.ip_network(net)
    for net in ("192.0.0.0/24", "192.88.99.0/24", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16")
)


def is_public(text: str) -> bool:
    """Whether an address may be connected to: no private, loopback, link-local (cloud metadata), multicast, shared
    (CGNAT), reserved or unspecified one, nor an IPv6 address that carries an IPv4 one inside."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and _carries_ipv4(address):
        return False
    odd = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    odd = odd or getattr(address, "is_site_local", False) or any(address in network for network in _SPECIAL)
    return address.is_global and not odd and address not in INSIDE


def _carries_ipv4(address: ipaddress.IPv6Address) -> bool:
    """Mapped, compatible, 6to4, Teredo, NAT64: where such a packet ends is decided elsewhere."""
    if address.ipv4_mapped or address.sixtofour or address.teredo or address in _COMPATIBLE:
        return True
    return any(address in network for network in _NAT64)
