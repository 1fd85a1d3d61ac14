"""From a data set to what the data layers of a network take, batch by batch."""
