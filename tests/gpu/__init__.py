"""What only a CUDA card can show: `python -m tests.gpu` runs it and writes docs/development/gpu-results.md.

Each part works through its items in processes of their own (`children`), since a card's context is lost with the first
fault of a kernel, and a kernel may hang. The main process touches no card: it keeps the time and writes the page.
"""
