"""The language server as a process, talked to by pygls' own client over stdin and stdout."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

import paddle_layers as pl
from paddle_layers.editor.document import LARGEST, Document, problems
from paddle_layers.editor.transport import LARGEST as LARGEST_MESSAGE
from paddle_layers.editor.transport import Messages

DATA = 'layer { name: "bild𝄞" type: "data" data { shape: [3, 8, 8] } }\n'
NET = (
    DATA
    + 'layer { name: "c" type: "conv" input: "bild𝄞" conv { num_filters: 5 filter_size: 3 } }\n'
    + 'layer { name: "y" type: "fc" input: "c" fc { size: 10 } }\n'
)
BROKEN = NET.replace("num_filters", "num_filter").replace('input: "c"', 'input: "c')

PLUGIN = '''
import os
import paddle_layers as pl

print("printed while it is loaded")

@pl.layer("test_crashing")
class Crashing:
    """Does what no layer should."""
    examples = (pl.Example(x="3"),)
    x = pl.Input("N C", "values")
    y = pl.Output("N C", "values")
    way = pl.Int("which way", default=0)

@pl.each(Crashing.y)
def crashing_y(n, c, x):
    return x[n, c]

@pl.gradient(Crashing.x)
def crashing_dx(n, c, dy):
    return dy[n, c]

@pl.infer(Crashing)
def crashing_sizes(way):
    import sys
    print("printed while it infers")
    os.write(1, b"written past Python\\n")
    input() if way == 3 else None
    if way == 1:
        raise RuntimeError("a bug")
    if way == 2:
        sys.exit(7)
    return {}
'''


class Session:
    """A server and one open file."""

    def __init__(self, uri: str, snippets: bool) -> None:
        self.client = LanguageClient("test", "1")
        self.uri, self.version, self.text = uri, 0, ""
        self.snippets = snippets
        self.faults: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(found: lsp.PublishDiagnosticsParams) -> None:
            self.faults.put_nowait(found)

    async def start(
        self, *arguments: str, encodings: tuple[lsp.PositionEncodingKind, ...] = ()
    ) -> lsp.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "paddle_layers", *arguments)
        item = lsp.ClientCompletionItemOptions(snippet_support=self.snippets)
        capabilities = lsp.ClientCapabilities(
            text_document=lsp.TextDocumentClientCapabilities(
                completion=lsp.CompletionClientCapabilities(completion_item=item)
            ),
            general=lsp.GeneralClientCapabilities(position_encodings=encodings) if encodings else None,
        )
        found = await self.client.initialize_async(lsp.InitializeParams(capabilities))
        self.client.initialized(lsp.InitializedParams())
        return found

    async def stop(self) -> tuple[int | None, str]:
        """Exit status and stderr."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server: Any = self.client._server
        await asyncio.wait_for(server.wait(), 20)
        return server.returncode, (await server.stderr.read()).decode()

    async def published(self) -> list[lsp.Diagnostic]:
        found = await asyncio.wait_for(self.faults.get(), 20)
        assert found.uri == self.uri
        return list(found.diagnostics)

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        self.text = text
        item = lsp.TextDocumentItem(self.uri, "textproto", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.published()

    def change(self, text: str) -> None:
        self.text, self.version = text, self.version + 1
        known = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(known, [whole]))

    @property
    def document(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    def position(self, word: str, by: int = 1) -> lsp.Position:
        """In a word of the text, counted in UTF-16 by the test's own means."""
        before = self.text[: self.text.index(word) + by]
        row = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), len(row.encode("utf-16-le")) // 2)

    async def completion(self, word: str, by: int, typed: str = "") -> dict[str, lsp.CompletionItem]:
        kind = lsp.CompletionTriggerKind.TriggerCharacter if typed else lsp.CompletionTriggerKind.Invoked
        context = lsp.CompletionContext(kind, typed or None)
        found = await self.client.text_document_completion_async(
            lsp.CompletionParams(self.document, self.position(word, by), context)
        )
        assert not isinstance(found, lsp.CompletionList)
        return {item.label: item for item in found or ()}

    async def hover(self, word: str, by: int = 1) -> str:
        found = await self.client.text_document_hover_async(lsp.HoverParams(self.document, self.position(word, by)))
        return "" if found is None else found.contents.value  # type: ignore[union-attr]

    def edited(self, edits: Any) -> str:
        """The text after edits of which none lies before another."""
        rows = self.text.splitlines(keepends=True)
        starts = [sum(map(len, rows[:at])) for at in range(len(rows) + 1)]
        text = self.text
        for edit in reversed(list(edits)):
            places = []
            for place in (edit.range.start, edit.range.end):
                row = rows[place.line] if place.line < len(rows) else ""
                units = row.encode("utf-16-le")[: 2 * place.character]
                places.append(starts[place.line] + len(units.decode("utf-16-le")))
            text = text[: places[0]] + edit.new_text + text[places[1] :]
        return text


