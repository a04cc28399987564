/* It says that its table is larger and its version newer than the interface has, and gives zeros. */
#include "shared/cheat.h"

static void cheat(cnn_impl *t)
{
    weighted(t, answer_zero);
    t->struct_size = 1000000, t->abi_version = 2;
}
CHEAT(table_too_short)
