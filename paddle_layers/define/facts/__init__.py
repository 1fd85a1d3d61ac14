"""What is known of a layer by its functions and parts; none is declared."""
