/* plan.c: what a problem makes of the expressions, and a run: the call, and beta. A kernel writes its result; where it
 * is to be added to what the output holds, that is kept in the workspace, and added when the kernel is done. */
#include "impl_kernel/parts.h"

#include "harness/cnn/shape.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- What it takes. */

static cnn_status check_request(const kernel *k, const cnn_request *r, cnn_error *err)
{
    const cnn_problem *p = r->problem;
    const cnn_type *t = &p->u.type, *own = &k->spec.type;
    if (p->op != k->spec.op || r->dir != k->dir)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s does %s, direction %s, only", k->function, cnn_op_name(k->spec.op),
                        cnn_dir_name(k->dir));
    if (t->dtype != own->dtype || t->layout != own->layout || t->math != own->math)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "it is compiled for %s in %s: --dtype, --layout and --math say so",
                        cnn_dtype_name(own->dtype), cnn_layout_name(own->layout));
    const bool bias = p->op == CNN_OP_FC ? p->u.fc.bias : p->u.conv.bias;
    if (bias && !kernel_takes_bias(k))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s is not among --args: problems without bias only (--no-bias)",
                        k->dir == CNN_FWD ? "b" : "db");
    return kernel_check_unnamed(k, p, err);
}

/* ---- Its values. */

static cnn_status evaluate_sizes(const kernel *k, const expr_scope *scope, kernel_plan *plan, cnn_error *err)
{
    for (int i = 0; i < k->n_args; i++) {
        int count;
        int64_t *value = &plan->sizes[i];
        if (k->args[i].kind != KERNEL_SIZE) continue;
        if (expr_eval("--args", k->args[i].text, scope, value, 1, &count, err) != CNN_OK) return err->status;
        if (*value > INT_MAX || *value < INT_MIN)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "--args: %.64s is %lld, more than an int holds", k->args[i].text,
                            (long long)*value);
    }
    return CNN_OK;
}

static cnn_status evaluate_launch(const kernel *k, const expr_scope *scope, kernel_plan *plan, cnn_error *err)
{
    int count;
    for (int i = 0; i < 3; i++) plan->grid[i] = plan->block[i] = 1;
    plan->shared = 0;
    if (!kernel_is_cuda(k)) return CNN_OK;
    cnn_status status = expr_eval("--grid", k->spec.grid, scope, plan->grid, 3, &count, err);
    if (status == CNN_OK) status = expr_eval("--block", k->spec.block, scope, plan->block, 3, &count, err);
    if (status == CNN_OK && k->spec.shared != NULL)
        status = expr_eval("--shared", k->spec.shared, scope, &plan->shared, 1, &count, err);
    return status;
}

static void add_output(const kernel *k, const char *name, int64_t count, size_t size, kernel_plan *plan)
{
    const kernel_arg *arg = kernel_array(k, name);
    if (arg == NULL) return;
    plan->outputs[plan->n_outputs++] = (kernel_output){arg->offset, plan->workspace_bytes, count};
    plan->workspace_bytes += ((size_t)count * size + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
}

/* Products that the harness has checked: operands have no more bytes than 64 bits hold. */
static void list_outputs(const kernel *k, const cnn_problem *p, kernel_plan *plan)
{
    const size_t size = cnn_dtype_size(k->spec.type.dtype);
    const cnn_conv_desc *c = &p->u.conv;
    const cnn_fc_desc *f = &p->u.fc;
    const bool fc = p->op == CNN_OP_FC, deep = p->op == CNN_OP_CONV3D;
    plan->n_outputs = 0;
    plan->workspace_bytes = 0;
    if (k->takes[KERNEL_BETA]) return; /* it adds by itself */
    if (k->dir == CNN_FWD)
        add_output(k, "y", fc ? f->mb * f->oc : c->mb * c->oc * c->oh * c->ow * (deep ? c->od : 1), size, plan);
    if (k->dir == CNN_BWD_D)
        add_output(k, "dx", fc ? f->mb * f->ic * f->ih * f->iw : c->mb * c->ic * c->ih * c->iw * (deep ? c->id : 1),
                   size, plan);
    if (k->dir != CNN_BWD_W) return;
    add_output(k, "dw",
               fc ? f->oc * f->ic * f->ih * f->iw : c->oc * (c->ic / c->g) * c->kh * c->kw * (deep ? c->kd : 1), size,
               plan);
    if (fc ? f->bias : c->bias) add_output(k, "db", fc ? f->oc : c->oc, size, plan);
}

cnn_status kernel_evaluate(const kernel *k, const cnn_request *request, const int64_t *knobs, int threads,
                           kernel_plan *plan, cnn_error *err)
{
    kernel_names names = {.k = k, .problem = request->problem, .knobs = knobs, .threads = threads};
    const expr_scope scope = {kernel_find_name, &names, false, k->known};
    cnn_status status = check_request(k, request, err);
    if (status == CNN_OK) status = evaluate_sizes(k, &scope, plan, err);
    if (status == CNN_OK) status = evaluate_launch(k, &scope, plan, err);
    if (status == CNN_OK) list_outputs(k, request->problem, plan);
    plan->alpha = cnn_epilogue_of(request->problem).alpha;
    return status == CNN_OK ? CNN_OK : (err->status = CNN_UNSUPPORTED);
}

cnn_status kernel_prepare(const kernel *k, cnn_plan *plan, const int64_t *knobs, int threads, cnn_error *err)
{
    const cnn_request request = {&plan->problem, plan->dir, &plan->algorithm, plan->knobs};
    kernel_plan *own = calloc(1, sizeof *own);
    if (own == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan");
    plan->state = own;
    const cnn_status status = kernel_evaluate(k, &request, knobs, threads, own, err);
    plan->workspace_bytes = own->workspace_bytes;
    return status;
}

void kernel_release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    free(plan->state);
    plan->state = NULL;
}

/* ---- A run. */

static void *array_at(const cnn_weighted_args *args, size_t offset)
{
    void *array;
    memcpy(&array, (const char *)args + offset, sizeof array);
    return array;
}

cnn_status kernel_run(const kernel_device *device, cnn_context *context, const kernel *k, const cnn_plan *plan,
                      const cnn_weighted_args *args, cnn_error *err)
{
    const kernel_plan *own = plan->state;
    const size_t size = cnn_dtype_size(k->spec.type.dtype);
    const int n_kept = args->beta != 0 ? own->n_outputs : 0;
    const double reals[KERNEL_REALS] = {[KERNEL_BETA] = args->beta, [KERNEL_ALPHA] = own->alpha};
    void *arrays[KERNEL_ARGS_MAX] = {NULL};
    cnn_status status = CNN_OK;
    for (int i = 0; i < k->n_args; i++)
        if (k->args[i].kind == KERNEL_ARRAY) arrays[i] = array_at(args, k->args[i].offset);
    for (int i = 0; status == CNN_OK && i < n_kept; i++) {
        const kernel_output *o = &own->outputs[i];
        status = device->copy(context, (char *)args->workspace + o->at, array_at(args, o->offset),
                              (size_t)o->count * size, err);
    }
    if (status == CNN_OK) status = device->call(context, k, own, arrays, reals, err);
    for (int i = 0; status == CNN_OK && i < n_kept; i++) {
        const kernel_output *o = &own->outputs[i];
        status = device->add(context, plan, array_at(args, o->offset), (char *)args->workspace + o->at, o->count, err);
    }
    return status;
}
