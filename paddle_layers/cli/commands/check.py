"""`check`: conformance tests of layers."""

from __future__ import annotations

import click

from ..output.terminal import echo


@click.command()
@click.argument("names", nargs=-1)
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only this property; repeatable.")
@click.option("--fast", is_flag=True, help="Check only a few generated configs, for a fast edit-and-check cycle.")
def command(names: tuple[str, ...], properties: tuple[str, ...], fast: bool) -> None:
    """Run the conformance tests of the layers NAMES, or of all.

    Tests their examples and generated configs. Plugin authors add `--plugins FILE.py`. The guide "Conformance"
    describes the properties.
    """
    from paddle_layers.define import registries
    from paddle_layers.testing import CONFIGS, FAST, NEEDS_CUDA, NEEDS_HYPOTHESIS, check_layer, has_cuda, has_hypothesis

    registry = registries["layer"]
    wanted = [registry[name].name for name in names] or list(registry)
    reports = []
    for name in wanted:
        try:
            report = check_layer(
                name, raise_findings=False, configs=FAST if fast else CONFIGS, properties=properties or None
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        reports.append(report)
        if report.findings:
            echo(f"{name}: failed ({report})\n" + "\n".join(map(str, report.findings)), err=True)
        elif report.checks:
            echo(f"{name}: passed ({report})")
        else:
            echo(f"{name}: skipped (no check for --property)")
    failed = sum(bool(report.findings) for report in reports)
    if not has_hypothesis():
        echo(NEEDS_HYPOTHESIS, err=True)
    if not has_cuda():
        echo(NEEDS_CUDA, err=True)
    checks, seconds = sum(report.checks for report in reports), sum(report.seconds for report in reports)
    totals = f"({checks} checks; {seconds:.0f} s)"
    if failed:
        echo(f"{failed} of {len(reports)} layers failed {totals}", err=True)
        raise click.exceptions.Exit(1)
    if len(reports) > 1:
        echo(f"all {len(reports)} layers passed {totals}")
