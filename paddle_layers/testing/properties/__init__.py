"""The properties that a layer's definition promises: a file for each, with its check."""
