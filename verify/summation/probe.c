/* probe.c: see probe.h. Of all elements of a result one in the middle is looked at: where no tap is cut off. */
#include "probe.h"

#include "verify/oracle/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The products. */

static char tensor_of(const sum_probe *p, int operand)
{
    return vf_tensor_of(&p->data.problem, &p->data.call.operands[operand]);
}

static int64_t position(const vf_product *product, char tensor)
{
    return tensor == 'x' ? product->x : tensor == 'w' ? product->w : product->y;
}

static void count_product(void *user, const vf_product *product)
{
    (void)product;
    ++*(int64_t *)user;
}

/* The indices of a product that say which it is, of the weight or, in BWD_W, of the element of y. */
static void take_counts(const cnn_conv_desc *d, char result, const vf_product *product, int counts[SUM_AXES_MAX])
{
    const int64_t w = product->w, y = product->y, icg = d->ic / d->g;
    const int64_t of_w[SUM_AXES_MAX] = {result == 'y' ? w / (d->kh * d->kw) % icg : w / (d->kh * d->kw * icg),
                                        w / d->kw % d->kh, w % d->kw};
    const int64_t of_y[SUM_AXES_MAX] = {y / (d->oh * d->ow * d->oc), y / d->ow % d->oh, y % d->ow};
    for (int i = 0; i < SUM_AXES_MAX; i++) counts[i] = (int)(result == 'w' ? of_y[i] : of_w[i]);
}

typedef struct taking {
    sum_probe *probe;
    const cnn_conv_desc *d;
} taking;

static void take_product(void *user, const vf_product *product)
{
    const taking *t = user;
    sum_probe *p = t->probe;
    const int i = p->kernel.products++;
    p->at[i][0] = position(product, tensor_of(p, p->a));
    p->at[i][1] = position(product, tensor_of(p, p->b));
    take_counts(t->d, tensor_of(p, p->result), product, p->counts[i]);
}

/* Of the element in the middle and those that follow it, the one that most products come to: a stride leaves some
 * without any. */
static int64_t choose_element(const cnn_conv_desc *d, char tensor, const cnn_operand *o, int64_t *most)
{
    enum { NEIGHBOURS = 8 };
    int64_t middle = 0, best = 0;
    for (int i = 0; i < 4; i++) middle = middle * o->dims[i] + o->dims[i] / 2;
    *most = -1;
    for (int64_t row = 0; row < NEIGHBOURS; row++)
        for (int64_t column = 0; column < NEIGHBOURS; column++) {
            const int64_t at = middle + row * o->dims[3] + column;
            int64_t count = 0;
            if (at >= o->count) continue;
            vf_products_of(d, tensor, at, count_product, &count);
            if (count > *most) *most = count, best = at;
        }
    return best;
}

static void name_axes(sum_probe *p)
{
    static const char *const names[2][3][SUM_AXES_MAX] = {
        {{"ic", "kh", "kw"}, {"oc", "kh", "kw"}, {"mb", "oh", "ow"}},
        {{"oc", "kh", "kw"}, {"ic", "kh", "kw"}, {"mb", "ih", "iw"}}}; /* a transposed convolution's */
    const char tensor = tensor_of(p, p->result);
    p->axes = (sum_axes){.count = SUM_AXES_MAX, .at = (const int(*)[SUM_AXES_MAX])p->counts};
    for (int a = 0; a < SUM_AXES_MAX; a++) {
        const int which = tensor == 'y' ? 0 : tensor == 'x' ? 1 : 2;
        snprintf(p->axes.name[a], sizeof p->axes.name[a], "%s", names[p->data.problem.op == CNN_OP_DECONV][which][a]);
    }
}

