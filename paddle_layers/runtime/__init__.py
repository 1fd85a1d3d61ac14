"""Running a network: values, plan, kernels, forward and backward."""
