"""Conformance kit: `check_layer` and `check_plugin`."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from paddle_layers.define import (
    DefinitionError,
    LayerDefinition,
    PluginWarning,
    installed_plugins,
    load_entry_points,
    registries,
)

from .cases.case import Case, all_cases, in_phases
from .cases.trial import as_python, kept_nets
from .findings import Finding, Report
from .properties.catalogue import LAYER_PROPERTIES, PROPERTIES
from .properties.components import COMPONENTS, check_component
from .properties.definitions import illegal_networks, problem_of

if TYPE_CHECKING:
    from .cases.configs import Config

CONFIGS = 40
"""Generated configs of a layer that are computed."""
FAST = 6
"""The same in the loop of editing and checking."""
BASIC = {name for name, property_ in PROPERTIES.items() if property_.basic}
FROM_A_FILE = "paddle_layers_plugin_"
"""Prefix of the names of modules that `--plugins FILE` loads."""
NEEDS_HYPOTHESIS = (
    "only the examples were checked; generated configs require Hypothesis: pip install 'paddle-layers[kit]'"
)


def has_hypothesis() -> bool:
    """Check for Hypothesis (extra `kit`).

    Returns:
        Whether configs can be generated.

    Example::

        if not has_hypothesis():
            print(NEEDS_HYPOTHESIS)
    """
    return importlib.util.find_spec("hypothesis") is not None


def check_layer(
    name: str | LayerDefinition,
    *,
    raise_findings: bool = True,
    configs: int = CONFIGS,
    properties: Collection[str] | None = None,
    compiled: bool = True,
) -> Report:
    """Conformance tests of a layer on all its examples and on generated configs.

    Without Hypothesis (extra `kit`), only the examples are tested. A layer that is only declared is not run.

    Args:
        name: Name of the layer, or its definition.
        raise_findings: Whether findings raise an error.
        configs: Number of generated configs that are computed.
        properties: Names of the properties to check; None for all.
        compiled: Whether properties of compiled kernels are checked; the others run as Python.

    Returns:
        The findings, and the number of cases per property.

    Raises:
        AssertionError: There are findings, and `raise_findings` is true.
        UnknownName: The layer is not registered.
        ValueError: Unknown property.

    Example::

        def test_swish():
            check_layer("swish")
    """
    definition: LayerDefinition = registries["layer"][name] if isinstance(name, str) else name
    known = {**LAYER_PROPERTIES, **PROPERTIES}
    if unknown := set(properties or ()) - set(known):
        raise ValueError(f"unknown property {sorted(unknown)[0]!r}; expected one of {', '.join(known)}")
    begin = time.perf_counter()
    generated = configs if has_hypothesis() and definition.examples else 0
    left_out = {name for name, property_ in PROPERTIES.items() if property_.compiled and not compiled}
    check = _Check(definition.complete(), set(properties or known) - left_out, generated)
    check.run()
    check.report.seconds = time.perf_counter() - begin
    if raise_findings:
        check.report.raise_findings()
    return check.report


class _Check:
    """One run of the kit over a layer. A property is reported once, on the smallest case that is found."""

    def __init__(self, definition: LayerDefinition, wanted: set[str], configs: int) -> None:
        self.definition, self.wanted, self.configs = definition, wanted, configs
        self.report = Report(definition.name)
        self.failed: set[str] = set()

    def run(self) -> None:
        """Check the definition, its answers to configs, then cases: what is basic first."""
        for name, check in LAYER_PROPERTIES.items():
            if name in self.wanted:
                self._take(name, "the definition", check(self.definition))
        if "inference" in self.wanted:
            for text in self.definition.networks:
                self._take("inference", text, [("config", problem_of(text, legal=True))])
            for what, text in illegal_networks(self.definition):
                self._take("inference", f"{what}\n{text}", [("config", problem_of(text, legal=False))])
            for text, problem in self._answers():
                self._take("inference", text, [("config", problem)])
        if self.definition.declared_only:
            self.report.ran = False
            return
        asked = [name for name in PROPERTIES if name in self.wanted]
        rest = [name for name in asked if name not in BASIC]
        # Basic properties one by one over all cases, the others together: a layer whose memory accesses are wrong fails
        # in everything else, too, in ways that explain nothing.
        with kept_nets():
            for group in (*([name] for name in asked if name in BASIC), rest):
                if group and not self.failed & BASIC:
                    self._cases(group)

    def _answers(self) -> Iterable[tuple[str, str | None]]:
        if not self.configs:
            return ()
        from .generated import answers

        return answers(self.definition, self.configs)

    def _cases(self, wanted: list[str]) -> None:
        for case in all_cases(self.definition):
            self._properties(case, wanted, None)
        if self.configs:
            from .generated import chosen

            for number, config in enumerate(chosen(self.definition, self.configs)):
                fitting = [name for name in wanted if number < PROPERTIES[name].most]
                # Separate from those of the examples, so that at most a few nets exist at a time.
                with kept_nets():
                    for case in in_phases(self.definition, config.example, config.batch):
                        self._properties(case, fitting, config)

    def _properties(self, case: Case, wanted: Iterable[str], config: Config | None) -> None:
        for name in wanted:
            if name in self.failed or name in case.unfit or not self.failed.isdisjoint(PROPERTIES[name].implied_by):
                continue
            checked, blamed, message = _outcome(name, case)
            if checked:
                self.report.count(name)
            if message is not None and blamed not in self.failed:
                self._add(blamed, *self._smallest(name, blamed, case, config, message))

    def _take(self, name: str, case: str, verdicts: Iterable[tuple[str, str | None]]) -> None:
        found = list(verdicts)
        if found:
            self.report.count(name)
        message = _message(found)
        if message is not None and name not in self.failed:
            self._add(name, case, message)

    def _add(self, name: str, case: object, message: str) -> None:
        self.failed.add(name)
        definition = self.definition
        file = definition.file if definition.package.startswith(FROM_A_FILE) else ""
        self.report.findings.append(Finding(definition.name, name, str(case), message, file))

    def _smallest(self, name: str, blamed: str, case: Case, config: Config | None, message: str) -> tuple[Case, str]:
        """The smallest case that fails in the same property, and what is wrong there."""
        if not self.configs:
            return case, message
        from .generated import smallest

        def failing(config: Config) -> Iterator[tuple[Case, str]]:
            for other in in_phases(self.definition, config.example, config.batch):
                _, guilty, reason = _outcome(name, other)
                if reason is not None and guilty == blamed:
                    yield other, reason

        compiled = PROPERTIES[name].compiled
        found = smallest(self.definition, config, failing, most=self.configs, compiled=compiled)
        return found or (case, message)


def _outcome(name: str, case: Case) -> tuple[bool, str, str | None]:
    """Whether there was something to check, the property that is to blame, and what is wrong, or None."""
    property_ = PROPERTIES[name]

    def verdicts() -> list[tuple[str, str | None]]:
        return list(property_.check(case))

    try:
        found = verdicts() if property_.compiled else as_python(verdicts)
    except Warning:  # warnings that were made errors are not about this property
        raise
    except IndexError as error:
        # Under `memory`, whichever property noticed it: the cause is an index, and the finding should say so.
        return True, "memory", f"a function accesses an array out of bounds: {_with_place(error)}"
    except DefinitionError as error:
        return True, name, f"the layer fails: {error}"
    except Exception as error:  # the layer under test may raise anything; the report shows it
        return True, name, f"the layer fails: {type(error).__name__}: {_with_place(error)}"
    return bool(found), name, _message(found)


def _with_place(error: Exception) -> str:
    """The message of an error, and the line of the author's function if it is known."""
    return ", ".join([str(error), *getattr(error, "__notes__", ())])


