"""The language server, in this process: a session is the bytes that an editor sends."""

from __future__ import annotations

import asyncio
import copy
import io
import json
import logging
import re
import threading
from pathlib import Path
from random import Random
from typing import Any

from pygls.io_ import run_async
from pygls.lsp._base_server import BaseLanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from paddle_layers.editor import server as editor
from paddle_layers.editor.transport import Messages

from .configs import Json, Text, TrainingText
from .mutators import ODD_TEXTS, changed_bytes, changed_text
from .target import Target, demand

URI = "file:///nowhere/net.textproto"
DOCUMENT = {"uri": URI}
PROBE = 987654321
"""The id of a question that comes last, and has to be answered."""
QUESTIONS = ("completion", "hover", "definition", "documentSymbol", "formatting", "codeAction", "references", "rename")
ODD_URIS = (
    "",
    "x",
    "file:///",
    "file:///etc",
    "file://host/x",
    "untitled:1",
    "http://a/b",
    "file:///%00",
    "file:///\u202e",
    URI + "x",
    None,
    5,
    {},
)
ODD = (None, True, -1, 0, 1.5, 2**31, 2**63, 2**70, 1e300, "", "x", [], {}, [1], {"a": 1}, "\ud800", "a\x1b[2J")
SMALL = """layer { name: "x\U0001d11e" type: "data" data { shape: 4 } }
layer { name: "y" type: "fc" input: "x\U0001d11e" fc { size: 2 } }
"""


class Session(Target):
    """Sessions of an editor: odd messages, positions and documents."""

    name = "editor"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.texts = [kind(folder) for kind in (Text, Text, Json, TrainingText)]
        editor.PAUSE = 0.0
        converter = default_converter()  # pygls makes one for every server, which takes most of the time of a case
        BaseLanguageServer.__init__.__defaults__ = (LanguageServerProtocol, lambda: converter, None)

    def make(self, rng: Random) -> bytes:
        """Opened, changed, asked about, closed, in any order; messages with odd parts, and broken frames."""
        messages = [request(1, "initialize", {"capabilities": _capabilities(rng), "processId": None, "rootUri": None})]
        messages += [notification("initialized", {}), opened(self._text(rng))]
        for number in range(rng.choice((1, 2, 4, 8, 1000 if rng.random() < 0.02 else 3))):
            messages.append(self._message(number + 2, rng))
        if rng.random() < 0.5:
            changed = rng.randrange(len(messages))
            messages[changed] = _odd_message(messages[changed], rng)
        frames = [framed(json.dumps(message).encode("utf-8", "surrogatepass")) for message in messages]
        if rng.random() < 0.15:
            at = rng.randrange(len(frames))
            frames[at] = changed_bytes(frames[at], rng) if rng.random() < 0.5 else _odd_frame(frames[at], rng)
        return b"".join(frames)

    def _text(self, rng: Random) -> str:
        if rng.random() < 0.4:
            return changed_text(SMALL, rng)
        if rng.random() < 0.002:
            return SMALL.replace("x\U0001d11e", "x") * rng.choice((1000, 5000))
        return rng.choice(self.texts).make(rng).decode("utf-8", "surrogatepass")[:20000]

    def _message(self, number: int, rng: Random) -> Any:
        if rng.random() < 0.4:
            text = self._text(rng) if rng.random() < 0.5 else changed_text(SMALL, rng)
            change: dict[str, Any] = {"text": text[:2000]}
            if rng.random() < 0.3:
                change["range"] = {"start": _position(rng), "end": _position(rng)}
            content = {"textDocument": {**DOCUMENT, "version": number}, "contentChanges": [change]}
            return notification("textDocument/didChange", content)
        if rng.random() < 0.1:
            return notification(f"textDocument/{rng.choice(('didSave', 'didClose'))}", {"textDocument": DOCUMENT})
        if rng.random() < 0.1:
            return opened(self._text(rng))
        asked: dict[str, Any] = {"textDocument": DOCUMENT, "position": _position(rng)}
        asked |= {
            "options": {"tabSize": 2, "insertSpaces": True},
            "range": {"start": _position(rng), "end": _position(rng)},
        }
        asked["context"] = rng.choice(
            ({"diagnostics": [], "triggerKind": 1}, {"triggerKind": 2, "triggerCharacter": '"', "diagnostics": []})
        )
        return request(number, f"textDocument/{rng.choice(QUESTIONS)}", asked)

    def check(self, case: bytes) -> None:
        """No answer is a fault of the library, and the server goes on until it is told to end."""
        faults = _Faults()
        stream = Messages(io.BytesIO(case + _probe()))
        loggers = [
            logging.getLogger(name) for name in ("pygls", "paddle_layers.editor", "asyncio", "concurrent.futures")
        ]
        for logger in loggers:
            logger.addHandler(faults)
            logger.propagate = False
        try:
            answers = asyncio.run(_talk(stream))
        finally:
            for logger in loggers:
                logger.removeHandler(faults)
                logger.propagate = True
        demand(not faults.stories, "\n".join(faults.stories)[-2000:])
        ended = any(word in case for word in (b"shutdown", b"exit", b'"cancelRequest', b"\\u"))
        if bodies(case) is not None and not ended:
            demand(any(answer.get("id") == PROBE for answer in answers), "the last question is not answered")


