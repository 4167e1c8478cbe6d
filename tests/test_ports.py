"""Ports that tests choose for their services."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ports
from tests.ports import free_port
from tests.processes import ROOT


def test_no_outgoing_connection_is_given_a_chosen_port():
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert not first <= free_port() <= last


@pytest.mark.matrix
def test_no_two_processes_choose_the_same_port():
    ours = {free_port() for _ in range(20)}
    program = "from tests.ports import free_port; print(*(free_port() for _ in range(20)))"
    printed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    theirs = set(map(int, printed.stdout.split()))
    assert (len(ours), len(theirs), ours & theirs) == (20, 20, set())


def test_a_port_on_which_somebody_listens_is_not_chosen():
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        ports._held.pop().close()
        assert free_port() != port
