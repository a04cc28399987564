/* problem_text.c: a problem's canonical text, which parses back to the same problem. */
#include "names.h"
#include "problem.h"
#include "shape.h"
#include "text_options.h"

#include <inttypes.h>
#include <string.h>

typedef struct writer {
    char *text;
    size_t used;
} writer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, CNN_PROBLEM_TEXT_MAX - w->used, format, args);
    va_end(args);
    if (n > 0) w->used += (size_t)n;
    if (w->used >= CNN_PROBLEM_TEXT_MAX) w->used = CNN_PROBLEM_TEXT_MAX - 1;
}

static void put_number(writer *w, const char *letters, int64_t value) { put(w, "%s%lld", letters, (long long)value); }

/* One axis of a sliding window; sizes that deduction would get wrong (output, padding) always stand. */
typedef struct window {
    int64_t i, o, k, s, p, d;
} window;

static bool same(const window *a, const window *b)
{
    return a->i == b->i && a->o == b->o && a->k == b->k && a->s == b->s && a->p == b->p && a->d == b->d;
}

static void put_windows(writer *w, const window *h, const window *v, int64_t ic, int64_t oc)
{
    const window one = {1, 1, 1, 1, 0, 0};
    const bool put_h = !same(h, &one) || same(v, &one), put_w = !same(h, v);
    const struct {
        const char letter;
        int64_t h, w, usual;
    } rows[] = {{'k', h->k, v->k, -1}, {'s', h->s, v->s, 1}, {'p', h->p, v->p, -1}, {'d', h->d, v->d, 0}};
    if (ic > 0) put_number(w, "ic", ic);
    if (put_h) put_number(w, "ih", h->i);
    if (put_w) put_number(w, "iw", v->i);
    if (oc > 0) put_number(w, "oc", oc);
    if (put_h) put_number(w, "oh", h->o);
    if (put_w) put_number(w, "ow", v->o);
    for (int r = 0; r < 4; r++) {
        if (put_h && rows[r].h != rows[r].usual) put(w, "%ch%lld", rows[r].letter, (long long)rows[r].h);
        if (put_w && rows[r].w != rows[r].usual) put(w, "%cw%lld", rows[r].letter, (long long)rows[r].w);
    }
}

static void put_plain(writer *w, int64_t mb, int64_t ic, int64_t ih, int64_t iw)
{
    if (mb > 0) put_number(w, "mb", mb);
    if (ic > 0) put_number(w, "ic", ic);
    if (ih != 1 || iw != 1) put_number(w, "ih", ih);
    if (iw != ih) put_number(w, "iw", iw);
}

static void put_conv(writer *w, const cnn_conv_desc *d)
{
    const window h = {d->ih, d->oh, d->kh, d->sh, d->ph, d->dh}, v = {d->iw, d->ow, d->kw, d->sw, d->pw, d->dw};
    if (d->g != 1) put_number(w, "g", d->g);
    put_number(w, "mb", d->mb);
    put_windows(w, &h, &v, d->ic, d->oc);
}

static void put_pool(writer *w, const cnn_pool_desc *d)
{
    const window h = {d->ih, d->oh, d->kh, d->sh, d->ph, d->dh}, v = {d->iw, d->ow, d->kw, d->sw, d->pw, d->dw};
    put(w, "%s:mb%lld", cnn_pool_name(d->kind), (long long)d->mb);
    if (d->kind == CNN_POOL_GLOBAL_AVG) {
        put_number(w, "ic", d->ic);
        put_number(w, "ih", d->ih);
        if (d->iw != d->ih) put_number(w, "iw", d->iw);
    } else {
        put_windows(w, &h, &v, d->ic, 0);
    }
}

static void put_act(writer *w, const cnn_act_desc *d)
{
    put(w, "%s", cnn_act_name(d->kind));
    char real[TEXT_REAL_MAX];
    if (d->kind == CNN_ACT_LEAKY_RELU || d->kind == CNN_ACT_CLIPPED_RELU || d->kind == CNN_ACT_ELU)
        put(w, "=%s", text_real(d->alpha, real));
    put(w, ":");
    put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static void put_concat(writer *w, const cnn_concat_desc *d)
{
    for (int i = 0; i < d->n_inputs; i++) put(w, "%s%lld", i > 0 ? "+" : "", (long long)d->ic[i]);
    put(w, ":");
    put_plain(w, d->mb, 0, d->ih, d->iw);
}

/* The rate first, or "inference", where it does nothing and is told if it is not the usual one. */
static void put_dropout(writer *w, const cnn_dropout_desc *d)
{
    char rate[TEXT_REAL_MAX];
    text_real(d->rate, rate);
    put(w, "%s", d->inference ? "inference" : rate);
    if (d->inference && d->rate != CNN_DROPOUT_RATE) put(w, ",rate=%s", rate);
    if (d->seed != CNN_DROPOUT_SEED) put(w, ",seed=%" PRIu64, d->seed);
    put(w, ":");
    put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

/* The words before the colon, which stands only where there are any. */
static void put_batchnorm(writer *w, const cnn_batchnorm_desc *d)
{
    char real[TEXT_REAL_MAX];
    const char *comma = "";
    if (d->inference) put(w, "inference"), comma = ",";
    if (d->eps != CNN_BATCHNORM_EPS) put(w, "%seps=%s", comma, text_real(d->eps, real)), comma = ",";
    if (d->momentum != CNN_BATCHNORM_MOMENTUM)
        put(w, "%smomentum=%s", comma, text_real(d->momentum, real)), comma = ",";
    if (comma[0] != '\0') put(w, ":");
    put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static void put_optimizer(writer *w, const cnn_optimizer_desc *d)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_optimizer_format(d, text);
    put(w, "%s:ic%lld", text, (long long)d->count);
}

void cnn_problem_format(const cnn_problem *p, char text[CNN_PROBLEM_TEXT_MAX])
{
    writer w = {text, 0};
    text[0] = '\0';
    switch (p->op) {
    case CNN_OP_CONV:
        put_conv(&w, &p->u.conv);
        break;
    case CNN_OP_FC:
        put_plain(&w, p->u.fc.mb, p->u.fc.ic, p->u.fc.ih, p->u.fc.iw);
        put_number(&w, "oc", p->u.fc.oc);
        break;
    case CNN_OP_POOL:
        put_pool(&w, &p->u.pool);
        break;
    case CNN_OP_ACT:
        put_act(&w, &p->u.act);
        break;
    case CNN_OP_LOSS:
        put_plain(&w, p->u.loss.mb, p->u.loss.ic, 1, 1);
        break;
    case CNN_OP_DROPOUT:
        put_dropout(&w, &p->u.dropout);
        break;
    case CNN_OP_ADD:
        put_plain(&w, p->u.add.mb, p->u.add.ic, p->u.add.ih, p->u.add.iw);
        break;
    case CNN_OP_CONCAT:
        put_concat(&w, &p->u.concat);
        break;
    case CNN_OP_BATCHNORM:
        put_batchnorm(&w, &p->u.batchnorm);
        break;
    case CNN_OP_OPTIMIZER:
        put_optimizer(&w, &p->u.optimizer);
        break;
    case CNN_OP_COUNT:
        break;
    }
    if (p->name[0] != '\0') put(&w, "n\"%s\"", p->name);
}

cnn_problem cnn_problem_work(const cnn_problem *problem)
{
    cnn_problem work = *problem;
    memset(work.name, 0, sizeof work.name);
    if (work.op == CNN_OP_DROPOUT) work.u.dropout.seed = CNN_DROPOUT_SEED;
    return work;
}
