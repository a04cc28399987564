/* gpu.h: tests that need a GPU (or its emulation) and say so where there is none. */
#ifndef TESTS_HARNESS_CUDA_GPU_H
#define TESTS_HARNESS_CUDA_GPU_H

#include "harness/cuda/cuda.h"
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* The shared knobs' values, as a context wants them that is no implementation's. */
static const int64_t shared_knobs[] = {
#define KNOB(id, name, doc, min, max, def) def,
#define CONTEXT_KNOB KNOB
#define STEPS(id, name, doc, min, max, def, ...) def,
#include "harness/cuda/knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
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
