"""Test cases: configs of a layer as small networks, with batches of data and nets that run them."""
