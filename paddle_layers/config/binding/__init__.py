"""Fields to layers, each by itself: attributes, settings, the layers of a step."""