def talk(dialogue: Callable[[Session], Awaitable[None]], uri: str, *, snippets: bool = False) -> None:
    asyncio.run(asyncio.wait_for(dialogue(Session(uri, snippets)), 120))  # type: ignore[arg-type]


def test_a_session(tmp_path: Path) -> None:
    async def dialogue(session: Session) -> None:
        found = await session.start("lsp")
        assert found.capabilities.position_encoding == "utf-16"

        faults = await session.open(BROKEN)
        assert {fault.code for fault in faults} == {"E003", "E101"}
        (unknown,) = (fault for fault in faults if fault.code == "E101")
        assert unknown.range.start == session.position("num_filter", 0)
        assert unknown.range.end == session.position("num_filter", len("num_filter"))
        assert unknown.severity == lsp.DiagnosticSeverity.Error
        assert unknown.source == "paddle-layers"

        context = lsp.CodeActionContext([unknown])
        (action,) = await session.client.text_document_code_action_async(  # type: ignore[misc]
            lsp.CodeActionParams(session.document, unknown.range, context)
        )
        assert isinstance(action, lsp.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None
        mended = session.edited(action.edit.changes[session.uri])
        assert mended == BROKEN.replace("num_filter", "num_filters")

        edits = await session.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(session.document, lsp.FormattingOptions(2, True))
        )
        assert edits is None, "a broken text is not formatted"

        for length in range(len(mended) - 3, len(mended)):  # typed quickly: one answer
            session.change(mended[:length])
        session.change(NET)
        assert await session.published() == []

        types = await session.completion('"fc"', 1)
        assert list(types) == sorted(pl.registry)
        assert session.edited([types["conv"].text_edit]) == NET.replace('"fc"', '"conv"')
        attributes = await session.completion("size: 10", 0)
        assert set(attributes) == {"axis", "bias", "act", "drop_rate", "error_clip"}
        inputs = await session.completion('"c" fc', 2)
        assert {name: item.detail for name, item in inputs.items()} == {"c": "5x6x6", "bild𝄞": "3x8x8"}
        assert session.edited([inputs["bild𝄞"].text_edit]) == NET.replace('"c" fc', '"bild𝄞" fc')
        assert await session.completion('"c" fc', 3, '"') == {}, "the quote closed a text"
        assert await session.completion('"c" fc', 1, '"') == inputs

        assert (await session.hover('"c" type')).startswith("**c**: `conv`\n\n```text\nbild𝄞 3x8x8 → c 5x6x6\nparam")
        assert "weight 180x10" in await session.hover('"y"')
        assert (await session.hover("num_filters")).startswith("**num_filters**: `int, >= 1, required`")
        assert await session.hover("10 }") == await session.hover("size: 10")

        where = await session.client.text_document_definition_async(
            lsp.DefinitionParams(session.document, session.position('"bild𝄞" conv'))
        )
        end = session.position('bild𝄞" type', len("bild𝄞"))
        assert list(where or ()) == [lsp.Location(session.uri, lsp.Range(session.position('bild𝄞" type', 0), end))]

        outline = await session.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(session.document))
        assert [symbol.name for symbol in outline or ()] == ["bild𝄞", "c", "y"]

        options = lsp.DocumentFormattingParams(session.document, lsp.FormattingOptions(2, True))
        for ends in ("\n", "\r\n"):
            session.change(NET.replace("\n", ends))
            assert await session.published() == []
            assert await session.client.text_document_formatting_async(options) is None, "it is formatted"
            session.change(NET.replace(" {", "{").replace("\n", ends * 3))
            assert await session.published() == []
            edits = await session.client.text_document_formatting_async(options)
            assert session.edited(edits) == pl.config.format_text(session.text).replace("\n", ends)
            assert session.edited(edits).replace(ends * 2, ends) == NET.replace("\n", ends)

        session.change(BROKEN)
        assert await session.published() != []
        session.client.text_document_did_close(lsp.DidCloseTextDocumentParams(session.document))
        assert await session.published() == []
        assert await session.stop() == (0, "")

    talk(dialogue, (tmp_path / "net.textproto").as_uri())