def _message(verdicts: list[tuple[str, str | None]]) -> str | None:
    """The first problem, and how many there are besides."""
    problems = [f"`{place}` {problem}" for place, problem in verdicts if problem is not None]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0] + more if problems else None


def check_plugin(prefix: str) -> list[Report]:
    """Check that an installed plugin loads, its tuned kernels too, and check all its layers.

    Its optimizers, with their lazy updates, its regularizers and its schedules are checked, too.

    Args:
        prefix: Name of its entry point, the prefix of its layers.

    Returns:
        One report per layer.

    Raises:
        AssertionError: All findings, or the reason why the plugin does not load.

    Example::

        def test_plugin():
            check_plugin("ours")
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # of other plugins; this one's is reported below
        load_entry_points()
    plugins = [plugin for plugin in installed_plugins() if plugin.prefix == prefix]
    if not plugins:
        known = ", ".join(f"`{plugin.prefix}`" for plugin in installed_plugins()) or "none"
        raise AssertionError(f"plugin `{prefix}` is not installed (installed: {known}); run `pip install -e .`")
    for plugin in plugins:
        if plugin.broken:
            raise AssertionError(plugin.report)
    with warnings.catch_warnings():
        # A tuned kernel that fails to load is only a warning in normal use, since its point function takes over; here
        # it is a finding.
        warnings.simplefilter("error", PluginWarning)
        try:
            layers = plugins[0].names.get("layer", ())
            reports = [check_layer(name, raise_findings=False) for name in layers]
        except PluginWarning as failed:
            raise AssertionError(str(failed)) from None
    findings = [str(finding) for report in reports for finding in report.findings]
    for kind in COMPONENTS:
        for name in plugins[0].names.get(kind, ()):
            try:
                check_component(kind, name)
            except AssertionError as finding:
                findings.append(str(finding))
    if findings:
        raise AssertionError("\n".join(findings))
    return reports
