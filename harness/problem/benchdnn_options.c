/* benchdnn_options.c: the options in benchdnn's files, as sets of what this program can do of their values. They mean
 * what benchdnn's documentation says (doc/knobs_common.md and driver_*.md there). */
#include "foreign.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NOT_DONE = -1, VALUE_MAX = 96 };

static const struct {
    const char *name;
    cnn_op op;
} drivers[] = {
    {"conv", CNN_OP_CONV},     {"deconv", CNN_OP_DECONV},    {"ip", CNN_OP_FC},           {"pool", CNN_OP_POOL},
    {"eltwise", CNN_OP_ACT},   {"binary", CNN_OP_ADD},       {"bnorm", CNN_OP_BATCHNORM}, {"softmax", CNN_OP_COUNT},
    {"matmul", CNN_OP_COUNT},  {"brgemm", CNN_OP_COUNT},     {"concat", CNN_OP_COUNT},    {"gnorm", CNN_OP_COUNT},
    {"lnorm", CNN_OP_COUNT},   {"lrn", CNN_OP_COUNT},        {"prelu", CNN_OP_COUNT},     {"reduction", CNN_OP_COUNT},
    {"reorder", CNN_OP_COUNT}, {"resampling", CNN_OP_COUNT}, {"rnn", CNN_OP_COUNT},       {"shuffle", CNN_OP_COUNT},
    {"sum", CNN_OP_COUNT},     {"zeropad", CNN_OP_COUNT},    {"graph", CNN_OP_COUNT},     {"self", CNN_OP_COUNT}};

bool benchdnn_driver(benchdnn *state, const char *name)
{
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        if (strcmp(name, drivers[i].name) != 0) continue;
        state->driver = drivers[i].name;
        state->op = drivers[i].op;
        return true;
    }
    return false;
}

void benchdnn_close(benchdnn *state)
{
    if (state->matches) regfree(&state->match);
    state->matches = false;
}

void benchdnn_reset(benchdnn *state)
{
    const char *const driver = state->driver;
    const cnn_op op = state->op;
    benchdnn_close(state);
    *state = (benchdnn){.driver = driver, .op = op, .n_alphas = 1};
    for (int i = 0; i < BENCHDNN_SETS; i++) state->sets[i] = 1u << BENCHDNN_UNSAID;
}

/* ---- One value of an option, as the bit that it is in its set. */

static int find(const char *const *list, int count, const char *value)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(list[i], value) == 0) return i;
    return NOT_DONE;
}
#define FIND(list, value) find((list), (int)(sizeof(list) / sizeof *(list)), (value))

/* "f32", or the same for all of "f32:f32:f32": the parts that differ are other problems. */
static int same_of_parts(const char *value, int (*of_part)(const char *))
{
    char parts[VALUE_MAX], *save = NULL;
    int found = NOT_DONE;
    snprintf(parts, sizeof parts, "%s", value);
    for (char *part = strtok_r(parts, ":", &save); part != NULL; part = strtok_r(NULL, ":", &save)) {
        const int bit = of_part(part);
        if (bit == NOT_DONE || (found != NOT_DONE && bit != found)) return NOT_DONE;
        found = bit;
    }
    return found;
}

static int dtype_of(const char *part)
{
    for (int dtype = 0; dtype < CNN_DTYPE_COUNT; dtype++)
        if (strcmp(part, cnn_dtype_name((cnn_dtype)dtype)) == 0) return dtype;
    return NOT_DONE;
}
static int dtype_value(const benchdnn *state, const char *value)
{
    const int joined = dtype_of(value); /* "u8:s8:s32" */
    (void)state;
    return joined != NOT_DONE ? joined : same_of_parts(value, dtype_of);
}

