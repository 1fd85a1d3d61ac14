"""Binding of fields to layers, separately for each layer: attributes, settings, the layers of a step."""