def test_a_training_file_and_its_network_file(tmp_path: Path) -> None:
    net = tmp_path / "net.textproto"
    net.write_text(BROKEN, encoding="utf-8")
    train = 'network: "net.textproto"\nepochs: 1\nsource { type: "digits" digits { part: train } }\n'
    train += 'optimizer { type: "sgd" learning_rate: 0.1 }\nfeed { input: "bild𝄞" field: "pixels" }\n'

    async def dialogue(session: Session) -> None:
        await session.start("lsp")
        (fault,) = await session.open(train)
        assert (fault.range.start, fault.code) == (session.position('"net', 0), "E101")
        assert fault.related_information is not None
        assert [one.location.uri for one in fault.related_information] == [net.as_uri()] * 2
        where = await session.client.text_document_definition_async(
            lsp.DefinitionParams(session.document, session.position('"net'))
        )
        assert [one.uri for one in where or ()] == [net.as_uri()]  # type: ignore[union-attr]
        net.write_text(NET, encoding="utf-8")
        session.client.text_document_did_save(lsp.DidSaveTextDocumentParams(session.document))
        assert await session.published() == []
        assert await session.stop() == (0, "")

    talk(dialogue, (tmp_path / "train.textproto").as_uri())


def test_snippets_json_and_another_encoding(tmp_path: Path) -> None:
    text = '{"layer": [{"name": "é𝄞", "type": "data", "data": {"shape": [3], "shap": 4}}]}'

    async def dialogue(session: Session) -> None:
        kind = lsp.PositionEncodingKind
        found = await session.start("lsp", encodings=(kind.Utf8, kind.Utf16))
        assert found.capabilities.position_encoding == "utf-8"
        (fault,) = await session.open(text)
        assert fault.range.start.character == len(text[: text.index('"shap"')].encode())
        session.change('{"layer": [{"type": "fc", }]}')
        await session.published()
        items = await session.completion(", }", 2)
        edit = items["fc"].text_edit
        assert isinstance(edit, lsp.TextEdit)
        assert edit.new_text == '"fc": { $0 }'
        assert items["fc"].insert_text_format == lsp.InsertTextFormat.Snippet
        assert await session.stop() == (0, "")

    talk(dialogue, (tmp_path / "net.json").as_uri(), snippets=True)


def test_plugins_are_known_and_cannot_end_the_session(tmp_path: Path) -> None:
    plugin = tmp_path / "crashing.py"
    plugin.write_text(PLUGIN, encoding="utf-8")
    layer = 'layer { name: "z" type: "test_crashing" input: "c" test_crashing { way: %d } }\n'

    async def dialogue(session: Session) -> None:
        await session.start("lsp", "--plugins", str(plugin))
        text = DATA.replace("[3, 8, 8]", "3").replace("bild𝄞", "c")
        assert await session.open(text + layer % 0) == []
        assert "test_crashing" in await session.completion('"test_cr', 1)
        assert "→ z 3" in await session.hover('"z"')
        assert (await session.hover("way")).startswith("**way**: `int, default 0`\n\nWhich way.")
        session.change(text + layer % 1)
        (fault,) = await session.published()
        assert fault.code == "E401"
        assert "a bug" in fault.message
        session.change(text + layer % 2)
        (fault,) = await session.published()
        assert "SystemExit: 7" in fault.message
        assert (await session.hover("way")).startswith("**way**"), "the server goes on"
        session.change(text + layer % 0)
        assert await session.published() == []
        status, told = await session.stop()
        assert status == 0
        assert "printed while it is loaded" in told
        assert "printed while it infers" in told
        assert "written past Python" in told

    talk(dialogue, (tmp_path / "net.textproto").as_uri())


