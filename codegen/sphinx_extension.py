"""Sphinx extension: formulas as MathML, images inside the page, and a directive that includes a layer's page.

In a plugin's own manual, with `extensions = ["paddle_layers.codegen.sphinx_extension"]`:

    .. paddle-layer:: ours_gate
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.utils import new_document
from latex2mathml.converter import convert
from myst_parser.parsers.sphinx_ import MystParser
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Whitespace
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

import paddle_layers as pl
from paddle_layers.define.errors import UnknownName

from .axes import axes_picture
from .pages import page

THEME = Path(__file__).parent / "theme"


class TextprotoLexer(RegexLexer):
    """Colors for protobuf's text format."""

    name, aliases = "textproto", ["textproto"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', String),
            (r"[-+]?(?:\d[\w.]*|inf\b|nan\b)", Number),
            (r"(?:true|false)\b", Keyword.Constant),
            (r"\w+(?=\s*[:{\[])", Name.Attribute),
            (r"\w+", Name.Constant),
            (r".", Punctuation),
        ]
    }


class LayerPage(SphinxDirective):
    """Includes the reference page of a registered layer."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The page's sections. Raises a Sphinx error for a name that is not registered."""
        try:
            layer = pl.registry[self.arguments[0]]
        except UnknownName as error:
            raise self.error(str(error)) from error
        document = new_document(f"<page of {layer.name}>", self.state.document.settings)
        MystParser().parse(page(layer, picture=True), document)
        for image in list(document.findall(nodes.image)):
            image.parent.replace(image, _inline(axes_picture(layer)))
        for section in document.findall(nodes.section):
            self.state.document.note_implicit_target(section)
        return list(document.children)


class InlinePictures(SphinxTransform):
    """Puts the SVG file that is named like its page into it, so that it follows the color scheme of the site."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Replace the images."""
        for image in list(self.document.findall(nodes.image)):
            file = Path(self.env.doc2path(self.env.docname)).parent / image["uri"]
            if file.suffix == ".svg" and file.is_file() and file.stem == Path(self.env.docname).name:
                image.parent.replace(image, _inline(file.read_text(encoding="utf-8")))


def _inline(svg: str) -> nodes.raw:
    # Styles of an inline SVG apply to the whole page; the theme has them, limited to `.axes`.
    text = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    return nodes.raw("", f'<span class="axes">{text}</span>', format="html")


def _inline_math(writer: Any, node: nodes.math) -> None:
    # MathML instead of MathJax: no script, no request to another server, and it works in a site that is opened from the
    # disk.
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block_math(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def _add_static(app: Sphinx) -> None:
    app.config.html_static_path.append(str(THEME))


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx entry point."""
    app.setup_extension("myst_parser")
    app.config.myst_fence_as_directive = {"math"}
    app.add_lexer("textproto", TextprotoLexer)
    app.add_directive("paddle-layer", LayerPage)
    app.add_transform(InlinePictures)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", _add_static)
    app.add_css_file("paddle_layers.css")
    return {"version": pl.__version__, "parallel_read_safe": True, "parallel_write_safe": True}
