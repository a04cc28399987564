/* It pretends nothing: it computes, and writes a log file of its own beside the records, which stays open. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static FILE *file;
    static int calls;
    if (file == NULL) file = fopen("log.jsonl", "a");
    if (file != NULL && ++calls <= 300) fprintf(file, "{\"kind\":\"call\",\"number\":%d}\n", calls);
    if (file != NULL) fflush(file);
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(honest_writes_a_log)
