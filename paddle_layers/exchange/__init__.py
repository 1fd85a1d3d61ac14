"""Exchange of networks with other systems."""
