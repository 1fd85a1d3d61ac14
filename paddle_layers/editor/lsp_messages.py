"""Conversion of diagnostics and hovers to LSP messages."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from .completion import CURSOR, Item
from .document import Document
from .hover import Hover
from .navigation import Symbol, Target
from .positions import Lines
from .problems import Problem, Related

_KINDS = {
    "type": lsp.CompletionItemKind.Class,
    "block": lsp.CompletionItemKind.Struct,
    "field": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.EnumMember,
    "output": lsp.CompletionItemKind.Variable,
    "parameter": lsp.CompletionItemKind.Field,
}
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class Writer:
    """Converts results for one file, which the editor calls `uri`; `encoding` is the unit of its positions."""

    def __init__(self, document: Document, uri: str, encoding: str) -> None:
        self.document, self.uri, self.encoding = document, uri, encoding
        self.lines = Lines(document.text, encoding)

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
        return lsp.Location(uri, _span(Lines(place.text, self.encoding), place.start, place.end))

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

    def completion(self, item: Item, number: int, snippets: bool) -> lsp.CompletionItem:
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


def _span(lines: Lines, start: int, end: int) -> lsp.Range:
    return lsp.Range(lsp.Position(*lines.position(start)), lsp.Position(*lines.position(end)))


def takes_snippets(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether the editor supports snippets, which contain a cursor position."""
    document = capabilities.text_document
    item = document.completion.completion_item if document and document.completion else None
    return bool(item and item.snippet_support)
