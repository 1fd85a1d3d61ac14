"""Text and JSON to fields, each with its place."""
