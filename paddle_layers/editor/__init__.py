"""Help while a config is written: completion, hover, definitions, faults; `server` speaks the protocol of editors."""
