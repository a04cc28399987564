/* args.c: --args: arrays by the names of operands, sizes by expressions over a descriptor's fields. "dw" is both, the
 * weights' gradient and the dilation of columns: where y or dx is named, it is the dilation; else the first one is the
 * gradient. */
#include "impl_kernel/parts.h"

#include "harness/cnn/shape.h"

#include <string.h>

#define AT(name) #name, offsetof(cnn_weighted_args, name)
static const struct {
    const char *name;
    size_t offset;
    unsigned dirs; /* that have it */
} arrays[] = {{AT(x), 5},  {AT(w), 3}, {AT(b), 1},  {AT(scale), 1}, {AT(z), 1},
              {AT(dy), 6}, {AT(y), 1}, {AT(dx), 2}, {AT(dw), 4},    {AT(db), 4}};
#undef AT

/* Blanks at both ends do not belong to it. */
static char *trim(char *text)
{
    text += strspn(text, " \t\n");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\n", text[n - 1]) != NULL;) text[--n] = '\0';
    return text;
}

/* Cuts k->text at the commas outside of parentheses. */
static cnn_status cut(kernel *k, cnn_error *err)
{
    const size_t length = strlen(k->spec.args);
    if (length >= sizeof k->text)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args has %zu characters, more than %zu", length, sizeof k->text - 1);
    strcpy(k->text, k->spec.args);
    int depth = 0;
    char *first = k->text;
    for (char *at = k->text;; at++) {
        const char c = *at;
        depth += (c == '(') - (c == ')');
        if (c != '\0' && (c != ',' || depth > 0)) continue;
        if (k->n_args == KERNEL_ARGS_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args lists more than %d arguments", KERNEL_ARGS_MAX);
        *at = '\0';
        k->args[k->n_args++] = (kernel_arg){.kind = KERNEL_SIZE, .text = trim(first)};
        if (c == '\0') return CNN_OK;
        first = at + 1;
    }
}

static bool lists(const kernel *k, const char *name)
{
    for (int i = 0; i < k->n_args; i++)
        if (strcmp(k->args[i].text, name) == 0) return true;
    return false;
}

static cnn_status find_dir(kernel *k, cnn_error *err)
{
    const bool y = lists(k, "y"), dx = lists(k, "dx");
    if (y && dx) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args names y and dx: a kernel is of one direction");
    if (!y && !dx && !lists(k, "dw"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--args names no output: y (FWD), dx (BWD_D) or dw (BWD_W) says which direction it computes");
    k->dir = y ? CNN_FWD : dx ? CNN_BWD_D : CNN_BWD_W;
    return CNN_OK;
}

static cnn_status take_array(kernel *k, kernel_arg *arg, cnn_error *err)
{
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (strcmp(arg->text, arrays[i].name) != 0) continue;
        if (strcmp(arg->text, "scale") == 0 && !cnn_is_quantized(k->spec.type.dtype)) return CNN_OK; /* a knob */
        const bool there = arrays[i].dirs >> k->dir & 1u, again = there && kernel_array(k, arg->text) != NULL;
        if (strcmp(arg->text, "dw") == 0 && (!there || again)) return CNN_OK; /* the dilation */
        if (!there || again)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args: %s %s", arg->text,
                            again ? "is named twice" : "is no operand of the direction whose output is named");
        *arg = (kernel_arg){.kind = KERNEL_ARRAY, .text = arg->text, .offset = arrays[i].offset};
        return CNN_OK;
    }
    return CNN_OK;
}

static cnn_status check_size(const kernel_arg *arg, const expr_scope *scope, cnn_error *err)
{
    int64_t value;
    int count;
    if (arg->text[0] == '\0')
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args has nothing between two commas or at an end");
    return expr_eval("--args", arg->text, scope, &value, 1, &count, err);
}

static void take_real(kernel *k, kernel_arg *arg)
{
    static const char *const names[KERNEL_REALS] = {[KERNEL_BETA] = "beta", [KERNEL_ALPHA] = "alpha"};
    for (int i = 0; i < KERNEL_REALS; i++) {
        if (strcmp(arg->text, names[i]) != 0) continue;
        arg->kind = KERNEL_REAL;
        arg->real = (kernel_real)i;
        k->takes[i] = true;
    }
}

const kernel_arg *kernel_array(const kernel *k, const char *name)
{
    for (int i = 0; i < k->n_args; i++)
        if (k->args[i].kind == KERNEL_ARRAY && strcmp(k->args[i].text, name) == 0) return &k->args[i];
    return NULL;
}

cnn_status kernel_parse_args(kernel *k, cnn_error *err)
{
    kernel_names names = {.k = k};
    const expr_scope scope = {kernel_find_name, &names, true, k->known};
    cnn_status status = cut(k, err);
    if (status == CNN_OK) status = find_dir(k, err);
    for (int i = 0; status == CNN_OK && i < k->n_args; i++) {
        kernel_arg *arg = &k->args[i];
        status = take_array(k, arg, err);
        take_real(k, arg);
        if (status == CNN_OK && arg->kind == KERNEL_SIZE) status = check_size(arg, &scope, err);
    }
    if (status == CNN_OK && k->dir == CNN_FWD && cnn_is_quantized(k->spec.type.dtype) && !kernel_array(k, "scale"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--args does not name scale, by which sums in %s are multiplied",
                        cnn_dtype_name(k->spec.type.dtype));
    k->named |= names.seen;
    k->named_knobs |= names.seen_knobs;
    return status;
}
