"""Files that values of a network are written to, batch by batch; the ending of the name says what is written."""
