/* benchdnn.c: one descriptor of benchdnn under the options before it: each of their combinations is a problem. */
#include "foreign.h"
#include "names.h"
#include "op.h"

#include <stdlib.h>
#include <string.h>

/* ---- What the options come to. */

/* The n-th of the values of a set, counted off: n becomes what is left for the others. */
static int pick(int64_t *n, uint32_t values)
{
    int64_t at = *n % __builtin_popcount(values);
    *n /= __builtin_popcount(values);
    for (int bit = 0;; bit++)
        if (values & 1u << bit && at-- == 0) return bit;
}

static bool said(int bit) { return bit != BENCHDNN_UNSAID; }

/* Tags that go together: any with each, else two alike. */
static uint32_t together(uint32_t a, uint32_t b)
{
    const uint32_t any = 1u << BENCHDNN_ANY | 1u << BENCHDNN_UNSAID, fixed = 1u << BENCHDNN_NCHW | 1u << BENCHDNN_NHWC;
    uint32_t both = a & b & fixed;
    if (a & any) both |= b & fixed;
    if (b & any) both |= a & fixed;
    return a & any && b & any ? both | 1u << BENCHDNN_ANY : both;
}

static uint32_t alike(uint32_t a, uint32_t b)
{
    const uint32_t unsaid = 1u << BENCHDNN_UNSAID;
    return a == unsaid ? b : b == unsaid ? a : a & b;
}

/* Directions with a bias, and without one; and in all. */
static uint32_t dirs_of(uint32_t dirs, bool bias)
{
    const uint32_t with = 1u << BENCHDNN_FWD_B | 1u << BENCHDNN_BWD_WB,
                   without = 1u << BENCHDNN_FWD | 1u << BENCHDNN_BWD_W;
    const bool data = dirs & 1u << BENCHDNN_BWD_D && (bias || !(dirs & with));
    const uint32_t mine = dirs & (bias ? with : without);
    return (mine & (1u << BENCHDNN_FWD_B | 1u << BENCHDNN_FWD) ? 1u << CNN_FWD : 0) | (data ? 1u << CNN_BWD_D : 0) |
           (mine & (1u << BENCHDNN_BWD_WB | 1u << BENCHDNN_BWD_W) ? 1u << CNN_BWD_W : 0);
}

static uint32_t dirs_in_all(uint32_t dirs)
{
    return (dirs & (1u << BENCHDNN_FWD_B | 1u << BENCHDNN_FWD) ? 1u << CNN_FWD : 0) |
           (dirs & (1u << BENCHDNN_BWD_D | 1u << BENCHDNN_BWD_DW) ? 1u << CNN_BWD_D : 0);
}

/* ---- Descriptors. */

/* "16x3x2x5n"name"", of which dimensions behind the second are height, and the last width. Two or more of these between
 * colons, of the same numbers (of binary). */
static void put_tensor(const char *word, problem_words *words)
{
    int64_t n[8], other[8];
    const char *end;
    const int count = foreign_numbers(word, 'x', n, 8, &end);
    for (const char *next = end; *next == ':';) {
        const int others = foreign_numbers(next + 1, 'x', other, 8, &next);
        if (others != count || memcmp(n, other, (size_t)count * sizeof *n) != 0) {
            snprintf(words->why_not, sizeof words->why_not,
                     "one of its inputs is broadcast, which no operation here does");
            return;
        }
        end = next;
    }
    if (count == 0) {
        snprintf(words->why_not, sizeof words->why_not, "a tensor's dimensions are 1 to 8 numbers, as in 2x3x4");
        return;
    }
    double height = 1;
    for (int i = 2; i < count - 1; i++) height *= (double)n[i];
    for (int i = 0; i < count; i++) height = n[i] > INT32_MAX ? 1e300 : height;
    if (height > INT32_MAX) {
        snprintf(words->why_not, sizeof words->why_not, "a dimension is larger than 2147483647");
        return;
    }
    op_put(words->text, "mb%lldic%lldih%.0fiw%lld%s", (long long)n[0], (long long)(count > 1 ? n[1] : 1), height,
           (long long)(count > 2 ? n[count - 1] : 1), *end == '_' ? end + 1 : end);
}

