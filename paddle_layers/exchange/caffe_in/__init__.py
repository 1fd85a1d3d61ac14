"""Import of Caffe's prototxt, caffemodel and binaryproto files."""
