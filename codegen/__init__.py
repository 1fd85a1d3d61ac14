"""Text made from definitions: reference pages (Jinja2 templates beside), bindings of the schema."""
