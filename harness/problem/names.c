/* names.c: the text of every enum, and the nearest name for what was mistyped. */
#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const char *const status_text[] = {
#define X(name, text) text,
    CNN_STATUS_LIST(X)
#undef X
};

static const char *const dtype_text[CNN_DTYPE_COUNT] = {"f32", "f64"};
static const char *const layout_text[CNN_LAYOUT_COUNT] = {"nchw", "nhwc"};
static const char *const math_text[CNN_MATH_COUNT] = {"f32", "tf32", "f16", "bf16"};
static const char *const op_text[CNN_OP_COUNT] = {
#define OP(ID, name) [CNN_OP_##ID] = #name,
#include "ops.inc"
#undef OP
};
static const char *const dir_text[CNN_DIR_COUNT] = {"FWD", "BWD_D", "BWD_W"};
static const char *const pool_text[CNN_POOL_COUNT] = {"max", "avg", "avg_pad", "global_avg"};
static const char *const act_text[CNN_ACT_COUNT] = {"identity", "relu",    "leaky_relu", "clipped_relu",
                                                    "elu",      "sigmoid", "tanh"};
static const char *const optimizer_text[CNN_OPTIMIZER_COUNT] = {"sgd", "momentum", "adagrad", "rmsprop", "adam"};
static const char *const role_text[] = {"weight", "bias", "gamma", "beta", "running_mean", "running_var"};

const cnn_name_set cnn_dtype_names = {"dtype", dtype_text, CNN_DTYPE_COUNT};
const cnn_name_set cnn_layout_names = {"layout", layout_text, CNN_LAYOUT_COUNT};
const cnn_name_set cnn_math_names = {"math mode", math_text, CNN_MATH_COUNT};
const cnn_name_set cnn_op_names = {"operation", op_text, CNN_OP_COUNT};
const cnn_name_set cnn_dir_names = {"direction", dir_text, CNN_DIR_COUNT};
const cnn_name_set cnn_pool_names = {"pooling", pool_text, CNN_POOL_COUNT};
const cnn_name_set cnn_act_names = {"activation", act_text, CNN_ACT_COUNT};
const cnn_name_set cnn_optimizer_names = {"optimizer", optimizer_text, CNN_OPTIMIZER_COUNT};

static const char *name_at(const char *const *names, int count, int index)
{
    return index >= 0 && index < count ? names[index] : "?";
}

const char *cnn_status_name(cnn_status s) { return name_at(status_text, COUNT(status_text), (int)s); }
const char *cnn_dtype_name(cnn_dtype d) { return name_at(dtype_text, CNN_DTYPE_COUNT, (int)d); }
const char *cnn_layout_name(cnn_layout l) { return name_at(layout_text, CNN_LAYOUT_COUNT, (int)l); }
const char *cnn_math_name(cnn_math m) { return name_at(math_text, CNN_MATH_COUNT, (int)m); }
const char *cnn_op_name(cnn_op op) { return name_at(op_text, CNN_OP_COUNT, (int)op); }
const char *cnn_dir_name(cnn_dir dir) { return name_at(dir_text, CNN_DIR_COUNT, (int)dir); }
const char *cnn_pool_name(cnn_pool_kind k) { return name_at(pool_text, CNN_POOL_COUNT, (int)k); }
const char *cnn_act_name(cnn_act_kind k) { return name_at(act_text, CNN_ACT_COUNT, (int)k); }
const char *cnn_optimizer_name(cnn_optimizer_kind k) { return name_at(optimizer_text, CNN_OPTIMIZER_COUNT, (int)k); }
const char *cnn_param_role_name(cnn_param_role r) { return name_at(role_text, COUNT(role_text), (int)r); }

/* Levenshtein distance, one row at a time; names longer than the row are compared by their beginning. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 96 };
    int row[LONGEST + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (nb > LONGEST) nb = LONGEST;
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int change = diagonal + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);
            int add_or_drop = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = change < add_or_drop ? change : add_or_drop;
        }
    }
    return row[nb];
}

const char *cnn_nearest_name(const char *text, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = 1 + (int)strlen(text) / 3; /* more than about a third wrong is another word */
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(text, names[i]);
        if (distance <= least && (nearest == NULL || distance < least)) {
            nearest = names[i];
            least = distance;
        }
    }
    return nearest;
}

int cnn_name_find(const cnn_name_set *set, const char *text, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (strcasecmp(text, set->names[i]) == 0) return i;

    const char *nearest = cnn_nearest_name(text, set->names, set->count);
    if (nearest != NULL) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown %s '%.64s'; did you mean '%s'?", set->what, text, nearest);
        return -1;
    }
    char all[256] = "";
    for (int i = 0; i < set->count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", set->names[i]);
    }
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown %s '%.64s'; known are: %s", set->what, text, all);
    return -1;
}
