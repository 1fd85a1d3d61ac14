"""SVG images as text: numbers are rounded to hundredths of a pixel, strings are escaped.

It is generated here and not by a plotting library: matplotlib and its like need tens of megabytes, for a few lines,
boxes and ticks.
"""

from __future__ import annotations

import math

from .escaping import xml_text


def element(name: str, *content: str, **attributes: str | float) -> str:
    """An element with some attributes and, as its content, other elements.

    In the name of an attribute, an underscore is written as a hyphen, and omitted at the end: `stroke_width`, `class_`.
    Empty attributes are omitted.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items() if value != ""
    )
    return f"<{name}{written}>{''.join(content)}</{name}>" if content else f"<{name}{written}/>"


def label(text: str, x: float, y: float, **attributes: str | float) -> str:
    """Text at a position; `text_anchor` is "start", "middle" or "end"."""
    return element("text", xml_text(text), x=x, y=y, **attributes)


def image(width: float, height: float, *parts: str, title: str = "", style: str = "", **attributes: str | float) -> str:
    """An SVG file of elements, a line each.

    Args:
        width: In pixels.
        height: In pixels.
        parts: Elements; the first one is below all others.
        title: Name of the image for screen readers.
        style: CSS rules.
        attributes: Further attributes of the image, such as `font_size`.
    """
    width, height = math.ceil(width), math.ceil(height)
    size: dict[str, str | float] = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    head = [element("title", xml_text(title))] if title else []
    head += [f"<style>{style}</style>"] if style else []
    lines = "\n".join(["", *head, *parts, ""])
    return element("svg", lines, xmlns="http://www.w3.org/2000/svg", **size, role="img", **attributes) + "\n"


def _value(value: str | float) -> str:
    return xml_text(value) if isinstance(value, str) else str(round(value, 2)).removesuffix(".0")
