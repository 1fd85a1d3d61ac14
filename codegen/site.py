"""Documentation site: guides and reference as HTML, by Sphinx and the theme Furo. Needs the extra `docs`.

Search terms of the site's pages, as entries of Sphinx's index, which its search ranks above titles and text.

A guide lists its terms in comments, `<!-- search: custom loss, loss function -->`; those of a definition are its search
terms and its names in other frameworks. A term leads to one page: to the guide that lists it, else to the definition
with this search term, else to the one with this name in PyTorch or Keras. Other pages follow it in the results.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

import paddle_layers as pl
from paddle_layers.config import render_text
from paddle_layers.config.checking import examine
from paddle_layers.define import Definition, registries, terms_of
from paddle_layers.define.machine import gc_paused
from paddle_layers.define.output_folders import copy_files
from paddle_layers.runtime.plan.dry_run import footprint

from .markdown import cell_code
from .network_picture import picture
from .pages import FILES, render, source_place
from .python_pages import FOLDER as PYTHON
from .python_pages import SETTINGS as PYTHON_SETTINGS
from .python_pages import write_python_pages
from .reference import CODES, FOLDERS, write_reference
from .sphinx_extension import THEME

INDEXES = {
    "schedules": ("learning rate schedule", "learning rate", "learning rate scheduler", "lr_scheduler"),
    "optimizers": ("optimizer", "optimizers", "torch.optim"),
    "initializers": ("weight initialization", "initializer"),
    "regularizers": ("regularization", "regularizer"),
    "transforms": ("data augmentation", "preprocessing"),
    "diagnostics": ("error code", "error codes", "error message"),
}
"""Search terms of the indexes of the reference."""
_COMMENT = re.compile(r"^<!-- search: (.*?) -->$", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"[\w .-]+")
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
            *("contributing", "architecture", "testing", "gpu-testing", "gpu-kernels", "mutation-testing", "fuzzing"),
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


def add_search_terms(pages: Path) -> None:
    """Add index entries to the Markdown pages below `pages`: in guides at the comments, in others after the title."""
    owners: dict[str, Path] = {}
    for path in sorted(pages.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if comments := list(_COMMENT.finditer(text)):
            for comment in comments:
                text = text.replace(comment[0], _index(owners, path, _entries(comment[1].split(","))))
            path.write_text(text, encoding="utf-8")
    terms: dict[Path, list[str]] = {}
    for path, term in _names(pages):
        owners.setdefault(term, path)
        terms.setdefault(path, []).append(term)
    for path, found in terms.items():
        index = _index(owners, path, dict.fromkeys(found))
        head, title, rest = re.split(r"^(# .*\n)", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)
        path.write_text(f"{head}{title}\n{index}\n{rest}", encoding="utf-8")


def _index(owners: dict[str, Path], path: Path, terms: Iterable[str]) -> str:
    """A directive; the search ranks main entries above all other results, and other entries after them."""
    words = [f"! {term}" if owners.setdefault(term, path) == path else term for term in terms]
    return f"```{{index}} {', '.join(sorted(words, key=lambda word: not word.startswith('!')))}\n```\n"


def _names(pages: Path) -> Iterator[tuple[Path, str]]:
    """Pages of the reference with their terms, in the order of precedence."""
    for folder, terms in INDEXES.items():
        for term in terms:
            yield pages / "reference" / folder / "index.md", term
    # In this order over all pages: our own name of one layer precedes a foreign name of another.
    for terms_of_page in (_search_terms, _names_in_frameworks, terms_of):
        for kind, folder in FOLDERS.items():
            for definition in registries[kind].values():
                for term in _entries(terms_of_page(definition)):
                    yield pages / "reference" / folder / f"{definition.name}.md", term


def _search_terms(definition: Definition) -> Iterable[str]:
    return definition.name, *definition.terms


def _names_in_frameworks(definition: Definition) -> Iterator[str]:
    for framework in ("PyTorch", "Keras"):
        yield from definition.elsewhere.get(framework, "").split(", ")


def _entries(names: Iterable[str]) -> Iterator[str]:
    """Names in lower case, as they are and split into words: `conv2dtranspose`, `innerproduct`, `inner product`."""
    for name in map(str.strip, names):
        # People type `conv2d transpose` as well as `Conv2DTranspose`.
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
        yield from (term.lower() for term in dict.fromkeys((name, words)) if _ENTRY.fullmatch(term))


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
        gc_paused(app.build)
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
