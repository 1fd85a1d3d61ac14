"""Unsupported image formats, detected by their first bytes for the message."""

from __future__ import annotations

_STARTS = {
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "BigTIFF",
    b"MM\0+": "BigTIFF",
    b"\0\0\0\x0cjP  ": "JPEG 2000",
    b"\xff\x4f\xff\x51": "JPEG 2000",
    b"\0\0\0\x0cJXL ": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"8BPS": "Photoshop",
    b"\0\0\x01\0": "an icon",
    b"%!PS": "PostScript",
    b"%PDF": "PDF",
    b"<svg": "SVG",
    b"<?xml": "SVG, or other XML",
    b"DDS ": "DirectDraw Surface",
    b"\x76\x2f\x31\x01": "OpenEXR",
    b"SIMPLE  =": "FITS",
}
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF", b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIF", b"msf1": "HEIF"}
FIRST = 16
"""Bytes that are looked at."""


def unread_format(first: bytes) -> str:
    """Message for an unsupported image file: its format, if the first bytes show it."""
    found = next((kind for start, kind in _STARTS.items() if first.startswith(start)), "")
    if first[4:8] == b"ftyp":
        found = _BRANDS.get(first[8:12], "")
    return f"{found} is not supported; save the image as PNG or JPEG" if found else "not an image, or corrupt"
