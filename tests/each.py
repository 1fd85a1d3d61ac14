"""Many small cases in one test: collecting and reporting a test takes longer than such a case."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(argument: str, cases: Iterable[Any], *, ids: Callable[[Any], str] = str) -> Callable[[Any], Any]:
    """Like `pytest.mark.parametrize`, in one test; all failures are reported, each with its case as a note.

    Fixtures are shared by all cases. Cases that take more than some milliseconds, or skip, are tests of their own.
    """
    values = list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def checked(**fixtures: Any) -> None:
            assert values, f"no case of {argument}"
            failures = []
            for value in values:
                try:
                    test(**fixtures, **{argument: value})
                except Exception as error:  # raised below, when the other cases have run
                    error.add_note(f"{argument}: {ids(value)}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(values)} cases of {argument}", failures)

        parameters = inspect.signature(test).parameters.values()
        fixtures = [one for one in parameters if one.name != argument]
        vars(checked)["__signature__"] = inspect.Signature(fixtures)  # from which pytest takes the fixtures
        return checked

    return decorate