static int tag_of(const char *part)
{
    static const char *const any[] = {"any", "undef", "a", "ab", "x", "nc"};
    static const char *const nchw[] = {"abx", "abc", "abcd", "abcde", "ncw", "nchw", "ncdhw", "oihw", "oiw", "oidhw"};
    static const char *const nhwc[] = {"axb", "acb", "acdb", "acdeb", "nwc", "nhwc", "ndhwc"};
    return FIND(any, part) >= 0    ? BENCHDNN_ANY
           : FIND(nchw, part) >= 0 ? BENCHDNN_NCHW
           : FIND(nhwc, part) >= 0 ? BENCHDNN_NHWC
                                   : NOT_DONE;
}
/* Of "abx:any" the one that is said. */
static int tag_value(const benchdnn *state, const char *value)
{
    char parts[VALUE_MAX], *save = NULL;
    int found = BENCHDNN_ANY;
    (void)state;
    snprintf(parts, sizeof parts, "%s", value);
    for (char *part = strtok_r(parts, ":", &save); part != NULL; part = strtok_r(NULL, ":", &save)) {
        const int bit = tag_of(part);
        if (bit == NOT_DONE || (bit != BENCHDNN_ANY && found != BENCHDNN_ANY && bit != found)) return NOT_DONE;
        if (bit != BENCHDNN_ANY) found = bit;
    }
    return found;
}

static int dir_value(const benchdnn *state, const char *value)
{
    static const char *const names[] = {"FWD_B", "FWD_D", "BWD_D", "BWD_W", "BWD_WB", "BWD_DW", "FWD_I"};
    (void)state;
    const int i = FIND(names, value);
    return i == 6 ? BENCHDNN_FWD : i;
}

static int math_value(const benchdnn *state, const char *value)
{
    char name[VALUE_MAX];
    (void)state;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(value, ":"), value);
    if (strcmp(name, "") == 0 || strcmp(name, "strict") == 0) return CNN_MATH_F32;
    cnn_error none;
    const int math = cnn_name_find(&cnn_math_names, name, &none);
    return math == CNN_MATH_F32 || math < 0 ? NOT_DONE : math;
}

static int pool_value(const char *value)
{
    static const char *const max[] = {"max", "pooling_max"};
    static const char *const avg[] = {"avg_np", "avg_exclude_padding", "pooling_avg_exclude_padding"};
    static const char *const pad[] = {"avg_p", "avg_include_padding", "pooling_avg_include_padding"};
    return FIND(max, value) >= 0   ? CNN_POOL_MAX
           : FIND(avg, value) >= 0 ? CNN_POOL_AVG
           : FIND(pad, value) >= 0 ? CNN_POOL_AVG_PAD
                                   : NOT_DONE;
}

static int eltwise_value(const char *value)
{
    static const char *const names[] = {"relu", "elu", "logistic", "tanh"};
    static const int kinds[] = {CNN_ACT_RELU, CNN_ACT_ELU, CNN_ACT_SIGMOID, CNN_ACT_TANH};
    char name[VALUE_MAX];
    snprintf(name, sizeof name, "%s", strncasecmp(value, "eltwise_", 8) == 0 ? value + 8 : value);
    char *end = strstr(name, "_use_dst_for_bwd"); /* from y: our BWD_D is given both */
    if (end == NULL && strlen(name) > 4) end = strcmp(name + strlen(name) - 4, "_dst") == 0 ? strrchr(name, '_') : NULL;
    if (end != NULL) *end = '\0';
    const int i = FIND(names, name);
    return i < 0 ? NOT_DONE : kinds[i];
}

/* How a convolution is done is the affair of those that --impl names. */
static int alg_value(const benchdnn *state, const char *value)
{
    static const char *const of_conv[] = {"direct",
                                          "auto",
                                          "wino",
                                          "convolution_direct",
                                          "convolution_auto",
                                          "convolution_winograd",
                                          "deconvolution_direct",
                                          "deconvolution_winograd"};
    static const char *const of_binary[] = {"add", "binary_add"};
    switch (state->op) {
    case CNN_OP_POOL:
        return pool_value(value);
    case CNN_OP_ACT:
        return eltwise_value(value);
    case CNN_OP_ADD:
        return FIND(of_binary, value) >= 0 ? 0 : NOT_DONE;
    default:
        return FIND(of_conv, value) >= 0 ? 0 : NOT_DONE;
    }
}

