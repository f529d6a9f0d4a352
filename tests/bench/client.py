# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A websocket client that costs next to nothing, so that what is measured is the server."""

import base64
import json
import os
import socket
import struct


class Client:
    """Blocking; reads bytes first and takes frames apart afterwards."""

    def __init__(self, port, path="/", token=None, ndjson=False, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(60)
        head = [
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        if token:
            head.append(f"Authorization: token {token}")
        if ndjson:
            head.append("Sec-WebSocket-Protocol: acp.ndjson")
        self.socket.sendall("\r\n".join([*head, "", ""]).encode())
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError(data.decode())
            data += part
        answer, self.rest = data.split(b"\r\n\r\n", 1)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise ConnectionError(answer.decode())
        self.last_id = 0

    def close(self):
        self.socket.close()

    def send(self, message):
        data = json.dumps(message).encode()
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        # A mask of zeros is a mask: the payload stays as it is.
        self.socket.sendall(head + b"\0\0\0\0" + data)

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def bytes_until(self, marker):
        """Read until a marker has come; return everything read."""
        parts, tail = [self.rest], self.rest
        self.rest = b""
        while marker not in tail:
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("closed")
            parts.append(data)
            tail = tail[-len(marker) :] + data
        return b"".join(parts)

    def messages(self):
        """Yield messages as they come."""
        buffer = bytearray(self.rest)
        self.rest = b""
        while True:
            frame, used = one_frame(buffer)
            if frame is None:
                data = self.socket.recv(1 << 20)
                if not data:
                    return
                buffer += data
                continue
            del buffer[:used]
            self.rest = bytes(buffer) if len(buffer) < 65536 else b""
            for line in frame.split(b"\n"):
                if line:
                    yield line

    def ask(self, method, params):
        id = self.request(method, params)
        data = self.bytes_until(b'"id":%d,' % id)
        for frame in frames(data):
            for line in frame.split(b"\n"):
                message = json.loads(line)
                if message.get("id") == id and "method" not in message:
                    if "error" in message:
                        raise RuntimeError(message["error"])
                    return message["result"]
        raise RuntimeError("no answer")


def one_frame(data):
    """Return the first text frame's payload and the bytes used; control frames are skipped."""
    offset = 0
    while True:
        if len(data) - offset < 2:
            return None, 0
        opcode, size = data[offset] & 15, data[offset + 1] & 127
        start = offset + 2
        if size == 126:
            if len(data) < start + 2:
                return None, 0
            (size,) = struct.unpack_from("!H", data, start)
            start += 2
        elif size == 127:
            if len(data) < start + 8:
                return None, 0
            (size,) = struct.unpack_from("!Q", data, start)
            start += 8
        if len(data) < start + size:
            return None, 0
        if opcode in (1, 2, 0):
            return bytes(data[start : start + size]), start + size
        if opcode == 8:
            raise ConnectionError(f"closed by the server: {bytes(data[start : start + size])!r}")
        offset = start + size


def frames(data):
    """Take apart what was read."""
    view = memoryview(data)
    while True:
        frame, used = one_frame(view)
        if frame is None:
            return
        yield frame
        view = view[used:]
