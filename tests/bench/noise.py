# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A window whose session floods, until it is ended."""

import sys
from types import SimpleNamespace

from servers import our_session, prompt

server = SimpleNamespace(port=int(sys.argv[1]), folder=sys.argv[2])
client, session = our_session(server)
while True:
    prompt(client, session, "flood 100000 200")
    client.bytes_until(b'"result":{"stopReason"')
