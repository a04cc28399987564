/* npy_header.h: the Python dict at the head of a .npy file, both ways. Internal to harness/data. */
#ifndef HARNESS_DATA_NPY_HEADER_H
#define HARNESS_DATA_NPY_HEADER_H

#include "npy.h"

/* Sets dtype, n_dims, dims and count from `text`, which ends with a NUL. */
cnn_status npy_header_parse(const char *text, const char *name, npy_array *array, cnn_error *err);

#endif
