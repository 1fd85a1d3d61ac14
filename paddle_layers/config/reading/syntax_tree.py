"""Error-tolerant syntax tree of unfinished text, in text format or JSON: tokens in fields of blocks.

The reader reports errors and skips text that it cannot trust. The tree reports none and skips nothing: it determines
the block and the field of each token, as far as they are known.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple, TypeAlias

from .fields import DEEPEST
from .lexer import COMMENT, STRING, WORD, Token, tokens
from .recovery import unclosed_layer
from .syntax import is_json

NAME, VALUE, NOTHING = "name", "value", "nothing"
"""Roles of positions: a field name, a field value, neither."""


class SyntaxField:
    """A field of a block with its values: tokens and blocks."""

    __slots__ = ("blocks", "name", "start", "values")

    def __init__(self, name: str, start: int) -> None:
        self.name, self.start = name, start
        self.values: list[Token] = []
        self.blocks: list[SyntaxBlock] = []


class SyntaxBlock:
    """A block and its fields. The file itself is the outermost one; it has no name and no parent."""

    __slots__ = ("end", "fields", "name", "parent", "start")

    def __init__(self, name: str, start: int, parent: SyntaxBlock | None) -> None:
        self.name, self.start, self.parent = name, start, parent
        self.end = start
        self.fields: list[SyntaxField] = []

    def tokens(self, name: str) -> list[Token]:
        """The values of the fields of this name."""
        return [token for field in self.fields if field.name == name for token in field.values]

    def words(self, name: str) -> list[str]:
        """The same without quotes."""
        return [token.word for token in self.tokens(name)]

    def word(self, name: str) -> str:
        """The first value of the fields of this name; empty without any."""
        return next(iter(self.words(name)), "")

    def blocks(self, name: str) -> list[SyntaxBlock]:
        """The blocks of this name."""
        return [block for field in self.fields if field.name == name for block in field.blocks]

    def path(self) -> list[SyntaxBlock]:
        """The blocks from the file to this one."""
        return [*(self.parent.path() if self.parent is not None else ()), self]


SyntaxContext: TypeAlias = tuple[str, SyntaxBlock, SyntaxField | None]
"""The role of a position, its block, and the field whose name or value it is."""


class SyntaxTree:
    """The tree of a document, with the context of each token, and the context after it."""

    def __init__(self, text: str) -> None:
        self.json = is_json(text)
        self.root = SyntaxBlock("", 0, None)
        self.tokens = list(tokens(text, json=self.json))
        self.contexts: list[SyntaxContext] = []
        self.after: list[SyntaxContext] = []
        builder = _TreeBuilder(self)
        for index in range(len(self.tokens)):
            self.contexts.append(builder.add(index))
            self.after.append(builder.context())
        builder.close(0, len(text))

    def before(self, offset: int) -> int:
        """The index of the last token that starts before an offset; -1 if it is before the first."""
        return bisect_left(self.tokens, offset, key=lambda token: token.start) - 1

    def at(self, offset: int) -> tuple[Token, SyntaxContext] | None:
        """The token that contains an offset, or else the one that ends there, with its context."""
        index = self.before(offset + 1)
        if index > 0 and self.tokens[index].start == offset and self.tokens[index].kind not in (WORD, STRING):
            index -= 1
        if index < 0 or offset > self.tokens[index].end:
            return None
        return self.tokens[index], self.contexts[index]

    def following(self, index: int, skipped: tuple[str, ...] = (COMMENT,)) -> str:
        """The kind of the next token that is not skipped; empty without any."""
        for later in range(index + 1, len(self.tokens)):
            kind = self.tokens[later].kind
            if kind not in skipped:
                return kind
        return ""


class _OpenBracket(NamedTuple):
    """A block that is open, or, with a field, a list of that field's values."""

    block: SyntaxBlock
    field: SyntaxField | None = None


