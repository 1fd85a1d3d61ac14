"""Editor support for configs: completion, hover, definitions, diagnostics; `server` is the LSP server."""
