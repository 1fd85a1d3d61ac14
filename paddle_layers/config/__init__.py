"""Text and JSON to a checked network: reader with spans, binder, wiring, inference, diagnostics, formatter."""
