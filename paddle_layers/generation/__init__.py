"""Texts that a network writes, word by word: beam search and drawing."""
