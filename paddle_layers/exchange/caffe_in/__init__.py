"""Caffe's prototxt, caffemodel and binaryproto files to our networks, trainings and weights."""
