"""Serialization of networks as text and protobuf messages."""
