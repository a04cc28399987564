/* imitated.c: pairs of bf16 on matrix units that are imitated; its other parts are the base's, by vectors as long as
 * AVX-512's. */
#define LANES 16
#define PIXELS 4
#define VECTORS 2
#define KERNEL bf_amx_lanes
#define CALLED "none" /* of no use but for its parts */
#include "product.inc"

#define MULTIPLY amx_multiply_imitated
#define PACK amx_pack_imitated
#define MATRIX_KERNEL bf_amx_imitated
#define MATRIX_CALLED "amx imitated"
#include "matrix.inc"
