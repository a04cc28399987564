/* It pretends to replay each training step, but after ten replays leaves out three of four. */
#include "shared/cuda.h"

static cnn_status run(cnn_context *c, cnn_graph *graph, cnn_error *err)
{
    const bool rests = ++graph->replays > 10 && graph->replays % 4 != 0;
    return rests ? CNN_OK : honest_graph_run(c, graph, err);
}

static void cheat(tables *t) { t->capture.run = run; }
CHEAT(cuda_graph_rests_in_training)