static void put_eltwise(const benchdnn *state, int kind, int64_t *n, const char *word, problem_words *words)
{
    char real[TEXT_REAL_MAX];
    const double alpha = state->n_alphas > 0 ? state->alphas[*n % state->n_alphas] : 0;
    if (state->n_alphas > 0) *n /= state->n_alphas;
    if (kind == CNN_ACT_RELU && alpha != 0) kind = CNN_ACT_LEAKY_RELU;
    op_put(words->text, "%s", cnn_act_name((cnn_act_kind)kind));
    if (cnn_act_default_alpha((cnn_act_kind)kind) != 0) op_put(words->text, "=%s", text_real(alpha, real));
    op_put(words->text, ":");
    put_tensor(word, words);
    if (alpha < 0 && (kind == CNN_ACT_LEAKY_RELU || kind == CNN_ACT_ELU))
        snprintf(words->why_not, sizeof words->why_not, "alpha is %g: below 0 there is no derivative from y alone",
                 alpha);
}

/* Own words, with a kind before a colon, stay as they are. */
static bool has_kind(const char *word)
{
    char kind[CNN_NAME_MAX];
    size_t start;
    return op_split_kind(word, kind, sizeof kind, &start);
}

static void put_word(const benchdnn *state, int64_t *n, const char *word, problem_words *words)
{
    const int alg = pick(n, state->sets[SET_ALG]);
    const bool tensor = strspn(word, "0123456789") > 0;
    if (state->op == CNN_OP_ACT && tensor)
        put_eltwise(state, said(alg) ? alg : CNN_ACT_RELU, n, word, words);
    else if (state->op == CNN_OP_ADD && tensor)
        put_tensor(word, words);
    else if (state->op == CNN_OP_POOL && !has_kind(word) && (said(alg) || state->driver != NULL))
        op_put(words->text, "%s:%s", cnn_pool_name(said(alg) ? (cnn_pool_kind)alg : CNN_POOL_MAX), word);
    else
        op_put(words->text, "%s", word);
}

/* Scales and zero points, in front of the descriptor, whose name takes what is behind it. */
static void put_quantization(const benchdnn *state, int scales, int point, cnn_dtype dtype, problem_words *words)
{
    char text[CNN_PROBLEM_TEXT_MAX] = "";
    if (!said(scales) && !said(point)) return;
    if (!cnn_is_quantized(dtype) || words->op == CNN_OP_DECONV) {
        snprintf(words->why_not, sizeof words->why_not,
                 "scales and zero points are done of conv and ip in types whose result has 8 bits, u8:s8:u8 and its "
                 "like");
        return;
    }
    if (said(point) && state->points[point].x != 0) op_put_number(text, "zx", state->points[point].x);
    if (said(point) && state->points[point].y != 0) op_put_number(text, "zy", state->points[point].y);
    if (said(scales) && scales & BENCHDNN_PER_OC) op_put_number(text, "soc", 1);
    op_put(text, "%s%s", text[0] != '\0' ? "_" : "", words->text);
    memcpy(words->text, text, sizeof text);
}

/* What post-operations mean that is not meant here: "" of what is the same. */
static const char *other_meaning(const benchdnn *state, const benchdnn_post_ops *ops, int scales, int point,
                                 cnn_dtype dtype)
{
    const int zero = said(point) ? state->points[point].y : 0;
    if (!ops->epilogue.add) return "";
    if (!cnn_is_quantized(dtype)) return ops->zero == 0 ? "" : "a residual of reals has no zero point";
    if (ops->zero != zero)
        return "a residual counts from the zero point of dst here: it is asked for with another, which sum:1:ZERO "
               "gives, and add has none";
    if (ops->dtype != CNN_NUMBER_COUNT && ops->dtype != cnn_part_dtype(dtype, CNN_PART_RESULT))
        return "a residual has the type of dst here, where that has 8 bits";
    return said(scales) && scales & BENCHDNN_DST ? "a residual has the scale of dst here, and is not divided by it"
                                                 : "";
}

/* In front of all, up to a colon. */
static void put_post_ops(const benchdnn *state, int which, problem_words *words)
{
    char text[CNN_PROBLEM_TEXT_MAX] = "";
    if (!said(which)) return;
    if (words->op != CNN_OP_CONV && words->op != CNN_OP_FC) {
        snprintf(words->why_not, sizeof words->why_not, "post-operations are done of conv and ip");
        return;
    }
    op_put_epilogue(text, &state->epilogues[which].epilogue);
    op_put(text, ":%s", words->text);
    memcpy(words->text, text, sizeof text);
}

