"""3-D convolution (`conv3d`) and transposed convolution (`conv3d_trans`) and their gradients, plane by plane."""

from __future__ import annotations

from .conv_strategies import BACKWARD, DIRECT_OF_WEIGHT, FORWARD, PATCHES_OF_WEIGHT, Convolution

conv3d = Convolution("conv3d")
conv3d.add("y", *FORWARD)
conv3d.add("dx", *BACKWARD)
conv3d.add("dweight", PATCHES_OF_WEIGHT, DIRECT_OF_WEIGHT)
conv3d.add_bias()

conv3d_trans = Convolution("conv3d_trans", transposed=True)
conv3d_trans.add("y", *BACKWARD)
conv3d_trans.add("dx", *FORWARD)
conv3d_trans.add("dweight", PATCHES_OF_WEIGHT, DIRECT_OF_WEIGHT)
conv3d_trans.add_bias()
