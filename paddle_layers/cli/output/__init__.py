"""What commands write: on the terminal, into files, as pages and pictures."""