static cnn_status take_products(sum_probe *p, cnn_error *err)
{
    const cnn_conv_desc d = vf_as_conv(&p->data.problem);
    const char tensor = tensor_of(p, p->result);
    int64_t count;
    p->element = choose_element(&d, tensor, &p->data.call.operands[p->result], &count);
    if (count > SUM_LEAVES_MAX - SUM_ADDENDS_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "a sum of %lld products; up to %d are looked into: name a smaller problem", (long long)count,
                        SUM_LEAVES_MAX - SUM_ADDENDS_MAX);
    p->at = malloc((size_t)(count + 1) * sizeof *p->at);
    p->counts = malloc((size_t)(count + 1) * sizeof *p->counts);
    if (p->at == NULL || p->counts == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld products", (long long)count);
    vf_products_of(&d, tensor, p->element, take_product, &(taking){p, &d});
    name_axes(p);
    return CNN_OK;
}

/* ---- A run. */

static cnn_status run_sum(void *user, const double *a, const double *b, double *sum, cnn_error *err)
{
    sum_probe *p = user;
    vf_run run;
    for (int i = 0; i < p->kernel.products; i++) {
        p->data.before[p->a][p->at[i][0]] = a[i];
        p->data.before[p->b][p->at[i][1]] = b[i];
    }
    for (int i = 0; i < p->kernel.addends; i++)
        p->data.before[p->addend[i]][p->addend_at[i]] = a[p->kernel.products + i];
    cnn_status status = vf_go_on(&p->subject->engine->options, err);
    if (status == CNN_OK) status = vf_run_make(&run, p->subject->place, &p->data, &(vf_run_options){0}, err);
    if (status != CNN_OK) return status;
    *sum = run.after[p->result][p->element];
    vf_run_free(&run);
    return CNN_OK;
}

/* The operands' parts: factors, the main result; a bias is an addend, but in BWD_W a result, too. */
static void take_operands(sum_probe *p)
{
    const vf_call *call = &p->data.call;
    p->a = p->b = -1;
    for (int i = 0; i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        if (o->access == CNN_IN && vf_is_factor(o)) *(p->a < 0 ? &p->a : &p->b) = i;
        if (o->access != CNN_IN && vf_tensor_of(call->problem, o) != 'b') p->result = i;
    }
}

static void take_addends(sum_probe *p, bool beta)
{
    const vf_call *call = &p->data.call;
    const cnn_operand *o = &call->operands[p->result];
    const int bias = vf_index(call->operands, call->count, "b");
    int count = 0;
    if (bias >= 0) {
        p->addend[count] = bias;
        p->addend_at[count++] = p->element / (o->dims[2] * o->dims[3]) % o->dims[1];
    }
    if (beta) {
        p->addend[count] = p->result;
        p->addend_at[count++] = p->element;
    }
    p->kernel.addends = count;
}

cnn_status sum_probe_open(sum_probe *p, const vf_subject *s, bool beta, cnn_error *err)
{
    const cnn_type *type = &s->problem->u.type;
    memset(p, 0, sizeof *p);
    p->subject = s;
    if (cnn_has_epilogue(s->problem)) return CNN_FAIL(err, CNN_UNSUPPORTED, "an epilogue changes sums: ask without it");
    cnn_status status =
        vf_case_make(&p->data, s->problem, s->dir, VF_DATA, beta, s->engine->options.seed, s->engine->pool, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < p->data.call.count; i++)
        for (int64_t e = 0; p->data.before[i] != NULL && e < p->data.call.operands[i].count; e++)
            p->data.before[i][e] = 1.0;
    take_operands(p);
    status = take_products(p, err);
    if (status == CNN_OK) take_addends(p, beta);
    p->kernel.digits = type->dtype == CNN_F64 && type->weights == CNN_F64 ? 53 : 24;
    p->kernel.run = run_sum;
    p->kernel.user = p;
    if (status != CNN_OK) sum_probe_close(p);
    return status;
}

void sum_probe_close(sum_probe *p)
{
    free(p->at);
    free(p->counts);
    p->at = NULL;
    p->counts = NULL;
    vf_case_free(&p->data);
}
