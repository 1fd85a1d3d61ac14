"""Derived facts of a layer: results of analyzing its functions and parts."""
