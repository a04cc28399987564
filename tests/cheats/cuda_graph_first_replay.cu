/* It pretends to replay what was captured, but does so the first three times only. */
#include "shared/cuda.h"

static cnn_status run(cnn_context *c, cnn_graph *graph, cnn_error *err)
{
    return ++graph->replays > 3 ? CNN_OK : honest_graph_run(c, graph, err);
}

static void cheat(tables *t) { t->capture.run = run; }
CHEAT(cuda_graph_first_replay)
