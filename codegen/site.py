"""Documentation site: guides and reference as HTML, by Sphinx and the theme Furo. Needs the extra `docs`."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from pathlib import Path

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

import paddle_layers as pl
from paddle_layers.config import render_text
from paddle_layers.config.checking import examine
from paddle_layers.define import Definition, registries
from paddle_layers.define.output_folders import copy_files
from paddle_layers.runtime.plan.dry_run import footprint

from .file_pages import FILES
from .markdown import cell_code
from .network_picture import picture
from .pages import render, source_place
from .python_pages import FOLDER as PYTHON
from .python_pages import SETTINGS as PYTHON_SETTINGS
from .python_pages import write_python_pages
from .reference import CODES, FOLDERS, write_reference
from .search_terms import add_search_terms
from .sphinx_extension import THEME

ROOT = Path(__file__).resolve().parent.parent
GUIDES = next((folder for folder in (ROOT / "guides", ROOT / "docs") if folder.is_dir()), None)
"""The guides: `docs` of a checkout, `guides` of the installed package."""
SECTIONS = {
    "Tutorials": ("tutorials", ("getting-started", "examples")),
    "How-to guides": (
        "how-to",
        (
            *("use-your-own-data", "tables", "image-data", "regression-and-recommendation", "training-recipes"),
            *("monitor-training", "runs-and-sweeps", "evaluate-and-predict", "fine-tuning", "pretrained-weights"),
            *("generate-text", "use-from-python", "measure-performance", "distributed-training", "use-a-gpu", "onnx"),
            "import-from-caffe",
            *("write-a-layer", "write-a-loss", "layers-from-messages", "plugins", "editors", "other-languages"),
        ),
    ),
    "Explanations": (
        "explanations",
        (
            *("network-files", "reusable-blocks", "recurrent-networks", "decoders-and-structured-losses"),
            *("layer-combinations", "paddle-caffe-mocha-kunet", "states-and-scans", "conformance", "compatibility"),
            *("performance",),
        ),
    ),
    "Development": (
        "development",
        (
            *("contributing", "architecture", "testing", "gpu-testing", "mutation-testing", "fuzzing"),
            *("fault-injection", "error-messages", "performance"),
        ),
    ),
}
"""Guides by section, after Diataxis, in the order of reading; other pages of a folder follow."""
SIDEBAR = [
    *("sidebar/brand.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/siblings.html"),
    *("sidebar/navigation.html", "sidebar/scroll.html", "sidebar/scroll-end.html"),
]
ORPHAN = "---\norphan: true\n---\n\n"
"""Begins a page that is not in the tree of contents."""
HOME = """\
name: "small"
layer { name: "image" type: "data"
        data { shape: [1, 8, 8] } }
layer { name: "label" type: "data"
        data { data_type: INT size: 10 } }
layer { name: "conv1" type: "conv" input: "image"
        conv { num_filters: 8 filter_size: 3 act: "relu" } }
layer { name: "scores" type: "fc" input: "conv1"
        fc { size: 10 } }
layer { name: "cost" type: "softmax_with_loss"
        input: "scores" input: "label" }
"""
"""The network of the first page, that of the README."""
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def build_site(folder: Path) -> list[str]:
    """Write the site to `folder`; returns Sphinx's warnings. Raises `OSError`."""
    with tempfile.TemporaryDirectory() as work:
        pages, extra, site = (Path(work) / name for name in ("pages", "extra", "site"))
        pages.mkdir()
        write_reference(pages / "reference", _source_link)
        write_python_pages(pages / PYTHON)
        _write_guides(pages)
        siblings = _write_navigation(pages)
        add_search_terms(pages)
        _write_sources(extra / "source")
        warnings = io.StringIO()
        app = Sphinx(
            pages,
            None,
            site,
            Path(work) / "doctrees",
            "html",
            confoverrides=_settings(extra, siblings),
            status=None,
            warning=warnings,
            # The sources are generated anew each time, so a cached environment would never be valid.
            freshenv=True,
            parallel=os.cpu_count() or 1,
        )
        app.build()
        shutil.rmtree(site / "_sources", ignore_errors=True)
        copy_files(site, folder)  # Sphinx would follow the links in it
    return [line for line in warnings.getvalue().splitlines() if line]


