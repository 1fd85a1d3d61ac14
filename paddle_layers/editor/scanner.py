"""Error-tolerant scanner of incomplete text, in text format or JSON, into blocks, fields and tokens.

The parser of `config` reports errors and skips broken parts. This one reports none and skips nothing: it determines the
block and the field of each position, as far as they are known.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from paddle_layers.config.reading.fields import DEEPEST
from paddle_layers.config.reading.syntax import is_json

NAME, VALUE, NOTHING = "name", "value", "nothing"
"""Expected content at a position: a field name, a field value, neither."""

_TOKEN = re.compile(
    r"""[ \t\r\n\f\v]++
    | (?P<comment>\#[^\n]*+)
    | (?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"?|'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+'?)
    | (?P<open>[{<]) | (?P<close>[}>]) | (?P<start>\[) | (?P<end>\])
    | (?P<colon>:) | (?P<comma>[,;])
    | (?P<word>[^\s{}<>\[\],:;"'\#]++)
    | .""",
    re.X,
)
_SWALLOWED = re.compile(r"[\s:{},]")


class Token:
    """A token: its role, and what may follow it (`after_...`)."""

    __slots__ = (
        "after_block", "after_field", "after_role", "block", "end", "field", "follows", "kind", "role", "start",
    )  # fmt: skip

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind, self.start, self.end = kind, start, end
        self.role = self.after_role = NOTHING
        self.follows = ""
        """Kind of the next token that is not a comment."""
        self.block: SyntaxBlock
        self.after_block: SyntaxBlock
        self.field: SyntaxField | None = None
        self.after_field: SyntaxField | None = None


class SyntaxField:
    """A field of a block with its values: tokens and blocks."""

    __slots__ = ("blocks", "name", "token", "values")

    def __init__(self, name: str, token: Token) -> None:
        self.name, self.token = name, token
        self.values: list[Token] = []
        self.blocks: list[SyntaxBlock] = []


class SyntaxBlock:
    """A block and its fields. The file itself is the outermost one; it has no name and no parent."""

    __slots__ = ("end", "fields", "name", "parent", "start")

    def __init__(self, name: str, start: int, parent: SyntaxBlock | None) -> None:
        self.name, self.start, self.parent = name, start, parent
        self.end = start
        self.fields: list[SyntaxField] = []

    def named(self, name: str) -> Iterator[SyntaxField]:
        """The fields of this name."""
        return (field for field in self.fields if field.name == name)

    def tokens(self, name: str) -> list[Token]:
        """The values of the fields of this name."""
        return [token for field in self.named(name) for token in field.values]

    def blocks(self, name: str) -> list[SyntaxBlock]:
        """The blocks of this name."""
        return [block for field in self.named(name) for block in field.blocks]

    def path(self) -> list[SyntaxBlock]:
        """The blocks from the file to this one."""
        found: list[SyntaxBlock] = []
        block: SyntaxBlock | None = self
        while block is not None:
            found.append(block)
            block = block.parent
        return found[::-1]


class Tree:
    """A scanned text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.json = is_json(text)
        self.root = SyntaxBlock("", 0, None)
        self.tokens: list[Token] = []
        _Scanner(self).run()
        self.starts = [token.start for token in self.tokens]

    def before(self, offset: int) -> Token | None:
        """The last token that starts before an offset."""
        index = bisect_left(self.starts, offset) - 1
        return self.tokens[index] if index >= 0 else None

    def at(self, offset: int) -> Token | None:
        """The token that contains an offset, or else the one that ends there."""
        found = self.before(offset + 1)
        if found is not None and found.start == offset and found.kind not in ("word", "string"):
            found = self.before(offset) or found
        return found if found is not None and offset <= found.end else None

    def word(self, token: Token) -> str:
        """The word of a token, without quotes."""
        return self.text[slice(*self.inside(token))]

    def words(self, tokens: list[Token]) -> list[str]:
        """The words of tokens."""
        return [self.word(token) for token in tokens]

    def first(self, block: SyntaxBlock, name: str) -> str:
        """The first value of a field; empty if it has none."""
        tokens = block.tokens(name)
        return self.word(tokens[0]) if tokens else ""

    def inside(self, token: Token) -> tuple[int, int]:
        """The range of a token without its quotes."""
        if token.kind != "string":
            return token.start, token.end
        return token.start + 1, token.end - self.closed(token)

    def closed(self, token: Token) -> bool:
        """Whether a string has its closing quote."""
        return token.end - token.start > 1 and self.text[token.end - 1] == self.text[token.start]


class _OpenBracket:
    """A block that is open, or, with a field, a list of that field's values."""

    __slots__ = ("block", "field")

    def __init__(self, block: SyntaxBlock, field: SyntaxField | None = None) -> None:
        self.block, self.field = block, field


class _Scanner:
    def __init__(self, tree: Tree) -> None:
        self.tree, self.text, self.json = tree, tree.text, tree.json
        self.stack = [_OpenBracket(tree.root)]
        self.pending: SyntaxField | None = None
        """The field whose value is awaited."""
        self.colon = False
        self.odd: tuple[int, bool] = (-1, False)

    def run(self) -> None:
        self.tree.tokens = tokens = list(self._tokens())
        follows = ""
        for token in reversed(tokens):
            token.follows = follows
            follows = token.kind if token.kind != "comment" else follows
        for token in tokens:
            token.block = self.stack[-1].block
            if token.kind != "comment":
                self._take(token)
            self._behind(token)
        while self.stack:
            self._pop(len(self.text))

    def _behind(self, token: Token) -> None:
        top = self.stack[-1]
        token.after_block, token.after_field = top.block, top.field or (self.pending if self.colon else None)
        token.after_role = VALUE if token.after_field is not None else NAME
        if self.json and len(self.stack) == 1:
            token.after_role = NOTHING  # after the top-level object

    # ---- tokens

    def _tokens(self) -> Iterator[Token]:
        position = 0
        while match := _TOKEN.match(self.text, position):
            position, kind = match.end(), match.lastgroup
            if kind == "string":
                position = self._cut(match.start(), position)
            if kind == "comment" and self.json:
                position = match.start() + 1
            elif kind:
                yield Token(kind, match.start(), position)

    def _cut(self, start: int, end: int) -> int:
        """An unterminated string, on a line with an odd number of quotes, is cut at its first space."""
        swallowed = _SWALLOWED.search(self.text, start, end)
        if swallowed is None:
            return end
        line = self.text.rfind("\n", 0, start) + 1
        if line != self.odd[0]:
            stop = self.text.find("\n", start)
            self.odd = line, self.text.count('"', line, stop if stop >= 0 else len(self.text)) % 2 == 1
        return max(swallowed.start(), start + 1) if self.odd[1] else end

    # ---- structure

    def _take(self, token: Token) -> None:
        kind, top = token.kind, self.stack[-1]
        if kind == "open":
            self._open(token)
        elif kind == "close":
            self._close(token, lists=False)
        elif kind == "start":
            if top.field or self.pending:
                self.stack.append(_OpenBracket(top.block, top.field or self.pending))
        elif kind == "end":
            if any(frame.field for frame in self.stack):
                self._close(token, lists=True)
        elif kind == "colon":
            self.colon = self.pending is not None
            return
        elif kind == "comma":
            self.colon = False
        elif token.follows == "colon" or (token.follows == "open" and kind == "word"):
            self._name(token)
            return
        elif top.field or (self.pending and self.colon):
            self._value(token, top.field or self.pending)
        elif kind == "string" and not self.json:  # without a colon, or adjacent strings
            self._value(token, self.pending or next(reversed(top.block.fields), None))
        else:
            self._name(token)
            return
        self.pending, self.colon = None, False

    def _name(self, token: Token) -> None:
        while self.stack[-1].field:  # the list before it was never closed
            self.stack.pop()
        token.role, token.block = NAME, self.stack[-1].block
        token.field = self.pending = SyntaxField(self.tree.word(token), token)
        token.block.fields.append(token.field)
        self.colon = False

    def _value(self, token: Token, field: SyntaxField | None) -> None:
        if field is not None:
            token.role, token.field = VALUE, field
            field.values.append(token)

    def _open(self, token: Token) -> None:
        listed = self.stack[-1].field
        field = listed or self.pending
        if field is None and self.json and len(self.stack) == 1:
            self.stack.append(_OpenBracket(self.tree.root))  # the object that is the file
            return
        if len(self.stack) > DEEPEST:  # the reader gives up here; the brackets are still matched
            self.stack.append(_OpenBracket(self.stack[-1].block))
            return
        if field is not None and field.name == "layer" and not self.json:
            self._layer_in_layer(token, field)
        start = token.start if listed or field is None else field.token.start
        block = SyntaxBlock(field.name if field is not None else "", start, self.stack[-1].block)
        if field is not None:
            field.blocks.append(block)
        self.stack.append(_OpenBracket(block))

    def _layer_in_layer(self, token: Token, field: SyntaxField) -> None:
        """A layer inside a layer, but not in a step, is always an error: the previous layer lacks its closing brace."""
        names = ["" if frame.field else frame.block.name for frame in self.stack]
        last = max((i for i, name in enumerate(names) if name == "step"), default=-1)
        depth = next((i for i in range(last + 1, len(names)) if names[i] == "layer"), None)
        if depth is None:
            return
        self.stack[-1].block.fields.remove(field)
        while len(self.stack) > depth:
            self._pop(field.token.start)
        self.stack[-1].block.fields.append(field)
        token.block = field.token.block = self.stack[-1].block

    def _close(self, token: Token, *, lists: bool) -> None:
        """Close the innermost list, or the innermost block with the lists inside it."""
        while len(self.stack) > 1:
            found = self._pop(token.end)
            if bool(found.field) == lists:
                return

    def _pop(self, end: int) -> _OpenBracket:
        frame = self.stack.pop()
        if not frame.field:
            frame.block.end = end
        return frame
