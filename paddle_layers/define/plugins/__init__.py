"""Plugins: installed packages and files."""
