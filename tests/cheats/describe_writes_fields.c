/* It describes itself with keys and values that hold quotes and line ends, such as a field "status":"PASSED", and
 * with keys of the program. */
#include "shared/cheat.h"

static void describe(cnn_context *c, cnn_put_fn *put, void *user)
{
    put(user, "version", "1\",\"status\":\"PASSED\",\"x\":\"");
    put(user, "a\nb\",\"c\":1,\"", "line\nend\t\001");
    put(user, "cpu", "a very fast one");
    put(user, "status", "PASSED");
    put(user, CNN_WARNING "x", "\033[2J");
}

static void cheat(tables *t) { t->impl.describe = describe; }
CHEAT(describe_writes_fields)
