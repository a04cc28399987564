/* checkpoint.c: `train --checkpoint`: what a kept run must have in common with the one that goes on from it. */
#include "parts.h"

#include <string.h>

static unsigned hash_of(const void *bytes, size_t count)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

/* Whatever the bits of a run depend on, but for the machine. Of the knobs those are named that are not at their
 * default; all of them count, since a default may change, and a list may be too long. */
void train_describe(const train_run *r, char setting[CHECKPOINT_SETTING_MAX])
{
    const epoch_setting *s = &r->setting;
    const size_t knobs = (size_t)r->session->impl->n_knobs * sizeof *r->session->knobs;
    char shift[32] = "", algorithm[CNN_NAME_MAX];
    snprintf(algorithm, sizeof algorithm, "%s", s->algorithm);
    if (s->shift > 0) snprintf(shift, sizeof shift, " shift %lld", (long long)s->shift);
    if (r->tuned != NULL) /* and so on what each layer takes */
        snprintf(algorithm, sizeof algorithm, "%s-%08x", CNN_TUNED, hash_of(r->tuned->text, strlen(r->tuned->text)));
    snprintf(setting, CHECKPOINT_SETTING_MAX,
             "%s %s on %s%s, %s:%s, %s %s %s, batch %lld, %.300s, seed %lld, %lld images, knobs %s %08x", s->net,
             s->net_crc, s->data, shift, s->impl, algorithm, s->dtype, s->layout, s->math, (long long)s->batch,
             s->optimizer, (long long)s->seed, (long long)s->train_images, s->knobs, hash_of(r->session->knobs, knobs));
}

cnn_status train_go_on(train_run *r, const char *setting, int64_t *done, cnn_error *err)
{
    const cli_options *o = r->all->options;
    const cnn_status status = checkpoint_load(r->trainer, o->checkpoint, setting, done, err);
    if (status != CNN_OK || *done == 0) return status;
    if (!o->json) printf("going on behind epoch %lld, from %s\n", (long long)*done, o->checkpoint);
    r->all->sums->trained += *done >= r->all->epochs; /* nothing is left to do, and that is no failure */
    return CNN_OK;
}
