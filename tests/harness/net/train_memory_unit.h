/* train_memory_unit.h: what the tests of a step's memory share: networks, and a training whose dead memory is poisoned:
 * what holds no living value is NaN before each call. */
#ifndef TESTS_HARNESS_NET_TRAIN_MEMORY_UNIT_H
#define TESTS_HARNESS_NET_TRAIN_MEMORY_UNIT_H

#include "net_unit.h"

#include "harness/net/composition/parts.h"

/* Branches of two and three readers, a sum that is read in place, pooling, concat, batch norm in front of each. */
static const char branches[] =
    "input 2 12 12\nconv 4 kernel=3 pad=1\nbatch_norm\nsave a\nrelu\nconv 4 kernel=3 pad=1\nbatch_norm\nadd a\nrelu\n"
    "save b\nmax_pool kernel=2\nsave c\nconv 4 kernel=3 pad=1\nelu\nadd c\nsave d\ndropout 0.3\nbatch_norm\n"
    "concat d\nsave e\nfrom b\navg_pool kernel=2\nconcat e\nconv 6 kernel=3 pad=1\nleaky_relu\nbatch_norm\nfc 10\n"
    "softmax_cross_entropy\n";

/* As long as recompute pays. */
static const char chain[] = "input 1 16 16\nconv 8 kernel=3 pad=1\nrelu\nrepeat 3\nsave a\nconv 8 kernel=3 pad=1\n"
                            "batch_norm\nrelu\nconv 8 kernel=3 pad=1\nbatch_norm\nadd a\nrelu\nend\n"
                            "global_avg_pool\nfc 10\nsoftmax_cross_entropy\n";

enum { MB = 5, STEPS = 3 };

static inline void fill_images(const cnn_network *n, void *images, int32_t *labels)
{
    cnn_rng r = rng_stream(5, 0);
    float *x = images;
    for (int64_t i = 0; i < cnn_net_value_elems(&n->net, 0, MB); i++) x[i] = (float)rng_real(&r, -0.5, 0.5);
    for (int i = 0; i < MB; i++) labels[i] = i % 10;
}

/* Fills all places between low and high that are not alive: on the stream, in its turn. */
static inline void poison(const trainer *t, const bool *alive, size_t low, size_t high)
{
    for (size_t k = low; k < high; k++) {
        const size_t from = k;
        while (k < high && !alive[k - low]) k++;
        if (k > from) OK(cnn_mem_fill(t->session, t->arena + from, 0xff, k - from, err));
    }
}

static inline void run_poisoned(trainer *t, const call_list *list)
{
    const cnn_trainer *own = t->own;
    const size_t at = own->buffers[0].at;
    size_t low = at, high = at;
    for (int b = 0; b < own->n_buffers; b++) {
        const step_buffer *buffer = &own->buffers[b];
        if (buffer->life[0].last < 0) continue;
        if (buffer->at < low) low = buffer->at;
        if (buffer->at + buffer->bytes > high) high = buffer->at + buffer->bytes;
    }
    bool *alive = calloc(high - low, sizeof *alive);
    assert_non_null(alive);
    for (int i = 0; i < list->count; i++) {
        memset(alive, 0, high - low);
        for (int b = 0; b < own->n_buffers; b++) {
            const step_buffer *buffer = &own->buffers[b];
            /* what this call is the first to use holds nothing yet */
            if (buffer->life[0].first < i && buffer->life[0].last >= i)
                memset(alive + (buffer->at - low), 1, buffer->bytes);
        }
        poison(t, alive, low, high);
        const call_list one = {.calls = list->calls + i, .count = 1, .capacity = 1};
        OK(step_run(t->own, &one, err));
    }
    free(alive);
}

/* Parameters behind some steps, and the gradients of one: the caller's to free, as many of each as the network has. */
static inline void *train_steps(const cnn_session *session, const cnn_network *n, trainer_params params, bool poisoned,
                                trainer_bytes *bytes)
{
    const size_t size = (size_t)n->net.param_elems * sizeof(float);
    char *all = calloc(2, size);
    void *images = calloc((size_t)cnn_net_value_elems(&n->net, 0, MB), sizeof(float));
    int32_t labels[MB];
    trainer *t = NULL;
    params.seed = 3;
    assert_true(all != NULL && images != NULL);
    fill_images(n, images, labels);
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    OK(trainer_open(session, n, NULL, &params, &t, err));
    OK(trainer_start(t, err));
    for (int i = 0; i < STEPS; i++) OK(trainer_step(t, images, labels, MB, NULL, NULL, err));
    OK(trainer_get_params(t, all, err));
    if (poisoned) {
        run_poisoned(t, &t->own->batches[0][0].calls[TRAIN]);
        OK(cnn_mem_download(session, all + size, trainer_at(t, t->own->grads_at), trainer_trained_bytes(t), err));
    } else {
        OK(trainer_gradients(t, images, labels, MB, all + size, NULL, err));
    }
    *bytes = trainer_memory(t);
    trainer_close(t);
    free(images);
    return all;
}

/* Whoever is alive together is apart, in every mode. */
static inline void expect_apart(const cnn_trainer *t)
{
    int pairs = 0;
    for (int mode = 0; mode < PASSES; mode++)
        for (int a = 0; a < t->n_buffers; a++)
            for (int b = 0; b < a; b++) {
                const step_buffer *x = &t->buffers[a], *y = &t->buffers[b];
                const step_life p = x->life[mode], q = y->life[mode];
                if (p.last < 0 || q.last < 0 || p.first > q.last || q.first > p.last) continue;
                pairs++;
                if (x->at < y->at + y->bytes && y->at < x->at + x->bytes)
                    fail_msg("buffers %d and %d are alive together and overlap", a, b);
            }
    assert_true(pairs > 0);
}

#endif
