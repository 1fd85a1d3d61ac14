"""`check_layer`: every property of a layer that its definition promises."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from paddle_layers.define import LayerDefinition, registries

from .cases import Case, in_phases
from .engines import as_python
from .findings import Finding, Report
from .inference import illegal_networks, problem_of
from .properties import LAYER_PROPERTIES, PROPERTIES, Property

if TYPE_CHECKING:
    from .configs import Config

CONFIGS = 40
"""Generated configs of a layer that are computed."""
FAST = 6
"""The same in the loop of editing and checking."""
NEEDS_HYPOTHESIS = "only the examples were checked; for generated configs `pip install 'paddle-layers[test]'`"


def has_hypothesis() -> bool:
    """Whether configs can be generated."""
    return importlib.util.find_spec("hypothesis") is not None


def check_layer(
    name: str | LayerDefinition,
    *,
    raise_findings: bool = True,
    configs: int = CONFIGS,
    properties: Collection[str] | None = None,
) -> Report:
    """Check a layer on all its examples and on `configs` generated ones; `properties` chooses what is checked.

    Without Hypothesis, which the extra `test` brings, only the examples are checked. Raises `AssertionError` with the
    findings unless `raise_findings` is false, `UnknownName` for a name that is not registered.
    """
    definition: LayerDefinition = registries["layer"][name] if isinstance(name, str) else name
    known = {**LAYER_PROPERTIES, **PROPERTIES}
    if unknown := set(properties or ()) - set(known):
        raise ValueError(f"there is no property {sorted(unknown)[0]!r}; there are {', '.join(known)}")
    begin = time.perf_counter()
    check = _Check(definition.complete(), set(properties or known), configs if has_hypothesis() else 0)
    check.run()
    check.report.seconds = time.perf_counter() - begin
    if raise_findings:
        check.report.raise_findings()
    return check.report


class _Check:
    """One run of the kit over a layer. A property is reported once, on the smallest case that is found."""

    def __init__(self, definition: LayerDefinition, wanted: set[str], configs: int) -> None:
        self.definition, self.configs = definition, configs
        self.wanted = {name: p for name, p in PROPERTIES.items() if name in wanted or p.basic}
        self.asked = wanted
        self.report = Report(definition.name)
        self.failed: set[str] = set()

    def run(self) -> None:
        """Check the definition, its answers to configs, the examples, the generated configs."""
        for name, check in LAYER_PROPERTIES.items():
            if name in self.asked:
                self._verdicts(name, "the definition", check(self.definition))
        if "inference" in self.asked:
            for what, text in illegal_networks(self.definition):
                self._answer(f"{what}\n{text}", problem_of(text, legal=False))
        for example in self.definition.examples:
            for case in in_phases(self.definition, example):
                self._case(case, None)
        if self.configs:
            self._generated()

    def _generated(self) -> None:
        from .generated import answers, chosen

        if "inference" in self.asked:
            for what, problem in answers(self.definition):
                self._answer(what, problem)
        for number, config in enumerate(chosen(self.definition, self.configs)):
            for case in in_phases(self.definition, config.example, config.batch):
                self._case(case, config, number)

    def _answer(self, what: str, problem: str | None) -> None:
        self._verdicts("inference", what, [("config", problem)])

    def _verdicts(self, name: str, case: str, verdicts: Iterable[tuple[str, str | None]]) -> None:
        found = [(place, problem) for place, problem in verdicts]
        if found:
            self.report.count(name)
        message = _message(found)
        if message is not None and name not in self.failed:
            self._add(name, case, message)

    def _add(self, name: str, case: str, message: str) -> None:
        self.failed.add(name)
        if name in self.asked:
            self.report.findings.append(Finding(self.definition.name, name, case, message))

    def _case(self, case: Case, config: Config | None, number: int = 0) -> None:
        for name, property_ in self.wanted.items():
            if (name in self.failed and not property_.basic) or number >= property_.most:
                continue
            checked, blamed, message = _outcome(name, property_, case, generated=config is not None)
            if checked:
                self.report.count(name)
            if message is None:
                continue
            if blamed not in self.failed:
                smallest, message = self._smallest(name, property_, case, config, message)
                self._add(blamed, str(smallest), message)
            if property_.basic:
                return

    def _smallest(
        self, name: str, property_: Property, case: Case, config: Config | None, message: str
    ) -> tuple[Case, str]:
        """The smallest case that fails in the same property, and what is wrong there."""
        if not self.configs:
            return case, message
        from .generated import smallest

        def failing(config: Config) -> Iterator[tuple[Case, str]]:
            for other in in_phases(self.definition, config.example, config.batch):
                _, _, message = _outcome(name, property_, other, generated=True)
                if message is not None:
                    yield other, message

        found = smallest(self.definition, config, failing)
        return found or (case, message)


def _outcome(name: str, property_: Property, case: Case, *, generated: bool) -> tuple[bool, str, str | None]:
    """Whether there was something to check, the property that is to blame, and what is wrong, or None."""

    def verdicts() -> list[tuple[str, str | None]]:
        return list(property_.check(case))

    try:
        found = as_python(verdicts) if generated and not property_.compiled else verdicts()
    except Warning:  # warnings that were made errors are not about this property
        raise
    except IndexError as error:
        return True, "memory", f"a function reads or writes outside of an array: {error}"
    except Exception as error:  # whatever the layer's functions do, it is that layer's fault
        return True, name, f"the layer does not run: {type(error).__name__}: {error}"
    return bool(found), name, _message(found)


def _message(verdicts: list[tuple[str, str | None]]) -> str | None:
    """The first problem, and how many there are besides."""
    problems = [f"`{place}` {problem}" for place, problem in verdicts if problem is not None]
    more = f" (and in {len(problems) - 1} more places)" if len(problems) > 1 else ""
    return problems[0] + more if problems else None
