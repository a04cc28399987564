/* gpu.h: tests that need a GPU (or its emulation) and say so where there is none. */
#ifndef TESTS_HARNESS_CUDA_GPU_H
#define TESTS_HARNESS_CUDA_GPU_H

#include "harness/cuda/cuda.h"
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* The shared knobs alone, as a context wants them that is no implementation's. */
static const cnn_knob shared_knobs[] = {
#define KNOB(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0},
#define STEPS(id, name, doc, min, max, def, ...) {name, doc, min, max, def, NULL, 0},
#include "harness/cuda/knobs.inc"
#undef KNOB
#undef STEPS
};

/* 0: there is one. Else what main() is to return: 77, which CTest shows as "Skipped"; with BENCHCNN_REQUIRE_GPU=1 in
 * the environment, failure: so that a machine that should test on its GPU cannot pass without. */
static inline int gpu_or_skip(void)
{
    cnn_error err;
    const char *required = getenv("BENCHCNN_REQUIRE_GPU");
    if (cuda_probe(&err) == CNN_OK) return 0;
    fprintf(stderr, "skipped: %s\n", err.message);
    return required != NULL && strcmp(required, "1") == 0 ? EXIT_FAILURE : 77;
}

#endif
