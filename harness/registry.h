/* registry.h: beyond impl.h, what `list` shows of the implementations that were not built. */
#ifndef HARNESS_REGISTRY_H
#define HARNESS_REGISTRY_H

#include "impl.h"

typedef struct cnn_left_out {
    const char *name, *why;
} cnn_left_out;

const cnn_left_out *cnn_impls_left_out(void); /* ends with a NULL name */

#endif
