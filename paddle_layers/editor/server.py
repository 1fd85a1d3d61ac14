"""Language server: open documents, and editor features in terms of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import BinaryIO, TypeVar, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

import paddle_layers
from paddle_layers.config import ConfigError, format_text

from .completion import completions, cursor_context
from .document import Document, problems
from .hover import definitions, hover, symbols
from .lsp_messages import Writer, takes_snippets
from .transport import Messages, Protocol, log_in_lines, protocol_streams

R = TypeVar("R")

PAUSE = 0.15
"""Delay in seconds after the last keystroke before a document is checked."""

QUOTE = '"'

log = logging.getLogger(__name__)


class Server(LanguageServer):
    """Keeps the open files and answers requests. Errors of plugins do not stop the server."""

    def __init__(self) -> None:
        whole = lsp.TextDocumentSyncKind.Full  # the whole text is checked, and a lost change cannot shift the rest
        super().__init__(
            "paddle-layers", paddle_layers.__version__, text_document_sync_kind=whole, protocol_cls=Protocol
        )
        self.documents: dict[str, Document] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.stopped = False

    @property
    def opened(self) -> Mapping[str, TextDocument]:
        """The open files; none before initialization."""
        documents: Mapping[str, TextDocument] = {}
        with contextlib.suppress(RuntimeError):
            documents = self.workspace.text_documents
        return documents

    def file(self, uri: str) -> tuple[Document, Writer]:
        """An open file and its writer. Raises a protocol error for a file that is not open."""
        opened = self.opened.get(uri)
        if opened is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        document = self.documents.get(uri)
        if document is None or document.text != opened.source:
            document = self.documents[uri] = Document(opened.source, opened.path)
        encoding = self.workspace.position_encoding
        return document, Writer(document, uri, str(getattr(encoding, "value", encoding)))

    def publish(self, uri: str) -> None:
        """Publish the errors of a file; none when it is closed."""
        found: list[lsp.Diagnostic] = []
        if uri in self.opened:
            document, writer = self.file(uri)
            found = [writer.diagnostic(problem) for problem in safely(problems, document) or ()]
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
    """The result of a call; None, with a line in the log, if it raises."""
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:  # a plugin's function may do anything, even exit
        log.error("%s failed: %s: %s", call.__name__, type(error).__name__, error)
        return None


def make_server() -> Server:
    """A server with all its features."""
    server = Server()
    _add_files(server)
    _add_answers(server)
    _add_edits(server)
    return server


def _add_files(server: Server) -> None:
    """Add handlers for opening, changing, saving and closing files."""

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(server: Server, _params: lsp.DidSaveTextDocumentParams) -> None:
        for uri in server.opened:  # a training file reads the network file that was saved
            server.documents.pop(uri, None)
            server.publish_soon(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
        server.documents.pop(params.text_document.uri, None)
        server.publish(params.text_document.uri)

    @server.feature(lsp.SHUTDOWN)
    def shut_down(server: Server, _params: object) -> None:
        server.stopped = True


def _add_answers(server: Server) -> None:
    """Add handlers for completion, hover, definition and outline."""

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[QUOTE, ":"]))
    def complete(server: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, writer = server.file(params.text_document.uri)
        offset = writer.offset(params.position)
        typed = params.context.trigger_character if params.context else None
        if typed == QUOTE and not cursor_context(document.tree, offset).quoted:
            return []  # the typed quote closed a string: nothing to complete
        snippets = takes_snippets(server.client_capabilities)
        items = safely(completions, document, offset) or []
        return [writer.completion(item, number, snippets) for number, item in enumerate(items)]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
        document, writer = server.file(params.text_document.uri)
        found = safely(hover, document, writer.offset(params.position))
        return writer.hover(found) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
        document, writer = server.file(params.text_document.uri)
        found = safely(definitions, document, writer.offset(params.position)) or []
        return [writer.location(target) for target in found]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(server: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document, writer = server.file(params.text_document.uri)
        return [writer.symbol(symbol) for symbol in safely(symbols, document) or ()]


def _add_edits(server: Server) -> None:
    """Add handlers for formatting and quick fixes."""

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document, writer = server.file(params.text_document.uri)
        text = safely(_formatted, document)
        if text is None or text == document.text:
            return None
        return [writer.edit(0, len(document.text), text)]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document, writer = server.file(params.text_document.uri)
        start, end = writer.offset(params.range.start), writer.offset(params.range.end)
        near = [one for one in safely(problems, document) or () if one.start <= end and start <= one.end]
        return [writer.action(problem) for problem in near if problem.fix is not None]


def _formatted(document: Document) -> str | None:
    """The formatted text with its own line endings; None if it cannot be parsed."""
    try:
        text = format_text(document.text.replace("\r\n", "\n"), document.path)
    except ConfigError:
        return None
    return text.replace("\n", "\r\n") if "\r\n" in document.text else text


def serve() -> int:
    """Serve an editor over stdin and stdout; returns the exit status, 1 if the connection ended without a shutdown."""
    log_in_lines()
    server = make_server()
    reader, writer = protocol_streams()
    server.start_io(cast("BinaryIO", Messages(reader)), writer)
    return 0 if server.stopped else 1
