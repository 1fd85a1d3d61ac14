"""`check_plugin`: conformance tests of all definitions of a plugin."""

from __future__ import annotations

import warnings

from paddle_layers.define import PluginWarning, installed_plugins, load_entry_points

from .findings import Report
from .kit import check_layer
from .properties.lazy_updates import check_lazy_update, check_linear_penalty


def check_plugin(prefix: str) -> list[Report]:
    """Check that an installed plugin loads, its tuned kernels too, and check all its layers.

    Lazy updates of its optimizers and regularizers are checked, too.

    Args:
        prefix: Name of its entry point, the prefix of its layers.

    Returns:
        One report per layer.

    Raises:
        AssertionError: All findings, or the reason why the plugin does not load.
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
        warnings.simplefilter("error", PluginWarning)
        try:
            layers = plugins[0].names.get("layer", ())
            reports = [check_layer(name, raise_findings=False) for name in layers]
        except PluginWarning as failed:
            raise AssertionError(str(failed)) from None
    findings = [str(finding) for report in reports for finding in report.findings]
    for kind, check in (("optimizer", check_lazy_update), ("regularizer", check_linear_penalty)):
        for name in plugins[0].names.get(kind, ()):
            try:
                check(name)
            except AssertionError as finding:
                findings.append(str(finding))
    if findings:
        raise AssertionError("\n".join(findings))
    return reports
