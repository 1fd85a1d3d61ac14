"""What a network does with its time: made-up feeds, seconds, operations and bytes of each launch."""