/* Ours has a scale and a shift, by the batch's statistics or by given ones. */
static int flags_value(const benchdnn *state, const char *value)
{
    static const char *const ours[] = {"CH", "S", "GCH", "GS"};
    (void)state;
    const int i = FIND(ours, value);
    return i < 0 ? NOT_DONE : i < 2 ? BENCHDNN_STATISTICS : BENCHDNN_GLOBAL;
}

static int empty_value(const benchdnn *state, const char *value)
{
    (void)state;
    return value[0] == '\0' || strcmp(value, "none") == 0 ? 0 : NOT_DONE;
}

/* ---- Of quantized results: "src:common:0.5+wei:per_oc". What scales are does not matter: a case draws its own. */

/* Calls `take` for each argument of an attribute, cut at its colons: whose, policy, and value, "" where there is none.
 */
static bool each_argument(const char *value, bool (*take)(void *, const char *const parts[3]), void *user)
{
    char text[VALUE_MAX], *save = NULL;
    snprintf(text, sizeof text, "%s", value);
    for (char *argument = strtok_r(text, "+", &save); argument != NULL; argument = strtok_r(NULL, "+", &save)) {
        const char *parts[3] = {argument, "", ""};
        char *at = argument;
        for (int i = 1; i < 3 && (at = strchr(at, ':')) != NULL; i++) *at++ = '\0', parts[i] = at;
        if (!take(user, parts)) return false;
    }
    return true;
}

static bool take_scale(void *user, const char *const parts[3])
{
    static const char *const whose[] = {"src", "wei", "dst"};
    const bool per_oc = strcmp(parts[0], "wei") == 0 && strcmp(parts[1], "per_oc") == 0;
    char *end;
    const double value = strtod(parts[2], &end);
    int *policy = user;
    if (per_oc) *policy |= BENCHDNN_PER_OC;
    if (strcmp(parts[0], "dst") == 0 && end != parts[2] && value != 1.0) *policy |= BENCHDNN_DST;
    return FIND(whose, parts[0]) >= 0 && (per_oc || strcmp(parts[1], "common") == 0) && *end == '\0';
}

static int scales_value(const benchdnn *state, const char *value)
{
    int policy = BENCHDNN_COMMON;
    if (empty_value(state, value) == 0) return BENCHDNN_UNSAID;
    return each_argument(value, take_scale, &policy) ? policy : NOT_DONE;
}

typedef struct zero_points {
    int x, y;
} zero_points;

static bool take_point(void *user, const char *const parts[3])
{
    zero_points *points = user;
    const bool x = strcmp(parts[0], "src") == 0, y = strcmp(parts[0], "dst") == 0;
    char *end;
    const long value = strtol(parts[2], &end, 10);
    if (!(x || y) || strcmp(parts[1], "common") != 0 || end == parts[2] || *end != '\0') return false;
    if (value < -128 || value > 255) return false;
    *(x ? &points->x : &points->y) = (int)value;
    return true;
}

/* The bit of these points, which are kept. */
static int points_bit(benchdnn *state, const char *value)
{
    zero_points points = {0, 0};
    if (empty_value(state, value) == 0) return BENCHDNN_UNSAID;
    if (state->n_points == BENCHDNN_POINTS || !each_argument(value, take_point, &points)) return NOT_DONE;
    state->points[state->n_points].x = points.x, state->points[state->n_points].y = points.y;
    return state->n_points++;
}

/* ---- Post-operations: "sum+relu", "add:f32:per_tensor+elu:0.5": a residual, an activation, or both in this order.
 * What the residual holds does not matter, nor whether it stands in y: the case has an array of its own. */

static int number_of(const char *name)
{
    for (int number = 0; number < CNN_NUMBER_COUNT; number++)
        if (strcmp(name, cnn_dtype_name((cnn_dtype)number)) == 0) return number;
    return NOT_DONE;
}

