"""A package with a module `kernels`, as a plugin has one; its kernels are wrong on purpose."""
