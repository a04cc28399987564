/* test_train_ranks.c: gradients that are added up over ranks in buckets, beside the backward pass: what the trainer
 * begins, when, and what it waits for. The other rank is made up: it has this one's gradients, so a sum is twice them.
 * Sums are added up at their end, and not before: until then a buffer holds NaN, which nothing may read or write. */
#include "net_unit.h"

#include <stdlib.h>
#include <string.h>

enum { SUMS_MOST = 16, RANKS = 2 };

typedef struct sum {
    float *at, *mine; /* where it stands; what this rank brought */
    int64_t count;
} sum;

/* The made-up MPI, and what it has seen. */
struct ranks_sums {
    sum list[SUMS_MOST];
    int count, most;
};

typedef struct world {
    ranks ranks; /* the first: what calls are given */
    struct ranks_sums sums;
    int whole, ahead, pokes, ends; /* sums that are waited for at once; begun; calls in between; ends */
    int64_t added;                 /* elements of sums that were begun */
} world;

static world *at;

static void twice(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) x[i] += x[i];
}

static cnn_status world_sum(ranks *r, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    (void)err;
    assert_ptr_equal(r, &at->ranks);
    assert_int_equal(at->sums.count, 0);
    at->whole++;
    if (dtype == CNN_F32)
        twice(buffer, count);
    else /* the loss and the right answers */
        for (int64_t i = 0; i < count; i++) ((double *)buffer)[i] *= 2;
    return CNN_OK;
}

static cnn_status world_gather(ranks *r, const void *mine, size_t bytes, void *all, cnn_error *err)
{
    (void)err;
    for (int i = 0; i < r->size; i++) memcpy((char *)all + (size_t)i * bytes, mine, bytes);
    return CNN_OK;
}

static cnn_status world_open(ranks *r, int most, ranks_sums **result, cnn_error *err)
{
    (void)r, (void)err;
    assert_in_range(most, 2, SUMS_MOST);
    at->sums.most = most;
    *result = &at->sums;
    return CNN_OK;
}

static cnn_status world_begin(ranks_sums *s, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    (void)err;
    assert_int_equal(dtype, CNN_F32);
    assert_true(s->count < s->most && count > 0);
    sum *one = &s->list[s->count++];
    *one = (sum){.at = buffer, .mine = malloc((size_t)count * sizeof(float)), .count = count};
    assert_non_null(one->mine);
    memcpy(one->mine, buffer, (size_t)count * sizeof(float));
    memset(buffer, 0xff, (size_t)count * sizeof(float));
    at->ahead++;
    at->added += count;
    return CNN_OK;
}

static cnn_status world_poke(ranks_sums *s, bool *done, cnn_error *err)
{
    (void)err;
    assert_true(s->count > 0); /* none under way: nothing to poke */
    at->pokes++;
    *done = false;
    return CNN_OK;
}

static cnn_status world_end(ranks_sums *s, cnn_error *err)
{
    (void)err;
    for (int i = 0; i < s->count; i++) {
        const sum *one = &s->list[i];
        bool kept = true; /* not written into before its end */
        for (size_t k = 0; k < (size_t)one->count * sizeof(float); k++)
            kept = kept && ((const unsigned char *)one->at)[k] == 0xff;
        assert_true(kept);
        memcpy(one->at, one->mine, (size_t)one->count * sizeof(float));
        twice(one->at, one->count);
        free(one->mine);
    }
    s->count = 0;
    at->ends++;
    return CNN_OK;
}

static void world_close(ranks_sums *s) { assert_int_equal(s->count, 0); }

static const ranks_calls calls = {.sum = world_sum,
                                  .gather = world_gather,
                                  .sums_open = world_open,
                                  .sums_begin = world_begin,
                                  .sums_poke = world_poke,
                                  .sums_end = world_end,
                                  .sums_close = world_close};

/* ---- Training. */

/* Two layers read what the first makes; parameters have gaps between them. */
static const char text[] = "input 1 8 8\nconv 4 kernel=3 pad=1\nrelu\nsave a\nconv 4 kernel=3 pad=1\nrelu\nadd a\n"
                           "max_pool kernel=2 stride=2\ndropout 0.2\nfc 21\nrelu\nfc 10\nsoftmax_cross_entropy\n";
enum { TRAIN_IMAGES = 20, TEST_IMAGES = 8, SHARE = 4, STEPS = 3, EPOCHS = 2 };

typedef struct run {
    int64_t bucket;
    bool recompute, host_data;
    int threads;
} run;

