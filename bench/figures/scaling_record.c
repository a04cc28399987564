/* scaling_record.c: points and models of scaling, for tables and in words. */
#include "harness/base/text.h"
#include "scaling.h"

#include <math.h>

cnn_record *scaling_record(const scaling_curve *c, const scaling_point *p)
{
    const epoch_setting *s = &c->setting;
    char marks[128];
    cnn_record *record = record_new("scaling");
    record_text(record, "net", s->net);
    record_text(record, "data", s->data);
    record_text(record, "impl", s->impl);
    record_text(record, "algorithm", s->algorithm);
    if (c->facts[0] != '\0') record_text(record, "facts", c->facts);
    record_text(record, "machine", scaling_on_gpu(s) ? s->gpu : s->cpu);
    record_text(record, "dtype", s->dtype);
    record_text(record, "layout", s->layout);
    record_text(record, "math", s->math);
    record_text(record, "data_on", s->data_on);
    if (!scaling_on_gpu(s)) record_int(record, "threads", p->threads);
    record_int(record, "batch", p->batch);
    record_int(record, "ranks", p->ranks);
    if (p->bucket > 0) record_int(record, "bucket", p->bucket);
    record_real(record, "seconds", p->seconds);
    record_int(record, "repetitions", p->epochs);
    record_real(record, "strong", p->strong);
    record_real(record, "weak", p->weak);
    record_real(record, "efficiency", p->efficiency);
    record_real(record, "comm_bytes", p->ranks > 1 && c->model.bytes > 0 ? c->model.bytes : NAN);
    record_real(record, "comm_step_s", p->step_s);
    record_real(record, "comm_alone_s", p->alone_s);
    record_real(record, "comm_share", p->share);
    record_real(record, "comm_hidden", p->hidden);
    record_real(record, "model_s", p->model_s);
    record_real(record, "model_off", p->model_off);
    record_text(record, "marks", bench_marks_text(p->marks, marks, sizeof marks));
    return record;
}

static void put_compute(const scaling_model *m, char *text, size_t size)
{
    char fixed[32], image[32];
    const double *b = m->images;
    if (m->n_knots == 1) {
        cnn_append(text, size,
                   "  one rank was measured at batch %.0f alone: of others nothing is known; give a list of --batch\n",
                   b[0]);
        return;
    }
    bench_time_text(m->fixed_s, fixed, sizeof fixed);
    bench_time_text(m->image_s, image, sizeof image);
    cnn_append(
        text, size,
        "  a step of one rank: as measured from batch %.0f to %.0f; beyond them extrapolated, by %s + %s an image "
        "(off by up to %.1f %%)\n",
        b[0], b[m->n_knots - 1], fixed, image, 100.0 * m->off);
}

static void put_sum(const scaling_model *m, char *text, size_t size)
{
    char hop[32];
    bench_time_text(m->hop_s, hop, sizeof hop);
    cnn_append(
        text, size,
        "  the sum of %.0f bytes: a ring's or a tree's, whichever is less, by %s a message + bytes / %.3g GB/s, as "
        "%lld ranks measured them (off by up to %.1f %%); other links may be slower\n",
        m->bytes, hop, m->bytes_per_s * 1e-9, (long long)m->link->ranks, 100.0 * m->link->off);
}

/* Up to where more ranks are faster. */
static void put_least(const scaling_model *m, int64_t batch, char *text, size_t size)
{
    double least_s;
    const int64_t least = scaling_least(m, batch, &least_s);
    const double one_s = scaling_epoch_s(m, 1, batch), each = (double)batch / (double)least;
    if (least == 0 || !isfinite(one_s)) return;
    cnn_append(text, size, "  batch %lld: the least epoch on %lld ranks, %.3g s, %.3g times as fast as one rank's",
               (long long)batch, (long long)least, least_s, one_s / least_s);
    if (least == SCALING_RANKS_MOST)
        cnn_append(text, size, ", the most that are looked at");
    else if (least == batch)
        cnn_append(text, size, ", an image each");
    if (!scaling_measured(m, each))
        cnn_append(text, size, "; extrapolated: %.3g image%s a rank", each, least == batch ? "" : "s");
    cnn_append(text, size, "\n");
}

void scaling_model_text(const scaling_curve *c, char *text, size_t size)
{
    const scaling_model *m = &c->model;
    cnn_append(text, size, "model of %s, %s%s%s", c->setting.net, c->label, c->facts[0] != '\0' ? ", " : "", c->facts);
    if (m->why_not[0] != '\0') {
        cnn_append(text, size, ": none: %s\n", m->why_not);
        return;
    }
    cnn_append(text, size, ": what was not measured; docs/ranks.md says how\n");
    put_compute(m, text, size);
    put_sum(m, text, size);
    for (int i = 0; i < c->count; i++)
        if (i == 0 || c->points[i].batch != c->points[i - 1].batch) put_least(m, c->points[i].batch, text, size);
}