/* sum[:SCALE[:ZERO_POINT[:DATA_TYPE]]], add:DATA_TYPE:per_tensor. */
static bool take_residual(benchdnn_post_ops *ops, const char *op, const char *first, const char *second)
{
    const bool sum = strcmp(op, "sum") == 0;
    char *end;
    if (!sum && (strcmp(op, "add") != 0 || strcmp(second, "per_tensor") != 0)) return false;
    if (sum && first[0] != '\0' && strtod(first, NULL) != 1.0) return false;
    if (sum) ops->zero = (int)strtol(second, &end, 10);
    const char *dtype = !sum ? first : *end == ':' ? end + 1 : "";
    if (sum && *end != '\0' && *end != ':') return false;
    const int number = dtype[0] != '\0' ? number_of(dtype) : CNN_NUMBER_COUNT;
    ops->dtype = (cnn_dtype)number;
    return number != NOT_DONE;
}

static bool take_post_op(void *user, const char *const parts[3])
{
    benchdnn_post_ops *ops = user;
    cnn_epilogue *e = &ops->epilogue;
    char rest[VALUE_MAX], *end = rest;
    if (!e->add && e->act == CNN_ACT_IDENTITY && take_residual(ops, parts[0], parts[1], parts[2])) return e->add = true;
    const int kind = eltwise_value(parts[0]);
    if (kind == NOT_DONE || e->act != CNN_ACT_IDENTITY || parts[2][strspn(parts[2], "0.")] != '\0') return false;
    snprintf(rest, sizeof rest, "%s", parts[1]);
    e->alpha = strtod(rest, &end);
    e->act = kind == CNN_ACT_RELU && e->alpha != 0.0 ? CNN_ACT_LEAKY_RELU : (cnn_act_kind)kind;
    return *end == '\0' && e->alpha >= 0.0 && (e->alpha == 0.0 || cnn_act_default_alpha(e->act) != 0.0);
}

/* The bit of this epilogue, which is kept. */
static int post_ops_bit(benchdnn *state, const char *value)
{
    benchdnn_post_ops *ops = &state->epilogues[state->n_epilogues];
    if (empty_value(state, value) == 0) return BENCHDNN_UNSAID;
    if (state->n_epilogues == BENCHDNN_POINTS) return NOT_DONE;
    *ops = (benchdnn_post_ops){{CNN_ACT_IDENTITY, false, 0.0}, 0, CNN_NUMBER_COUNT};
    return each_argument(value, take_post_op, ops) ? state->n_epilogues++ : NOT_DONE;
}

/* ---- The options. */

static const struct {
    const char *name;
    benchdnn_set set;
    int (*value)(const benchdnn *state, const char *value); /* NULL: points_bit(), post_ops_bit(), which keep it */
} options[] = {{"dir", SET_DIR, dir_value},
               {"dt", SET_DT, dtype_value},
               {"sdt", SET_SDT, dtype_value},
               {"ddt", SET_DDT, dtype_value},
               {"cfg", SET_DT, dtype_value},
               {"tag", SET_TAG, tag_value},
               {"stag", SET_STAG, tag_value},
               {"dtag", SET_DTAG, tag_value},
               {"wtag", SET_WTAG, tag_value},
               {"attr-fpmath", SET_MATH, math_value},
               {"alg", SET_ALG, alg_value},
               {"flags", SET_FLAGS, flags_value},
               {"attr-post-ops", SET_POST_OPS, NULL},
               {"attr-scales", SET_SCALES, scales_value},
               {"attr-zero-points", SET_POINTS, NULL},
               {"attr-dropout", SET_OTHER, empty_value},
               {"attr-rounding-mode", SET_OTHER, empty_value},
               {"encoding", SET_OTHER, empty_value},
               {"strides", SET_STRIDES, empty_value}};

