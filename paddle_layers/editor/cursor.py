"""The cursor context: the enclosing block, the field, and whether it is at a name or at a value."""

from __future__ import annotations

from typing import NamedTuple

from .scanner import NAME, NOTHING, Block, Field, Tree


class Place(NamedTuple):
    """Completion context at the cursor, and the range to replace."""

    role: str
    """NAME, VALUE or NOTHING."""
    block: Block
    field: Field | None
    """The field whose name or value contains the cursor; None if a new name may begin."""
    start: int
    end: int
    quoted: bool = False
    """Whether an opening quote is before `start`."""
    closed: bool = False
    """Whether a closing quote is at `end`."""
    continued: bool = False
    """Whether `:` or a bracket follows: the field has a value already."""


def place(tree: Tree, offset: int) -> Place:
    """The completion context at an offset."""
    token = tree.before(offset)
    if token is None:
        return Place(NOTHING if tree.json else NAME, tree.root, None, offset, offset)
    if token.kind == "comment" and offset <= token.end:
        return Place(NOTHING, token.block, None, offset, offset)
    closed = token.kind == "string" and tree.closed(token)
    if token.kind in ("word", "string") and (offset < token.end or (offset == token.end and not closed)):
        start, end = tree.inside(token)
        quoted = token.kind == "string"
        continued = token.follows in ("colon", "open")
        return Place(token.role, token.block, token.field, start, end, quoted, closed, continued)
    return Place(token.after_role, token.after_block, token.after_field, offset, offset)