class _TreeBuilder:
    """Adds tokens to a tree in their order."""

    def __init__(self, tree: SyntaxTree) -> None:
        self.tree = tree
        self.stack = [_OpenBracket(tree.root)]
        self.pending: SyntaxField | None = None
        """The field whose value is awaited."""
        self.colon = False
        """Whether its colon was read."""

    def context(self) -> SyntaxContext:
        """The context after the added tokens."""
        block, field = self.stack[-1]
        if self.tree.json and len(self.stack) == 1:
            return NOTHING, block, None  # outside of the object
        field = field or (self.pending if self.colon else None)
        return (NAME if field is None else VALUE), block, field

    def add(self, index: int) -> SyntaxContext:
        """Add a token; returns its context."""
        token, (block, field) = self.tree.tokens[index], self.stack[-1]
        if token.kind in (WORD, STRING):
            return self._word(token, index)
        if token.kind == ":":
            self.colon = self.pending is not None
        elif token.kind != COMMENT:
            self._punctuation(token, field or self.pending)
            self.pending, self.colon = None, False
        return NOTHING, block, None

    def _punctuation(self, token: Token, field: SyntaxField | None) -> None:
        if token.kind == "{":
            self._open(token, field)
        elif token.kind == "[" and field is not None:
            self.stack.append(_OpenBracket(self.stack[-1].block, field))
        elif token.kind == "}":  # with the lists inside the block
            self.close(self._innermost(is_list=False) or 1, token.end)
        elif token.kind == "]" and (depth := self._innermost(is_list=True)):
            self.close(depth, token.end)

    def _word(self, token: Token, index: int) -> SyntaxContext:
        block, listed = self.stack[-1]
        field = listed or (self.pending if self.colon else None)
        following = self.tree.following(index)
        is_name = following == ":" or (following == "{" and token.kind == WORD)
        if field is None and token.kind == STRING and not self.tree.json and not is_name:
            # A string without a colon, or one of several adjacent strings.
            field = self.pending or (block.fields[-1] if block.fields else None)
        elif is_name or field is None:
            return self._name(token, index)
        self.pending, self.colon = None, False
        if field is None:
            return NOTHING, block, None
        field.values.append(token)
        return VALUE, block, field

    def _name(self, token: Token, index: int) -> SyntaxContext:
        while self.stack[-1].field:  # the list before it was never closed
            self.stack.pop()
        opens_layer = token.word == "layer" and self.tree.following(index, (COMMENT, ":")) == "{"
        if opens_layer and not self.tree.json and len(self.stack) <= DEEPEST:
            depth = unclosed_layer(["" if opened.field else opened.block.name for opened in self.stack])
            if depth is not None:
                self.close(depth, token.start)
        field = self.pending = SyntaxField(token.word, token.start)
        self.colon = False
        self.stack[-1].block.fields.append(field)
        return NAME, self.stack[-1].block, field

    def _open(self, token: Token, field: SyntaxField | None) -> None:
        block, listed = self.stack[-1]
        if field is None and self.tree.json and len(self.stack) == 1:
            self.stack.append(_OpenBracket(block))  # the object that is the file
        elif len(self.stack) > DEEPEST:  # the reader gives up here; the brackets are still matched
            self.stack.append(_OpenBracket(block))
        elif field is None:
            self.stack.append(_OpenBracket(SyntaxBlock("", token.start, block)))
        else:
            field.blocks.append(SyntaxBlock(field.name, token.start if listed else field.start, block))
            self.stack.append(_OpenBracket(field.blocks[-1]))

    def _innermost(self, *, is_list: bool) -> int:
        """The depth of the innermost list or block that is open; 0 if only the file is."""
        last = len(self.stack) - 1
        # The limit keeps the time linear for text with thousands of brackets that do not match.
        depths = range(last, max(last - DEEPEST, 0), -1)
        return next((depth for depth in depths if (self.stack[depth].field is not None) == is_list), 0)

    def close(self, depth: int, end: int) -> None:
        """Close the blocks and lists from a depth on."""
        while len(self.stack) > depth:
            block, field = self.stack.pop()
            if field is None:
                block.end = end
