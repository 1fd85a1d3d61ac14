"""Layers that find things in images: boxes, their matching and suppression, regions of interest."""