def request(number: Any, method: str, params: Any) -> dict[str, Any]:
    """A question."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str, params: Any) -> dict[str, Any]:
    """Something that is not answered."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def opened(text: str) -> dict[str, Any]:
    """A document with this text."""
    document = {**DOCUMENT, "languageId": "textproto", "version": 1, "text": text}
    return notification("textDocument/didOpen", {"textDocument": document})


def framed(body: bytes) -> bytes:
    """A message as it is sent."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def bodies(case: bytes) -> list[bytes] | None:
    """The messages of a session; None where their frames are broken."""
    found, at = [], 0
    while at < len(case):
        match = re.compile(rb"Content-Length: ([0-9]{1,8})\r\n\r\n").match(case, at)
        if match is None or match.end() + int(match[1]) > len(case) or not int(match[1]):
            return None
        found.append(case[match.end() : match.end() + int(match[1])])
        at = match.end() + int(match[1])
    return found


def _probe() -> bytes:
    asked = request(PROBE, "textDocument/documentSymbol", {"textDocument": DOCUMENT})
    return framed(json.dumps(asked).encode())


def _position(rng: Random) -> dict[str, Any]:
    line, character = rng.choice((0, 0, 1, 1, 2, 5, 10**6, 2**31 - 1)), rng.choice((*range(60), 10**6, 2**31 - 1))
    return {"line": line, "character": character}


def _capabilities(rng: Random) -> dict[str, Any]:
    encodings = rng.choice((["utf-8"], ["utf-16"], ["utf-32"], ["x"], None))
    general = {"general": {"positionEncodings": encodings}} if encodings else {}
    return {**general, "textDocument": {"completion": {"completionItem": {"snippetSupport": rng.random() < 0.5}}}}


def _odd_message(message: Any, rng: Random) -> Any:
    """Another value, or none, of one of the parts of a message at any depth."""
    message = copy.deepcopy(message)
    owner: Any = message
    key: Any = rng.choice(list(message))
    while isinstance(owner[key], (dict, list)) and owner[key] and rng.random() < 0.8:
        owner = owner[key]
        key = rng.choice(list(owner)) if isinstance(owner, dict) else rng.randrange(len(owner))
    way = rng.randrange(5)
    if way == 0:
        del owner[key]
    elif way == 1 and key == "method":
        owner[key] = rng.choice(
            ("$/cancelRequest", "$/x", "x", "workspace/executeCommand", "textDocument/x", "initialize")
        )
    elif key == "uri":
        owner[key] = rng.choice(ODD_URIS)
    elif isinstance(owner[key], str) and way < 4:
        owner[key] = rng.choice(ODD_TEXTS)
    else:
        owner[key] = rng.choice(ODD)
    return rng.choice((message, message, message, [message], "x", 5, None)) if rng.random() < 0.1 else message


def _odd_frame(frame: bytes, rng: Random) -> bytes:
    """Headers that are spelt, counted or ended in another way."""
    head, _, body = frame.partition(b"\r\n\r\n")
    size = b"%d" % len(body)
    heads = (
        b"content-length: " + size + b"\r\n\r\n",
        b"Content-Length:" + size + b"\r\n\r\n",
        head + b"\n\n",
        head + b"\r\n",
        b"Content-Type: a; charset=utf-8\r\n" + head + b"\r\n\r\n",
        head + b"\r\nContent-Type: a\r\n\r\n",
        b"\r\n\r\n\r\n" + head + b"\r\n\r\n",
        b"",
        *(
            b"Content-Length: " + odd + b"\r\n\r\n"
            for odd in (b"0", b"-5", b"x", b"9" * 12, b"9" * 25, b"9" * 5000, b"1e3", b"\xd9\xa3", b"")
        ),
    )
    return rng.choice(heads) + body


class _Faults(logging.Handler):
    """What is logged as a fault of the library: with a frame of it in the traceback, or in its own words."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.stories: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        story = self.format(record)
        documented = story.rpartition("\n")[2].startswith("pygls.exceptions.JsonRpc")
        ours = "/paddle_layers/" in story and not documented
        if record.name in (editor.__name__, "asyncio") or ours:
            self.stories.append(story)


class _Writer:
    """Collects the answers."""

    def __init__(self) -> None:
        self.sent = bytearray()

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        pass


class _Reader:
    """Reads at once, and lets what waits run in between."""

    def __init__(self, stream: Messages) -> None:
        self.stream = stream

    async def readline(self) -> bytes:
        await asyncio.sleep(0)
        return self.stream.readline()

    async def readexactly(self, size: int) -> bytes:
        return self.stream.read(size)


async def _talk(stream: Messages) -> list[Any]:
    server, writer = editor.make_server(), _Writer()
    server.protocol.set_writer(writer)
    await run_async(
        threading.Event(),
        _Reader(stream),
        server.protocol,
        logging.getLogger("pygls.server"),
        server.report_server_error,
    )
    while server.waiting:
        await asyncio.gather(*server.waiting.values())
    sent = bytes(writer.sent)
    return [
        json.loads(part[part.index(b"\r\n\r\n") :])
        for part in re.split(rb"Content-Length: [0-9]+(?=\r\n)", sent)
        if part
    ]
