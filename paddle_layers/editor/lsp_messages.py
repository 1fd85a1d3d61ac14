"""Conversion of results to LSP messages, and of offsets to LSP positions.

A position has a line, counted from 0, and a character, counted in code units of an encoding.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from .completion import CURSOR, Completion
from .document import Document, Problem, Related
from .hover import Hover, Symbol, Target

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of a code unit by encoding."""

_LINE_END = re.compile(r"\r\n|\n|\r")

_KINDS = {
    "type": lsp.CompletionItemKind.Class,
    "block": lsp.CompletionItemKind.Struct,
    "field": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.EnumMember,
    "output": lsp.CompletionItemKind.Variable,
    "parameter": lsp.CompletionItemKind.Field,
}
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class LineIndex:
    """The lines of a document; `encoding` is the unit of character counts."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self.unit = text, UNITS[encoding]
        self.codec = encoding if self.unit == 1 else f"{encoding}-le"
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self.plain = text.isascii()

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character of an offset; offsets beyond the end are clamped."""
        offset = min(offset, len(self.text))
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        if self.plain:
            return line, offset - start
        return line, len(self._encoded(self.text[start:offset])) // self.unit

    def offset(self, line: int, character: int) -> int:
        """The offset of a position; characters beyond the end of the line are clamped."""
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        row = self.text[start:end].rstrip("\r\n")
        if self.plain:
            return start + min(character, len(row))
        before = self._encoded(row)[: character * self.unit]
        return start + len(before.decode(self.codec, "ignore"))

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.codec, "surrogatepass")


class Writer:
    """Converts results for one file, which the editor calls `uri`; `encoding` is the unit of its positions."""

    def __init__(self, document: Document, uri: str, encoding: str) -> None:
        self.document, self.uri, self.encoding = document, uri, encoding
        self.lines = LineIndex(document.text, encoding)

    def offset(self, position: lsp.Position) -> int:
        """The offset of a position."""
        return self.lines.offset(position.line, position.character)

    def span(self, start: int, end: int) -> lsp.Range:
        """The range of two offsets."""
        return _span(self.lines, start, end)

    def location(self, place: Target | Related) -> lsp.Location:
        """A part of this file or of another one."""
        if place.text is self.document.text:
            return lsp.Location(self.uri, self.span(place.start, place.end))
        uri = from_fs_path(str(Path(place.path).absolute())) or place.path
        return lsp.Location(uri, _span(LineIndex(place.text, self.encoding), place.start, place.end))

    def edit(self, start: int, end: int, text: str) -> lsp.TextEdit:
        """A change of the text."""
        return lsp.TextEdit(self.span(start, end), text)

    def diagnostic(self, problem: Problem) -> lsp.Diagnostic:
        """A problem with its related positions."""
        related = [lsp.DiagnosticRelatedInformation(self.location(one), one.message) for one in problem.related]
        return lsp.Diagnostic(
            self.span(problem.start, problem.end),
            problem.message,
            _SEVERITIES[problem.severity],
            problem.code,
            source="paddle-layers",
            related_information=related or None,
        )

    def action(self, problem: Problem) -> lsp.CodeAction:
        """The quick fix of a problem."""
        assert problem.fix is not None, "only a problem with a fix has an action"
        return lsp.CodeAction(
            f"Replace with `{problem.fix.replacement}`",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(problem)],
            is_preferred=True,
            edit=lsp.WorkspaceEdit(changes={self.uri: [self.edit(*problem.fix)]}),
        )

    def completion(self, item: Completion, number: int, snippets: bool) -> lsp.CompletionItem:
        """A completion; `number` keeps the order."""
        named = item.kind in ("block", "field")
        snippet = snippets and named and CURSOR in item.text
        text = item.text.replace(CURSOR, "") if named and not snippet else item.text
        documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, item.documentation) if item.documentation else None
        return lsp.CompletionItem(
            item.label,
            kind=_KINDS[item.kind],
            detail=item.detail or None,
            documentation=documentation,
            sort_text=f"{number:05}",
            filter_text=f"{item.label} {item.search}" if item.search else None,
            insert_text_format=lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText,
            text_edit=self.edit(item.start, item.end, text),
        )

    def hover(self, found: Hover) -> lsp.Hover:
        """Hover information for the position of the cursor."""
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), self.span(found.start, found.end))

    def symbol(self, found: Symbol) -> lsp.DocumentSymbol:
        """A layer in the outline."""
        return lsp.DocumentSymbol(
            found.name,
            lsp.SymbolKind.Object,
            self.span(found.start, found.end),
            self.span(found.name_start, found.name_end),
            detail=found.type or None,
        )


def _span(lines: LineIndex, start: int, end: int) -> lsp.Range:
    return lsp.Range(lsp.Position(*lines.position(start)), lsp.Position(*lines.position(end)))


def takes_snippets(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether the editor supports snippets, which contain a cursor position."""
    document = capabilities.text_document
    item = document.completion.completion_item if document and document.completion else None
    return bool(item and item.snippet_support)
