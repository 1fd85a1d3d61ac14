"""Networks as text, and as protobuf messages."""
