/* test_train_memory.c: values and gradients that share memory, and values that are computed again: the same bits as
 * with a place for each. */
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

/* ---- The same bits ---- */

static void fill(const cnn_network *n, void *images, int32_t *labels)
{
    cnn_rng r = rng_stream(5, 0);
    float *x = images;
    for (int64_t i = 0; i < cnn_net_value_elems(&n->net, 0, MB); i++) x[i] = (float)rng_real(&r, -0.5, 0.5);
    for (int i = 0; i < MB; i++) labels[i] = i % 10;
}

/* Before each call, all of the block that no living buffer holds becomes NaN. */
static void run_poisoned(trainer *t, const call_list *list)
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
        for (size_t k = 0; k < high - low; k++)
            if (!alive[k]) t->arena[low + k] = (char)0xff;
        const call_list one = {list->calls + i, 1, 1};
        OK(step_run(t->own, &one, err));
    }
    free(alive);
}

/* Parameters behind some steps, and the gradients of one. */
static void *train(const cnn_session *session, const cnn_network *n, bool recompute, bool poison, trainer_bytes *bytes)
{
    const size_t size = (size_t)n->net.param_elems * sizeof(float);
    char *all = calloc(2, size);
    void *images = calloc((size_t)cnn_net_value_elems(&n->net, 0, MB), sizeof(float));
    int32_t labels[MB];
    trainer *t = NULL;
    trainer_params params = {.seed = 3, .recompute = recompute};
    assert_true(all != NULL && images != NULL);
    fill(n, images, labels);
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    OK(trainer_open(session, n, NULL, &params, &t, err));
    OK(trainer_start(t, err));
    for (int i = 0; i < STEPS; i++) OK(trainer_step(t, images, labels, MB, NULL, NULL, err));
    OK(trainer_get_params(t, all, err));
    if (poison) {
        run_poisoned(t, &t->own->batches[0][0].calls[TRAIN]);
        memcpy(all + size, trainer_at(t, t->own->grads_at), trainer_trained_bytes(t));
    } else {
        OK(trainer_gradients(t, images, labels, MB, all + size, NULL, err));
    }
    *bytes = trainer_memory(t);
    trainer_close(t);
    free(images);
    return all;
}

static void test_the_same_bits(void **state)
{
    static const char *const texts[] = {branches, chain};
    cnn_session session;
    (void)state;
    if (!open_session(&session, 2)) skip();
    for (int i = 0; i < 2; i++) {
        cnn_network *n = build_net(texts[i], CNN_F32, CNN_NCHW, MB);
        const size_t size = (size_t)n->net.param_elems * sizeof(float) * 2;
        trainer_bytes kept, less, ignored;
        void *plain = train(&session, n, false, false, &kept), *again = train(&session, n, true, false, &less);
        void *poisoned = train(&session, n, false, true, &ignored), *both = train(&session, n, true, true, &ignored);
        assert_memory_equal(plain, again, size);
        assert_memory_equal(plain, poisoned, size);
        assert_memory_equal(plain, both, size);
        print_message("net %d: apart %zu bytes, shared %zu, with recompute %zu\n", i, kept.apart, kept.values,
                      less.values);
        assert_true(kept.values < kept.apart * 3 / 4);
        assert_true(less.values < kept.values);
        free(plain), free(again), free(poisoned), free(both);
        cnn_net_free(n);
    }
    cnn_session_close(&session);
}

/* ---- The plan itself ---- */

/* Whoever is alive together stands apart, in every mode. */
static void expect_apart(const cnn_trainer *t)
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

/* A gradient that is copied to both inputs of a sum is one buffer for all three. */
static int copies(const call_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->calls[i].plan < 0 && !list->calls[i].again && !list->calls[i].done;
    return count;
}

static int again(const call_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) count += list->calls[i].again;
    return count;
}

static void test_places(void **state)
{
    static const char *const texts[] = {branches, chain};
    cnn_session session;
    (void)state;
    if (!open_session(&session, 1)) skip();
    for (int i = 0; i < 4; i++) {
        cnn_network *n = build_net(texts[i / 2], CNN_F64, CNN_NHWC, MB);
        const trainer_params params = {.optimizer = {.kind = CNN_SGD}, .recompute = i % 2 == 1};
        trainer *t = NULL;
        OK(trainer_open(&session, n, NULL, &params, &t, err));
        expect_apart(t->own);
        const call_list *list = &t->own->batches[0][0].calls[TRAIN];
        if (i / 2 == 1) assert_int_equal(copies(list), 0);
        assert_true((again(list) > 0) == params.recompute);
        trainer_close(t);
        cnn_net_free(n);
    }
    cnn_session_close(&session);
}

/* Reads (r) and writes (w) of buffers A, B, C by one call. */
static step_call read_call(const char *word)
{
    step_call call = {.plan = 0};
    for (; *word != '\0'; word += 2) {
        call.written |= (unsigned)(word[0] == 'w') << call.n_operands;
        call.at[call.n_operands++] = BUFFER + (size_t)(word[1] - 'A');
    }
    return call;
}

/* A copy of A to B stays where one of the two changes while the other is still read. */
static void test_copies_that_stay(void **state)
{
    static const struct {
        const char *what, *calls[3];
        bool stays;
    } cases[] = {
        {"nothing changes them", {"rB", "rA", "wC"}, false},
        {"the copy changes behind the last use of A", {"rA", "wB", "rB"}, false},
        {"the copy changes before it", {"wB", "rA", "rC"}, true},
        {"A changes before the last use of the copy", {"wA", "rB", "rC"}, true},
        {"A changes behind it", {"rB", "wA", "rA"}, false},
        {"one call changes one and reads the other", {"rBwA", "rA", "rC"}, true},
        {"the copy changes twice", {"wB", "wB", "rB"}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        step_call calls[4] = {{.plan = -1, .n_operands = 2, .written = 2, .at = {BUFFER, BUFFER + 1}}};
        for (int k = 0; k < 3; k++) calls[1 + k] = read_call(cases[i].calls[k]);
        call_list list = {calls, 4, 4};
        step_take_out_copies(&list);
        if (list.count != 3 + cases[i].stays) fail_msg("%s: %d calls left", cases[i].what, list.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_copies_that_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
