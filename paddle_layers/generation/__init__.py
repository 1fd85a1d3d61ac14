"""Autoregressive text generation: beam search and sampling."""
