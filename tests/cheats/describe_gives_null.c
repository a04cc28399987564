/* It describes itself with a value that is NULL and with a key that is NULL. */
#include "shared/cheat.h"

static void describe(cnn_context *c, cnn_put_fn *put, void *user)
{
    put(user, "none", NULL);
    put(user, NULL, "none");
}

static void cheat(tables *t) { t->impl.describe = describe; }
CHEAT(describe_gives_null)
