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

/* What is the same whatever a step of y is worth; "" of these, else why it is not done. */
static const char *unfit_for_steps(const cnn_epilogue *e)
{
    switch (e->act) {
    case CNN_ACT_IDENTITY:
    case CNN_ACT_RELU:
    case CNN_ACT_CLIPPED_RELU:
        return "";
    case CNN_ACT_LEAKY_RELU:
        return e->alpha <= OP_STEEPEST ? "" : "with a slope above 256 all that is below the zero point saturates";
    case CNN_ACT_SCALE:
        return "a factor of sums is what the operand scale is";
    default:
        return "what it makes of a number depends on what y's step is worth, which no operand says";
    }
}

cnn_status op_check_whole_epilogue(const cnn_epilogue *e, cnn_dtype dtype, cnn_error *err)
{
    char text[CNN_PROBLEM_TEXT_MAX] = "";
    op_put_epilogue(text, e);
    if (!cnn_is_quantized(dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "epilogue %s in %s: results are plain sums of 32 bits; epilogues are of results of 8 bits "
                        "(u8:s8:u8 and its like) and of reals",
                        text, cnn_dtype_name(dtype));
    if (unfit_for_steps(e)[0] == '\0') return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "epilogue %s in %s: %s; of results of 8 bits there are relu, leaky_relu, clipped_relu and add",
                    text, cnn_dtype_name(dtype), unfit_for_steps(e));
}

cnn_status cnn_epilogue_parse(const char *text, cnn_epilogue *e, cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX];
    snprintf(words, sizeof words, "%s", text);
    return op_read_epilogue(text, words, e, err);
}
