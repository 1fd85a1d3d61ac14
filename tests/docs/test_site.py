"""The site: no warning, no broken link, and in a browser: search, formulas, both colour schemes, a narrow screen."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urlsplit

import pytest
from paddle_layers.codegen.python_pages import GROUPS

import paddle_layers as pl
from tests.docs.test_pages import PLUGIN
from tests.selection import SHARE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
NARROW = 360


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site with a plugin of hostile texts; built once, since a build takes minutes of CPU."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "hostile.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "paddle_layers", "docs", "site", "--html", "--plugins", "hostile.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken, local = [], 0
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            local += 1
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file() or not file.is_relative_to(site):
                broken.append(f"{path.relative_to(site)}: {link}")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                broken.append(f"{path.relative_to(site)}: {link} has no such anchor")
    assert not broken, "\n".join(broken)
    assert local > 1000
    print(f"{len(pages)} pages, {local} links")


def test_every_layer_has_a_page_with_anchors(site: Path, pages: dict[Path, Page]) -> None:
    for name in pl.registry:
        anchors = pages[site / "reference" / "layers" / f"{name}.html"].anchors
        assert {f"attribute-{attribute}" for attribute in pl.registry[name].attributes} <= anchors


def test_what_a_python_program_uses_has_a_page_of_its_docstring(site: Path) -> None:
    for group in GROUPS.values():
        for module, names in group.items():
            for name in names:
                text = (site / "python" / f"{name}.html").read_text(encoding="utf-8")
                assert f'id="{module}.{name}"' in text
    net = (site / "python" / "Net.html").read_text(encoding="utf-8")
    assert 'id="paddle_layers.Net.backward"' in net
    assert "Gradients of parameters are overwritten, not accumulated." in net
    assert 'id="paddle_layers.Net.statistics"' in net, "methods of its bases"
    each = re.sub("<[^>]+>", "", (site / "python" / "each.html").read_text(encoding="utf-8"))
    for part in ("Parameters:", "Returns:", "Raises:", "Example:", "DefinitionError", "@each(Swish.y)"):
        assert part in each


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page]) -> None:
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert '<script src="http' not in text
        assert "cdn." not in text


# ---- in a browser


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if BROWSER is None or DRIVER is None:
        pytest.skip("needs Debian's chromium and chromium-driver; .ci/run installs them")
    from selenium.webdriver import Chrome
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER
    quiet = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def screen(browser: Any, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def brightness(browser: Any) -> float:
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    numbers = [float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3]]
    return sum(numbers) / 3


SEARCHES = {
    "transposed convolution": "reference/layers/conv_trans.html",
    "batch normalization": "reference/layers/batch_norm.html",
    "LSTM": "reference/layers/simple_lstm.html",
    "GRU": "reference/layers/simple_gru.html",
    "validation set": "how-to/use-your-own-data.html",
    "validation": "how-to/use-your-own-data.html",
    "custom loss": "how-to/write-a-loss.html",
    "custom": "how-to/write-a-loss.html",
    "loss function": "how-to/write-a-loss.html",
    "learning rate schedule": "reference/schedules/index.html",
    "learning rate": "reference/schedules/index.html",
    "early stopping": "reference/callbacks/early_stop.html",
    "embedding": "reference/layers/embedding.html",
    "CRF": "reference/layers/crf.html",
    "hierarchical softmax": "reference/layers/hsigmoid.html",
    "class weights": "reference/layers/class_weight.html",
    "mixed precision": "explanations/performance.html",
    "fine-tuning": "how-to/fine-tuning.html",
    "export ONNX": "how-to/onnx.html",
    "GAN": "examples/adversarial/README.html",
    "VAE": "examples/generation/README.html",
    "NaN loss": "how-to/training-recipes.html",
    "InnerProduct": "reference/layers/fc.html",
    "Conv2D": "reference/layers/conv.html",
    "png": "how-to/use-your-own-data.html",
}


@pytest.mark.parametrize(("words", "page"), SEARCHES.items())
def test_search_finds_the_right_page_first(browser: Any, address: str, words: str, page: str) -> None:
    browser.get(f"{address}/search.html?q={quote(words)}")
    found: list[str] = []
    for _ in range(100):
        found = browser.execute_script("return [...document.querySelectorAll('#search-results a')].map(a => a.href)")
        if found:
            break
        time.sleep(0.1)
    assert found
    assert found[0].split("#")[0].split("?")[0].endswith(f"/{page}"), found


def test_the_first_page_shows_a_network_a_mistake_and_the_examples(site: Path, pages: dict[Path, Page]) -> None:
    links = pages[site / "index.html"].links
    text = (site / "index.html").read_text(encoding="utf-8")
    plain = re.sub(r"<[^>]*>", "", text)
    for part in ("pip install paddle-layers", "error[E101]", "did you mean `num_filters`?"):
        assert part in plain, part
    for name in ("digits", "text", "language", "tagger", "plugin"):
        assert f"examples/{name}/README.html" in links
    assert "network.svg" in text


def test_parts_of_a_layers_page_fold(browser: Any, address: str) -> None:
    browser.get(f"{address}/reference/layers/lstmemory.html")
    folded = browser.execute_script("return [...document.querySelectorAll('details summary')].map(s => s.textContent)")
    assert folded == ["Example values", "Gradients", "Definition", "More examples"]
    heads = browser.execute_script("return [...document.querySelectorAll('h2')].map(h => h.firstChild.textContent)")
    assert heads[:4] == ["Use", "Attributes", "Inputs", "Outputs"]


def test_formulas_are_set(browser: Any, address: str) -> None:
    screen(browser, 1200, "light")
    browser.get(f"{address}/reference/layers/softmax.html")
    sizes = browser.execute_script(
        "document.querySelectorAll('details').forEach(folded => { folded.open = true });"
        "return [...document.querySelectorAll('div.math math')].map(m => {"
        " const box = m.getBoundingClientRect(); return [box.width, box.height, m.querySelectorAll('mi').length] })"
    )
    assert len(sizes) == 5
    assert all(width > 50 and height > 15 and letters > 3 for width, height, letters in sizes)
    fraction, line = sizes[2][1], sizes[3][1]
    assert fraction > 1.2 * line * 0.8, "a fraction is higher than a line"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes(browser: Any, address: str, scheme: str) -> None:
    screen(browser, 1200, scheme)
    browser.get(f"{address}/reference/layers/conv.html")
    assert (brightness(browser) > 200) == (scheme == "light")
    label = browser.execute_script("return getComputedStyle(document.querySelector('.axes text')).fill")
    bright = sum(float(part) for part in label.partition("(")[2].rstrip(")").split(",")[:3]) / 3
    assert (bright < 128) == (scheme == "light")


@pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.later)])
def test_no_page_is_wider_than_a_phone(
    browser: Any, address: str, site: Path, pages: dict[Path, Page], share: int
) -> None:
    """All guides; pages of the reference have templates."""
    screen(browser, NARROW, "dark")
    wide = []
    shown = [path for path in pages if "source" not in path.parts]
    generated = [path for path in shown if "reference" in path.parts]
    for path in [*generated[::share], *(path for path in shown if path not in generated)]:
        browser.get(f"{address}/{path.relative_to(site)}")
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > NARROW:
            wide.append(f"{path.relative_to(site)}: {width}")
    assert not wide, "\n".join(wide)


def test_no_error_and_no_request_to_elsewhere(browser: Any, address: str) -> None:
    browser.get_log("browser"), browser.get_log("performance")
    for page in ("index.html", "reference/layers/fc.html", "reference/elsewhere.html", "search.html?q=pool"):
        browser.get(f"{address}/{page}")
        time.sleep(0.3)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert len(asked) > 20
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


# ---- the directive in a manual of somebody else


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("index.rst", "Manual\n======\n\n.. paddle-layer:: softmax\n"),
        ("index.md", "# Manual\n\n```{paddle-layer} softmax\n```\n"),
    ],
    ids=["rst", "myst"],
)
def test_directive_includes_the_page_of_a_layer(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "conf.py").write_text('extensions = ["paddle_layers.codegen.sphinx_extension"]\n')
    command = [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    html = (tmp_path / "out" / "index.html").read_text()
    for part in ("<math", "<svg", 'id="input-x"', "Equivalents in other frameworks", "softmax_dx"):
        assert part in html


def test_directive_names_the_nearest_layer(tmp_path: Path) -> None:
    (tmp_path / "index.rst").write_text("Manual\n======\n\n.. paddle-layer:: softmx\n")
    (tmp_path / "conf.py").write_text('extensions = ["paddle_layers.codegen.sphinx_extension"]\n')
    command = [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert "did you mean `softmax`?" in done.stderr


# ---- hostile text


def test_a_plugins_text_stays_text(site: Path, pages: dict[Path, Page]) -> None:
    path = site / "reference" / "layers" / "hostile.html"
    html = path.read_text()
    for harmless in ("&lt;script&gt;alert(1)&lt;/script&gt;", "{download}", "% gone", "(target)=", "+++", "&lt;i&gt;x"):
        assert harmless in html, harmless
    assert not [link for link in pages[path].links if "javascript" in link or "passwd" in link or link == "http://x"]
    assert "alert(1)</script>" not in html
    assert not list(site.rglob("passwd"))