/* They say how to run or to look, not what. */
static const char *const no_matter[] = {"skip-impl",
                                        "impl",
                                        "allow-enum-tags-only",
                                        "check-ref-impl",
                                        "inplace",
                                        "trivial-strides",
                                        "attr-acc-mode",
                                        "attr-scratchpad",
                                        "attr-deterministic",
                                        "cpu-isa-hints",
                                        "engine",
                                        "mode",
                                        "mode-modifier",
                                        "canonical",
                                        "cold-cache",
                                        "memory-kind",
                                        "stat",
                                        "verbose",
                                        "v",
                                        "fast-ref-gpu",
                                        "fast-ref",
                                        "perf-template",
                                        "fix-times-per-prb",
                                        "max-ms-per-prb",
                                        "repeats-per-prb",
                                        "runtime-dim-mask",
                                        "axis",
                                        "beta",
                                        "ctx-init",
                                        "ctx-exe",
                                        "start",
                                        "stream-kind"};

static cnn_status take_values(benchdnn *state, int row, const char *values, problem_reader *reader, cnn_error *err)
{
    const benchdnn_set set = options[row].set;
    char value[VALUE_MAX];
    cnn_status status = CNN_OK;
    state->sets[set] = 0;
    if (set == SET_POINTS) state->n_points = 0;
    if (set == SET_POST_OPS) state->n_epilogues = 0;
    for (const char *at = values;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(value, sizeof value, "%.*s", (int)length, at);
        const int bit = length >= sizeof value ? NOT_DONE
                        : set == SET_POINTS    ? points_bit(state, value)
                        : set == SET_POST_OPS  ? post_ops_bit(state, value)
                                               : options[row].value(state, value);
        if (bit != NOT_DONE) state->sets[set] |= 1u << bit;
        if (bit == NOT_DONE) snprintf(state->missing[set], sizeof *state->missing, "--%s=%s", options[row].name, value);
        if (bit == NOT_DONE && state->op != CNN_OP_COUNT) {
            const problem_words words = {.op = state->op, .why_not = "there is none of it here"};
            status = problem_give(reader, state->missing[set], &words, err);
        }
        at += length;
        if (status != CNN_OK || *at == '\0') return status;
    }
}

static int take_reals(const char *text, double *list)
{
    int count = 0;
    for (char *end; count < BENCHDNN_ALPHAS; text = end + 1) {
        list[count] = strtod(text, &end);
        if (end == text) break;
        count++;
        if (*end != ',') break;
    }
    return count;
}

static cnn_status take_match(benchdnn *state, problem_reader *reader, const char *word, const char *pattern,
                             cnn_error *err)
{
    if (state->matches) regfree(&state->match);
    state->matches = pattern[0] != '\0' && regcomp(&state->match, pattern, REG_EXTENDED | REG_NOSUB) == 0;
    if (state->matches || pattern[0] == '\0') return CNN_OK;
    return problem_refuse(reader, word, "is no regular expression", err);
}

cnn_status benchdnn_option(benchdnn *state, problem_reader *reader, const char *word, cnn_error *err)
{
    char name[32];
    const size_t length = strcspn(word + 2, "=");
    const char *values = word + 2 + length + (word[2 + length] == '=');
    snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
    for (size_t i = 0; name[i] != '\0'; i++)
        if (name[i] == '_') name[i] = '-';
    if (benchdnn_driver(state, name)) return CNN_OK;
    if (strcmp(name, "reset") == 0) return benchdnn_reset(state), CNN_OK;
    if (strcmp(name, "mb") == 0) return state->mb = strtoll(values, NULL, 10), CNN_OK;
    if (strcmp(name, "alpha") == 0) return state->n_alphas = take_reals(values, state->alphas), CNN_OK;
    if (strcmp(name, "match") == 0) return take_match(state, reader, word, values, err);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0) return take_values(state, (int)i, values, reader, err);
    if (FIND(no_matter, name) >= 0 || strncmp(name, "perf-", 5) == 0 || state->op == CNN_OP_COUNT) return CNN_OK;
    state->sets[SET_OTHER] = 0; /* it may change what is asked for */
    snprintf(state->missing[SET_OTHER], sizeof *state->missing, "%.60s", word);
    return problem_refuse(reader, word, "is no option that is known here: give options of benchcnn on the command line",
                          err);
}
