/* callable.c: a Python callable as an implementation. It is called with arrays that Python copies, so that one that
 * keeps an array keeps its own. Where a result is to be added to an output (beta 1), the callable writes it into the
 * workspace, and it is added here. See api.h. */
#include "parts.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 400 };

struct api_callable {
    cnn_impl impl; /* first: what it is known by */
    cnn_operations ops;
    cnn_algorithm algorithm;
    char name[CNN_NAME_MAX];
    cnn_op op;
    cnn_dir dir;
    api_run_fn *run;
    api_supports_fn *supports;
};

struct cnn_context {
    const api_callable *callable;
};

/* What a plan keeps: the request as the callable sees it, and where results that are added wait. */
typedef struct called {
    cnn_problem problem;
    cnn_dir dir;
    cnn_operand operands[CNN_MAX_OPERANDS];
    int count;
    size_t at[CNN_MAX_OPERANDS]; /* in the workspace */
    char text[CNN_PROBLEM_TEXT_MAX];
} called;

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->callable = (const api_callable *)params->impl;
    return CNN_OK;
}

static void close_context(cnn_context *context) { free(context); }

cnn_op api_callable_op(const cnn_context *context) { return context->callable->op; }

static cnn_status supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    const api_callable *c = context->callable;
    char text[CNN_PROBLEM_TEXT_MAX], why[MESSAGE_MAX] = "";
    cnn_problem problem = *request->problem;
    cnn_dir dir = request->dir;
    api_turn_back(c->op, &problem, &dir);
    if (problem.op != c->op || dir != c->dir)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s does %s, direction %s, only", c->name, cnn_op_name(c->op),
                        cnn_dir_name(c->dir));
    if (c->supports == NULL) return CNN_OK;
    cnn_problem_format(&problem, text);
    if (c->supports(text, cnn_dir_name(dir), why, sizeof why) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s", why[0] != '\0' ? why : "its `supports` says no");
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    called *own = calloc(1, sizeof *own);
    if (own == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan");
    plan->state = own;
    own->problem = plan->problem;
    own->dir = plan->dir;
    api_turn_back(context->callable->op, &own->problem, &own->dir);
    cnn_problem_format(&own->problem, own->text);
    own->count = cnn_operands(&own->problem, own->dir, own->operands, err);
    if (own->count < 0) return err->status = CNN_INTERNAL;
    for (int i = 0; i < own->count && cnn_is_weighted(&plan->problem); i++) {
        if (own->operands[i].access == CNN_IN) continue;
        own->at[i] = plan->workspace_bytes;
        plan->workspace_bytes += (own->operands[i].bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
    }
    return CNN_OK;
}

static void release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    free(plan->state);
    plan->state = NULL;
}

static void add(const cnn_operand *o, bool f64, void *y, const void *x)
{
    if (f64)
        for (int64_t i = 0; i < o->count; i++) ((double *)y)[i] += ((const double *)x)[i];
    else
        for (int64_t i = 0; i < o->count; i++) ((float *)y)[i] += ((const float *)x)[i];
}

cnn_status api_callable_run(cnn_context *context, const cnn_plan *plan, const api_pointers *p, cnn_error *err)
{
    const api_callable *c = context->callable;
    const called *own = plan->state;
    const bool adds = p->beta != 0;
    api_array arrays[CNN_MAX_OPERANDS];
    char message[MESSAGE_MAX] = "";
    for (int i = 0; i < own->count; i++) {
        const cnn_operand *o = &own->operands[i];
        void *data = adds && o->access != CNN_IN ? (char *)p->workspace + own->at[i] : p->list[i];
        api_describe_array(o, &own->problem.u.type, data, &arrays[i]);
    }
    const api_call call = {.problem = own->text,
                           .dir = cnn_dir_name(own->dir),
                           .count = own->count,
                           .arrays = arrays,
                           .scale = p->scale,
                           .message = message,
                           .message_size = sizeof message};
    if (c->run(&call) != 0) return CNN_FAIL(err, CNN_DEVICE, "%s", message[0] != '\0' ? message : "it did not say why");
    for (int i = 0; adds && i < own->count; i++)
        if (own->operands[i].access != CNN_IN)
            add(&own->operands[i], own->problem.u.type.dtype == CNN_F64, p->list[i], arrays[i].data);
    return CNN_OK;
}

static cnn_status check_spec(const api_callable_spec *spec, cnn_error *err)
{
    if (strlen(spec->name) >= CNN_NAME_MAX || !cnn_is_visible(spec->name) || spec->name[0] == '\0')
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "a callable's name has 1 to %d characters", CNN_NAME_MAX - 1);
    if (!(spec->amplification >= 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "amplification is %g; it is a number from 1 up", spec->amplification);
    return CNN_OK;
}

cnn_status api_callable_new(const api_callable_spec *spec, api_callable **callable, cnn_error *err)
{
    cnn_op op = CNN_OP_CONV;
    *callable = NULL;
    if (check_spec(spec, err) != CNN_OK || api_read_op(spec->op, &op, err) != CNN_OK) return err->status;
    const int dir = cnn_name_find(&cnn_dir_names, spec->dir, err);
    if (dir < 0) return err->status;
    api_callable *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a callable");
    snprintf(c->name, sizeof c->name, "%s", spec->name);
    c->op = op;
    c->dir = (cnn_dir)dir;
    c->run = spec->run;
    c->supports = spec->supports;
    c->algorithm = (cnn_algorithm){.doc = "a Python callable",
                                   .ops = 1u << op | (op == CNN_OP_DECONV ? 1u << CNN_OP_CONV : 0),
                                   .flags = (spec->deterministic ? CNN_ALGO_DETERMINISTIC : 0) | CNN_ALGO_REPLACES |
                                            CNN_ALGO_EPILOGUES | CNN_ALGO_QUANTIZED_EPILOGUES |
                                            (spec->amplification > 1 ? CNN_ALGO_TRANSFORMS : 0),
                                   .amplification = spec->amplification};
    snprintf(c->algorithm.name, sizeof c->algorithm.name, "%s", spec->name);
    api_fill_slots(&c->ops);
    c->impl = (cnn_impl){.abi_version = CNN_ABI_VERSION,
                         .struct_size = sizeof(cnn_impl),
                         .name = "python",
                         .doc = "a Python callable",
                         .device_kind = CNN_DEVICE_CPU,
                         .algorithms = &c->algorithm,
                         .n_algorithms = 1,
                         .open = open_context,
                         .close = close_context,
                         .supports = supports,
                         .prepare = prepare,
                         .release = release,
                         .ops = &c->ops,
                         .dtypes = (1u << CNN_DTYPE_COUNT) - 1};
    *callable = c;
    return CNN_OK;
}

void api_callable_free(api_callable *callable) { free(callable); }

const cnn_impl *api_callable_impl(const api_callable *callable) { return &callable->impl; }