def _settings(extra: Path, siblings: dict[str, list[str]]) -> dict[str, object]:
    return {
        "project": "paddle_layers",
        "version": pl.__version__,
        "release": pl.__version__,
        "extensions": ["paddle_layers.codegen.sphinx_extension", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
        **PYTHON_SETTINGS,
        "html_theme": "furo",
        "html_title": f"paddle_layers {pl.__version__}",
        "html_favicon": str(THEME / "paddle_layers.svg"),
        "html_logo": str(THEME / "paddle_layers.svg"),
        "html_extra_path": [str(extra)],
        "html_copy_source": False,
        "html_use_index": False,
        "templates_path": [str(THEME.with_name("templates"))],
        "html_sidebars": {"**": SIDEBAR},
        "html_context": {"siblings": siblings},
        "html_show_search_summary": False,  # it would fetch pages, which a site opened from the disk may not
        "html_show_copyright": False,
        "myst_heading_anchors": 3,
        # A link without a target is a warning, and the build returns all warnings.
        "nitpicky": True,
        "smartquotes": False,
        "show_warning_types": True,
    }


def _write_guides(pages: Path) -> None:
    """The guides with their charts, and the pages and images of the examples."""
    if GUIDES is None:
        return
    guides = (page for folder, _ in SECTIONS.values() for page in GUIDES.glob(f"{folder}/*.md"))
    texts = [*guides, *GUIDES.glob("examples/*/README.md")]
    patterns = ("examples/*/*.svg", "examples/*/*.png", "explanations/*.svg")
    pictures = [path for pattern in patterns for path in GUIDES.glob(pattern)]
    known = {path.relative_to(GUIDES) for path in (*texts, *pictures)}
    for path in sorted(known):
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = _with_links_inside((GUIDES / path).read_text(encoding="utf-8"), path.parent, known)
            (pages / path).write_text(ORPHAN * (path.name == "README.md") + text, encoding="utf-8")
        else:
            shutil.copy(GUIDES / path, pages / path)


def _with_links_inside(text: str, folder: Path, known: set[Path]) -> str:
    """A guide whose links out of the site, to files of the checkout, are left as words."""

    def linked(match: re.Match[str]) -> str:
        words, target, _ = match.groups()
        path = Path(os.path.normpath(folder / target))
        return match[0] if "://" in target or path.parts[0] == "reference" or path in known else words

    # What looks like a link in code is code.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [_LINK.sub(linked, part) for part in parts[::2]]
    return "".join(parts)


def _write_navigation(pages: Path) -> dict[str, list[str]]:
    """The first page, and the tree of contents; returns the pages of each folder of the reference.

    They are not part of the tree, which Sphinx lays out anew for every page: the sidebar lists those of one folder.
    """
    guides = {title: _pages_of(pages, folder, order) for title, (folder, order) in SECTIONS.items()}
    # The message on the first page is what `validate` prints now, not a copy that ages.
    network, wrong = pl.loads(HOME), HOME.replace("num_filters", "num_filter").replace('"label" }', '"lable" }')
    (pages / "network.svg").write_text(picture(network, footprint(network, 64)), encoding="utf-8")
    message = render_text(examine(wrong, "net.textproto").faults)
    home = render("home.md.j2", version=pl.__version__, network=HOME, message=message, gallery=any(guides.values()))
    home += "".join(_tree(names, title) for title, names in guides.items() if names and title != "Development")
    home += _tree(["reference/index", f"{PYTHON}/index"], "Reference")
    home += _tree(guides["Development"], "Development") if guides["Development"] else ""
    (pages / "index.md").write_text(home, encoding="utf-8")
    reference = pages / "reference"
    folders = [name for name in (*FOLDERS.values(), CODES) if (reference / name).is_dir()]
    index = (reference / "index.md").read_text(encoding="utf-8")
    index += _tree([*FILES, *(f"{name}/index" for name in folders), "by-input", "elsewhere"])
    (reference / "index.md").write_text(index, encoding="utf-8")
    siblings = {}
    for folder in (*(f"reference/{name}" for name in folders), PYTHON):
        files = sorted(path for path in (pages / folder).glob("*.md") if path.stem != "index")
        for file in files:
            # Hundreds of pages in the tree would be part of the sidebar of every page.
            file.write_text(ORPHAN + file.read_text(encoding="utf-8"), encoding="utf-8")
        siblings[folder] = [file.stem for file in files]
    return siblings


def _pages_of(pages: Path, folder: str, order: tuple[str, ...]) -> list[str]:
    """The pages of a section: those of `order` first, then the others."""
    found = {path.stem for path in (pages / folder).glob("*.md")}
    names = [*(name for name in order if name in found), *sorted(found - set(order))]
    return [f"{folder}/{name}" for name in names]


def _tree(names: list[str], caption: str = "") -> str:
    head = f":caption: {caption}\n" if caption else ""
    return "\n```{toctree}\n:hidden:\n" + head + "\n" + "\n".join(names) + "\n```\n"


# ---- source files


def _source_link(definition: Definition, _: Path) -> str:
    """A link to the line in the site's copy of the source; all pages of definitions are two folders deep."""
    place = cell_code(source_place(definition)).strip("`")
    return f'<a href="../../source/{_source_name(definition)}#L-{definition.line}"><code>{place}</code></a>'


def _source_name(definition: Definition) -> str:
    return re.sub(r"[^\w.]", "_", definition.module) + ".html"


def _write_sources(folder: Path) -> None:
    folder.mkdir(parents=True)
    dark: str = HtmlFormatter(style="github-dark").get_style_defs()
    night = f"body{{background:#0d1117;color:#e6edf3}}{dark}"
    colours = f"body{{font-family:monospace}}@media(prefers-color-scheme:dark){{{night}}}"
    for registry in registries.values():
        for definition in registry.values():
            path, file = folder / _source_name(definition), Path(definition.file)
            if not path.exists() and file.is_file():
                formatter = HtmlFormatter(
                    full=True, linenos="inline", lineanchors="L", title=source_place(definition).partition(":")[0],
                    cssstyles=colours,
                )  # fmt: skip
                html = pygments.highlight(file.read_text(encoding="utf-8"), PythonLexer(), formatter)
                style = f"<style>{colours}</style><link rel=icon href=../_static/paddle_layers.svg></head>"
                path.write_text(html.replace("</head>", style, 1), encoding="utf-8")
