"""Text made from definitions: reference pages (Jinja2), and later schemas and typed helpers."""
