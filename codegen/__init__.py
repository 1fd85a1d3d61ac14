"""Generators of text from definitions: reference pages (Jinja2 templates in `templates`), schema bindings."""
