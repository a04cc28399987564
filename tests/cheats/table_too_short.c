/* It says that its table is larger and its version newer than the interface has, and gives zeros. */
#include "shared/cheat.h"

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.struct_size = 1000000, t->impl.abi_version = CNN_ABI_VERSION + 1;
}
CHEAT(table_too_short)
