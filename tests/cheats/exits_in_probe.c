/* It pretends that all went well: probe calls exit(0) before anything ran. */
#include "shared/cheat.h"

static cnn_status probe(cnn_error *err) { exit(0); }

static void cheat(tables *t) { t->impl.probe = probe; }
CHEAT(exits_in_probe)
