/* op_epilogue.c: what is done to sums before they are stored, as a descriptor says it in front of its sizes: "add",
 * "relu", "add+leaky_relu=0.1". */
#include "names.h"
#include "op.h"

#include <math.h>
#include <string.h>

cnn_status op_read_epilogue(const char *text, char *words, cnn_epilogue *e, cnn_error *err)
{
    const bool adds = strcmp(words, "add") == 0 || strncmp(words, "add+", 4) == 0;
    *e = (cnn_epilogue){CNN_ACT_IDENTITY, adds, 0.0};
    if (adds && words[3] == '\0') return CNN_OK;
    if (op_read_act(text, words + (adds ? 4 : 0), &e->act, &e->alpha, err) != CNN_OK)
        return cnn_error_before(err, err->status, "'%.64s' is no epilogue (add, relu, add+relu, ...): ", words);
    return CNN_OK;
}

void op_put_epilogue(char *text, const cnn_epilogue *e)
{
    if (e->add) op_put(text, "add");
    if (e->act == CNN_ACT_IDENTITY) return;
    if (e->add) op_put(text, "+");
    op_put_act(text, e->act, e->alpha);
}

cnn_status op_check_epilogue(const cnn_epilogue *e, cnn_error *err)
{
    if ((unsigned)e->act >= CNN_ACT_COUNT)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no activation number %d", (int)e->act);
    return op_check_real("alpha", e->alpha, INFINITY, err);
}

cnn_status cnn_epilogue_parse(const char *text, cnn_epilogue *e, cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX];
    snprintf(words, sizeof words, "%s", text);
    return op_read_epilogue(text, words, e, err);
}
