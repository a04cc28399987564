/* It pretends to replay what was captured, but a replay does nothing: the output still holds what the runs before
 * left. */
#include "shared/cuda.h"

static cnn_status run(cnn_context *, cnn_graph *, cnn_error *) { return CNN_OK; }

static void cheat(tables *t) { t->capture.run = run; }
CHEAT(cuda_graph_replays_nothing)
