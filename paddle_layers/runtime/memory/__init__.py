"""Numbers that outlive a pass: blocks of memory, parameters, their files."""
