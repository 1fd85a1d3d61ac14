"""The language server: open files, and what the modules beside know of them, in the words of the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

import paddle_layers
from paddle_layers.config import ConfigError, format_text

from . import messages
from .completion import completions
from .definition import definitions, symbols
from .document import Document
from .hover import hover
from .positions import Lines
from .problems import problems
from .streams import protocol_streams

R = TypeVar("R")

PAUSE = 0.15
"""Seconds without a keystroke before a text is checked."""

log = logging.getLogger(__name__)


class Server(LanguageServer):
    """Keeps the open files and answers for them. Whatever a plugin does, the server goes on."""

    def __init__(self) -> None:
        super().__init__(
            "paddle-layers",
            paddle_layers.__version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
        )
        self.documents: dict[str, Document] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.stopped = False

    def document(self, uri: str) -> Document:
        """The file as it stands in the editor."""
        opened = self.workspace.get_text_document(uri)
        known = self.documents.get(uri)
        if known is None or known.text != opened.source:
            known = self.documents[uri] = Document(opened.source, opened.path)
        return known

    def lines(self, text: str) -> Lines:
        """The lines of a text, counted as was agreed with the editor."""
        return Lines(text, str(getattr(self.workspace.position_encoding, "value", "utf-16")))

    def offset(self, document: Document, position: lsp.Position) -> int:
        """The offset of a position in a file."""
        return self.lines(document.text).offset(position.line, position.character)

    def publish(self, uri: str) -> None:
        """Send the faults of a file; none when it is closed."""
        if uri not in self.workspace.text_documents:
            found: list[lsp.Diagnostic] = []
        else:
            document = self.document(uri)
            lines = self.lines(document.text)
            found = [messages.diagnostic(problem, lines, self.lines) for problem in safely(problems, document) or ()]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    def publish_soon(self, uri: str) -> None:
        """The same after a pause in typing."""
        if uri in self.waiting:
            self.waiting.pop(uri).cancel()

        async def later() -> None:
            await asyncio.sleep(PAUSE)
            self.waiting.pop(uri, None)
            self.publish(uri)

        self.waiting[uri] = asyncio.ensure_future(later())


def safely(call: Callable[..., R], *arguments: object) -> R | None:
    """The result of a call; None, with a line in the log, when a plugin or the library fails in it."""
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:  # a plugin's function may do anything, even exit
        log.error("%s fails: %s: %s", call.__name__, type(error).__name__, error)
        return None


def make_server() -> Server:
    """A server with all its features."""
    server = Server()
    feature = server.feature

    @feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:  # noqa: ARG001 - the protocol's
        """Training files see the network files on disk."""
        for uri in server.workspace.text_documents:
            server.documents.pop(uri, None)
            server.publish_soon(uri)

    @feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
        server.documents.pop(params.text_document.uri, None)
        server.publish(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=['"', ":"]))
    def complete(server: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document = server.document(params.text_document.uri)
        items = safely(completions, document, server.offset(document, params.position)) or []
        snippets = messages.snippets(server.client_capabilities)
        lines = server.lines(document.text)
        return [messages.completion(item, number, lines, snippets) for number, item in enumerate(items)]

    @feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.document(params.text_document.uri)
        found = safely(hover, document, server.offset(document, params.position))
        return messages.hover(found, server.lines(document.text)) if found else None

    @feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
        document = server.document(params.text_document.uri)
        found = safely(definitions, document, server.offset(document, params.position)) or []
        return [messages.location(one.path, one.start, one.end, server.lines(one.text)) for one in found]

    @feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(server: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        lines = server.lines(document.text)
        return [messages.symbol(one, lines) for one in safely(symbols, document) or ()]

    @feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = server.document(params.text_document.uri)
        text = safely(_formatted, document)
        if text is None or text == document.text:
            return None
        lines = server.lines(document.text)
        return [lsp.TextEdit(messages.span(lines, 0, len(document.text)), text)]

    @feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        document = server.document(uri)
        start, end = (server.offset(document, at) for at in (params.range.start, params.range.end))
        lines = server.lines(document.text)
        near = [one for one in safely(problems, document) or () if one.start <= end and start <= one.end]
        return [messages.action(one, uri, lines, server.lines) for one in near if one.fix is not None]

    @feature(lsp.SHUTDOWN)
    def shut_down(server: Server, params: object) -> None:  # noqa: ARG001 - the protocol's
        server.stopped = True

    return server


def _formatted(document: Document) -> str | None:
    """The text in the one layout, with the line ends that it has; None for a text that cannot be read."""
    try:
        text = format_text(document.text.replace("\r\n", "\n"), document.path)
    except ConfigError:
        return None
    return text.replace("\n", "\r\n") if "\r\n" in document.text else text


def serve() -> int:
    """Talk to an editor over stdin and stdout until it says goodbye; the exit status, 1 when it just went away."""
    server = make_server()
    server.start_io(*protocol_streams())
    return 0 if server.stopped else 1
