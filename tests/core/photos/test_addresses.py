"""Which addresses a photo may come from."""

from __future__ import annotations

import pytest

from core.photos.addresses import is_public


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "172.32.0.1", "2606:4700:4700::1111"])
def test_public(address: str) -> None:
    """What the internet routes."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
        "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::", "2001:db8::1", "100::1",
        "", "localhost", "2130706433", "0177.0.0.1",
    ],
)  # fmt: skip
def test_not_public(address: str) -> None:
    """Private, loopback, link-local and cloud metadata, shared, documentation, multicast, reserved, IPv4 in IPv6."""
    assert not is_public(address)