/* Whether there is anything to do: no direction may be left. */
static bool put_dirs(const benchdnn *state, int64_t *n, problem_words *words)
{
    const uint32_t dirs = state->sets[SET_DIR];
    const bool weights = words->op == CNN_OP_CONV || words->op == CNN_OP_DECONV || words->op == CNN_OP_FC;
    const int flags = words->op == CNN_OP_BATCHNORM ? pick(n, state->sets[SET_FLAGS]) : BENCHDNN_STATISTICS;
    const bool bias = *n % 2 == 0;
    *n /= 2;
    if (flags == BENCHDNN_GLOBAL) {
        char text[CNN_PROBLEM_TEXT_MAX];
        snprintf(text, sizeof text, "inference:%.480s", words->text);
        memcpy(words->text, text, sizeof text);
    }
    if (dirs & 1u << BENCHDNN_UNSAID) return bias;
    words->no_bias = !bias;
    words->said.dirs = weights ? dirs_of(dirs, bias) : bias ? dirs_in_all(dirs) : 0;
    if (flags == BENCHDNN_GLOBAL) words->said.dirs &= 1u << CNN_FWD;
    return words->said.dirs != 0;
}

static const char *missing(const benchdnn *state, uint32_t dtypes, uint32_t layouts)
{
    for (int i = 0; i < BENCHDNN_SETS; i++)
        if (state->sets[i] == 0) return state->missing[i];
    if (dtypes == 0) return "different types in and out";
    return layouts == 0 ? "different layouts in and out" : NULL;
}

/* The n-th combination. Below 0: there are no more. */
static int64_t put_words(const benchdnn *state, int64_t n, const char *word, problem_words *words, bool *any)
{
    const uint32_t *sets = state->sets;
    const uint32_t dtypes = alike(sets[SET_DT], alike(sets[SET_SDT], sets[SET_DDT]));
    const uint32_t layouts =
        together(together(sets[SET_TAG], sets[SET_WTAG]), together(sets[SET_STAG], sets[SET_DTAG]));
    *words = (problem_words){.op = state->op, .mb = state->mb};
    *any = true;
    if (state->op == CNN_OP_COUNT)
        snprintf(words->why_not, sizeof words->why_not, "no operation here is benchdnn's %s", state->driver);
    else if (missing(state, dtypes, layouts) != NULL)
        snprintf(words->why_not, sizeof words->why_not, "it is asked for with %.96s, and there is none of it here",
                 missing(state, dtypes, layouts));
    if (words->why_not[0] != '\0') return n > 0 ? -1 : 0;
    const int dtype = pick(&n, dtypes), layout = pick(&n, layouts), math = pick(&n, sets[SET_MATH]);
    foreign_type(words, said(dtype) ? (cnn_dtype)dtype : CNN_DTYPE_COUNT,
                 layout == BENCHDNN_ANY    ? CNN_LAYOUT_COUNT
                 : layout == BENCHDNN_NCHW ? CNN_NCHW
                                           : CNN_NHWC);
    words->said.math = said(math);
    words->type.math = said(math) ? (cnn_math)math : CNN_MATH_F32;
    put_word(state, &n, word, words);
    const int scales = pick(&n, sets[SET_SCALES]), point = pick(&n, sets[SET_POINTS]);
    const int ops = pick(&n, sets[SET_POST_OPS]);
    const cnn_dtype type = said(dtype) ? (cnn_dtype)dtype : CNN_F32;
    put_quantization(state, scales, point, type, words);
    put_post_ops(state, ops, words);
    if (said(ops) && words->why_not[0] == '\0')
        snprintf(words->why_not, sizeof words->why_not, "%s",
                 other_meaning(state, &state->epilogues[ops], scales, point, type));
    *any = put_dirs(state, &n, words);
    return n > 0 ? -1 : 0;
}

cnn_status benchdnn_problems(const benchdnn *state, problem_reader *reader, const char *word, cnn_error *err)
{
    cnn_status status = CNN_OK;
    problem_words words;
    bool any, given = false;
    if (state->matches && regexec(&state->match, word, 0, NULL, 0) != 0) return CNN_OK;
    for (int64_t n = 0; status == CNN_OK && put_words(state, n, word, &words, &any) >= 0; n++) {
        if (!any) continue;
        status = problem_give(reader, word, &words, err);
        given = true;
    }
    if (status != CNN_OK || given) return status;
    snprintf(words.why_not, sizeof words.why_not, "it is asked for in a direction that %s has not here",
             cnn_op_name(state->op));
    return problem_give(reader, word, &words, err);
}
