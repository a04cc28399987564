/* base.c: pairs of bf16 for what every processor of the architecture has. */
#define LANES 4
#define PIXELS 4
#define VECTORS 2
#define KERNEL bf_base
#define CALLED "base"
#include "product.inc"