/* Two epochs: the parameters that they come to, to be freed; how many sums a step has. */
static float *train(const run *how, int *sums)
{
    cnn_session session;
    world w = {.ranks = {.calls = &calls, .size = RANKS, .local_size = RANKS}};
    trainer_params params = {
        .seed = 3, .ranks = &w.ranks, .bucket = how->bucket, .recompute = how->recompute, .host_data = how->host_data};
    trainer_result result;
    trainer *t = NULL;
    at = &w;
    assert_true(open_session(&session, how->threads));
    cnn_network *network = build_net(text, CNN_F32, CNN_NCHW, SHARE);
    dataset data = small_data(TRAIN_IMAGES, TEST_IMAGES, 1, 8, 8);
    const cnn_net *net = &network->net;
    float *trained = calloc((size_t)net->param_elems, sizeof *trained);
    assert_non_null(trained);
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    OK(trainer_open(&session, network, &data, &params, &t, err));
    OK(trainer_start(t, err));
    const trainer_comm comm = trainer_communication(t);
    *sums = comm.sums;
    assert_true(comm.alone_s >= 0.0);
    assert_int_equal(comm.bytes, (size_t)net->trained_elems * sizeof(float));
    w.ahead = w.pokes = w.ends = 0;
    w.added = 0;
    for (int e = 0; e < EPOCHS; e++) {
        OK(trainer_epoch(t, e, NULL, &result, err));
        assert_int_equal(result.steps, STEPS);
        assert_true(result.comm_s > 0.0 && result.comm_flight_s >= result.comm_s &&
                    result.comm_flight_s < result.train_s);
        if (comm.sums == 1) assert_true(result.comm_flight_s <= result.comm_s);
    }
    const int steps = EPOCHS * STEPS;
    assert_int_equal(w.ahead, comm.sums > 1 ? comm.sums * steps : 0);
    assert_int_equal(w.added, comm.sums > 1 ? net->trained_elems * steps : 0);
    assert_int_equal(w.ends, comm.sums > 1 ? steps : 0);
    if (comm.sums > 1) assert_true(w.pokes >= 2 * steps); /* operations go on behind the first sum */
    OK(trainer_get_params(t, trained, err));
    trainer_close(t);
    cnn_net_free(network);
    dataset_free(&data);
    cnn_session_close(&session);
    return trained;
}

static void test_same_bits(void **state)
{
    /* In bytes the layers have, from the last on, 960, 5504, 640 and 256. */
    static const struct {
        run how;
        int sums;
    } runs[] = {{{.bucket = 1, .threads = 1}, 4},
                {{.bucket = 640, .threads = 1}, 4},
                {{.bucket = 641, .threads = 1}, 3},
                {{.bucket = 1000, .threads = 1}, 2},
                {{.bucket = 7000, .threads = 3}, 2},
                {{.bucket = 7360, .threads = 1}, 1},
                {{.bucket = 1, .threads = 3}, 4},
                {{.bucket = 1, .recompute = true, .threads = 1}, 4},
                {{.bucket = 1, .host_data = true, .threads = 1}, 4}};
    const run one = {.threads = 1};
    cnn_network *network = build_net(text, CNN_F32, CNN_NCHW, SHARE);
    const size_t bytes = (size_t)network->net.param_elems * sizeof(float);
    int sums;
    (void)state;
    float *whole = train(&one, &sums);
    assert_int_equal(sums, 1);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        float *other = train(&runs[i].how, &sums);
        if (sums != runs[i].sums) fail_msg("run %zu: %d sums a step, not %d", i, sums, runs[i].sums);
        if (memcmp(whole, other, bytes) != 0) fail_msg("run %zu: other weights than with one sum", i);
        free(other);
    }
    free(whole);
    cnn_net_free(network);
}

/* Where nothing is added up beside the backward pass, there are no buckets. */
static void test_no_use(void **state)
{
    cnn_session session;
    world w = {.ranks = {.calls = &calls, .size = 1, .local_size = 1}};
    trainer_params params = {.bucket = 64};
    (void)state;
    assert_true(open_session(&session, 1));
    assert_int_equal(trainer_bucket(&session, &params), 0);
    params.ranks = &w.ranks;
    assert_int_equal(trainer_bucket(&session, &params), 0);
    w.ranks.size = 2;
    assert_int_equal(trainer_bucket(&session, &params), 64);
    params.algorithm = "fused";
    if (trainer_row(&session, "fused") != NULL) assert_int_equal(trainer_bucket(&session, &params), 0);
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_no_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
