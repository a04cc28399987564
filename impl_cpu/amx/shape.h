/* shape.h: the form of the tiles, as LDTILECFG reads it; and what amx.c and imitated.c include. */
#ifndef IMPL_CPU_AMX_SHAPE_H
#define IMPL_CPU_AMX_SHAPE_H

#include "amx.h"
#include "impl_cpu/vector.h"

#include <string.h>

typedef uint32_t vector __attribute__((vector_size(64), aligned(64)));

typedef struct amx_shape {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16]; /* of a row */
    uint8_t rows[16];
} amx_shape;
_Static_assert(sizeof(amx_shape) == 64, "as LDTILECFG reads it");

#endif
