/* sums.c: which sum did it use? What the summation of one result shows (summation/), as a result beside the checks'. It
 * never fails: it informs. SKIPPED, where it cannot be found, says why. */
#include "engine.h"

#include "harness/base/text.h"
#include "harness/cnn/half.h"
#include "summation/probe.h"

#include <stdio.h>

/* ---- In words. */

static void append_bits(int bits, char *text, size_t size)
{
    static const struct {
        int bits;
        const char *name;
    } types[] = {{8, "bf16"}, {11, "f16"}, {24, "f32"}, {53, "f64"}, {64, "x87"}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        if (types[t].bits == bits) cnn_append(text, size, "%s, ", types[t].name);
    cnn_append(text, size, "%d bits", bits);
}

static void append_accumulator(const sum_findings *f, char *text, size_t size)
{
    if (f->inner_bits == 0) return;
    cnn_append(text, size, "; accumulator ");
    append_bits(f->inner_bits, text, size);
    if (f->outer_bits != f->inner_bits) cnn_append(text, size, " within partial sums, between them ");
    if (f->outer_bits != f->inner_bits) append_bits(f->outer_bits, text, size);
    if (f->rounding != SUM_ROUNDING_UNKNOWN) cnn_append(text, size, " %s", sum_rounding_name(f->rounding));
}

static void append_products(const sum_findings *f, int digits, char *text, size_t size)
{
    if (f->product == SUM_EXACT)
        cnn_append(text, size, ", which holds products exactly");
    else if (f->product != SUM_PRODUCT_UNKNOWN && f->asked > 0) /* an adder of many has no FMA to speak of */
        cnn_append(text, size, ", %s", sum_product_name(f->product));
    if (f->a_bits != digits || f->b_bits != digits)
        cnn_append(text, size, "; of %s %d bits count, of %s %d", f->factor[0], f->a_bits, f->factor[1], f->b_bits);
}

static void put_text(const sum_findings *f, int digits, char *text, size_t size)
{
    cnn_append(text, size, "%d products: %s", f->products, f->order);
    if (f->addends > 0) cnn_append(text, size, "; bias %s", f->place[0]);
    if (f->beta[0] != '\0') cnn_append(text, size, "; old value (beta 1) %s", f->beta);
    append_accumulator(f, text, size);
    append_products(f, digits, text, size);
    if (f->asked > 0) cnn_append(text, size, "; foretells %d of %d random sums bit for bit", f->foretold, f->asked);
    if (f->foretold < f->asked)
        cnn_append(text, size,
                   ": it does something else, too (compensates, rounds otherwise, has accumulators of two widths)");
}

/* ---- The probes. */

static cnn_status find_beta(const vf_subject *s, const sum_tree *tree, sum_findings *found, cnn_error *err)
{
    sum_probe p;
    cnn_status status = sum_probe_open(&p, s, true, err);
    if (status != CNN_OK) return status;
    status = sum_find_more(&p.kernel, &p.axes, s->engine->options.seed, tree, found, err);
    sum_probe_close(&p);
    return status;
}

static cnn_status find_all(const vf_subject *s, sum_findings *found, verify_result *result, cnn_error *err)
{
    sum_probe p;
    sum_tree tree;
    cnn_status status = sum_probe_open(&p, s, false, err);
    if (status != CNN_OK) return status;
    status = sum_find(&p.kernel, &p.axes, s->engine->options.seed, &tree, found, err);
    if (status == CNN_OK) {
        status = find_beta(s, &tree, found, err);
        sum_tree_free(&tree);
    }
    if (status == CNN_OK) {
        const cnn_operand *o = p.data.call.operands;
        vf_element_name(&o[p.result], p.element, found->element, sizeof found->element);
        snprintf(found->factor[0], sizeof found->factor[0], "%s", o[p.a].name);
        snprintf(found->factor[1], sizeof found->factor[1], "%s", o[p.b].name);
        put_text(found, p.kernel.digits, result->reason, sizeof result->reason);
        result->sums = found;
    }
    sum_probe_close(&p);
    return status;
}

cnn_status vf_find_sums(const vf_subject *s, sum_findings *found, verify_result *result, cnn_error *err)
{
    if (!cnn_is_weighted(s->problem)) {
        vf_set(result, VERIFY_SKIPPED, "for convolutions and FC layers: sums of products");
        return CNN_OK;
    }
    if (cnn_is_half(s->problem->u.type.dtype)) {
        vf_set(result, VERIFY_SKIPPED, "cannot tell: a sum of f32 that is stored as %s shows no order",
               cnn_dtype_name(s->problem->u.type.dtype));
        return CNN_OK;
    }
    if (cnn_is_joined(s->problem->u.type.dtype)) {
        vf_set(result, VERIFY_SKIPPED,
               "cannot tell: factors as short as those of %s cannot hide one term behind another",
               cnn_dtype_name(s->problem->u.type.dtype));
        return CNN_OK;
    }
    const cnn_status status = find_all(s, found, result, err);
    if (status != CNN_UNSUPPORTED) return status;
    vf_set(result, VERIFY_SKIPPED, "cannot tell: %s", err->message);
    return CNN_OK;
}
