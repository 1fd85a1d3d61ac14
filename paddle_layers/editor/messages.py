"""Findings as messages of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from .completion import CURSOR, Item
from .definition import Symbol
from .hover import Hover
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


def span(lines: Lines, start: int, end: int) -> lsp.Range:
    """The range of two offsets."""
    return lsp.Range(lsp.Position(*lines.position(start)), lsp.Position(*lines.position(end)))


def location(path: str, start: int, end: int, lines: Lines) -> lsp.Location:
    """A part of a file."""
    return lsp.Location(from_fs_path(str(Path(path).absolute())) or path, span(lines, start, end))


def diagnostic(problem: Problem, lines: Lines, lines_of: Callable[[str], Lines]) -> lsp.Diagnostic:
    """A problem; `lines_of` gives the lines of other texts."""
    return lsp.Diagnostic(
        span(lines, problem.start, problem.end),
        problem.message,
        _SEVERITIES[problem.severity],
        problem.code,
        source="paddle-layers",
        related_information=[_related(one, lines, lines_of) for one in problem.related] or None,
    )


def _related(related: Related, lines: Lines, lines_of: Callable[[str], Lines]) -> lsp.DiagnosticRelatedInformation:
    own = lines if related.text is lines.text else lines_of(related.text)
    return lsp.DiagnosticRelatedInformation(location(related.path, related.start, related.end, own), related.message)


def action(problem: Problem, uri: str, lines: Lines, lines_of: Callable[[str], Lines]) -> lsp.CodeAction:
    """The change that mends a problem."""
    assert problem.fix is not None, "only a problem with a fix has an action"
    fix = problem.fix
    edit = lsp.TextEdit(span(lines, fix.start, fix.end), fix.replacement)
    return lsp.CodeAction(
        f"Replace with `{fix.replacement}`",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(problem, lines, lines_of)],
        is_preferred=True,
        edit=lsp.WorkspaceEdit(changes={uri: [edit]}),
    )


def snippets(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether the editor takes a text with a place for the cursor in it."""
    document = capabilities.text_document
    item = document.completion.completion_item if document and document.completion else None
    return bool(item and item.snippet_support)


def completion(item: Item, number: int, lines: Lines, snippets: bool) -> lsp.CompletionItem:
    """A completion; `number` keeps the order."""
    named = item.kind in ("block", "field")
    snippet = snippets and named and CURSOR in item.text
    text = item.text if snippet or not named else item.text.replace(CURSOR, "")
    return lsp.CompletionItem(
        item.label,
        kind=_KINDS[item.kind],
        detail=item.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, item.documentation) if item.documentation else None,
        sort_text=f"{number:04}",
        filter_text=f"{item.label} {item.search}" if item.search else None,
        insert_text_format=lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(span(lines, item.start, item.end), text),
    )


def hover(found: Hover, lines: Lines) -> lsp.Hover:
    """What stands under the cursor."""
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), span(lines, found.start, found.end))


def symbol(found: Symbol, lines: Lines) -> lsp.DocumentSymbol:
    """A layer in the outline."""
    return lsp.DocumentSymbol(
        found.name,
        lsp.SymbolKind.Object,
        span(lines, found.start, found.end),
        span(lines, found.name_start, found.name_end),
        detail=found.type or None,
    )
