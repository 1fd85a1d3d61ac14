"""Networks in the formats of other systems."""