def test_an_editor_that_just_goes_away() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paddle_layers", "lsp"], input=b"", capture_output=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_a_text_that_is_too_large_says_so() -> None:
    document = Document(NET + "#" * LARGEST)
    assert [problem.code for problem in problems(document)] == ["W002"]
    assert document.tree.tokens == []
    assert len(problems(Document(NET + "#" * (LARGEST - len(NET))))) == 0


def test_without_pygls_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pygls'] = None; from paddle_layers.cli import main; sys.argv[1:] = ['lsp']; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "the language server requires pygls: pip install 'paddle-layers[lsp]'\n"


@pytest.mark.parametrize("name", ["completion", "document", "hover"])
def test_the_analysis_needs_no_pygls(name: str) -> None:
    code = f"import sys; sys.modules['pygls'] = None; import paddle_layers.editor.{name}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


FRAMES = {
    b"Content-Length: 2\r\n\r\nab": [b"ab"],
    b"content-length:2\n\nab": [b"ab"],
    b"Content-Type: x\r\nCONTENT-LENGTH: 2 \r\nOther: y\r\n\r\nabContent-Length: 1\r\n\r\nc": [b"ab", b"c"],
    b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc": [b"abc"],  # the first header was never ended
    b"Content-Length: 2\r\nab\r\nContent-Length: 3\r\n\r\nabc": [b"abc"],
    b"Content-Length: %s\r\n\r\nab\r\nContent-Length: 1\r\n\r\nc" % (b"9" * 30): [b"c"],
    b"Content-Length: %d\r\n\r\nab\r\nContent-Length: 1\r\n\r\nc" % (LARGEST_MESSAGE + 1): [b"c"],
    b"Content-Length: -2\r\n\r\nab\r\nContent-Length: 1\r\n\r\nc": [b"c"],
    b"Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\nc": [b"c"],
    b"x" * 5000 + b"\r\nContent-Length: 1\r\n\r\nc": [b"c"],
    b"Content-Length: 3\r\n\r\nab": [],  # cut short
    b"Content-Length: 3\r\n": [],
    b"": [],
}


@pytest.mark.parametrize("sent", FRAMES, ids=range(len(FRAMES)))
def test_messages_are_found_behind_odd_headers(sent: bytes) -> None:
    messages, found = Messages(io.BytesIO(sent)), []
    while line := messages.readline():  # as pygls reads
        length = re.fullmatch(rb"Content-Length: ([0-9]+)\r\n", line)
        assert length
        assert messages.readline() == b"\r\n"
        if body := messages.read(int(length[1])):
            found.append(body)
    assert found == FRAMES[sent]


def test_what_goes_wrong_is_logged_on_a_line_each() -> None:
    sent = b""
    for message in ('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": 5}', "{\x1b", '{"jsonrpc": "2.0"}'):
        sent += b"Content-Length: %d\r\n\r\n%s" % (len(message), message.encode())
    sent += b"Content-Length: 99999999999999999999\r\n\r\n"
    done = subprocess.run(
        [sys.executable, "-m", "paddle_layers", "lsp"], input=sent, capture_output=True, timeout=600, check=False
    )
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert 4 <= len(lines) <= 8
    assert all(re.match(r"(pygls|paddle_layers)[\w.]*: ", line) for line in lines), lines
    assert "ignored a message of '99999999999999999999' bytes" in lines[-1]
