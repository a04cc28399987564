/* test_train_memory.c: values and gradients that share memory, and values that are computed again: the same bits as
 * with a place for each. */
#include "train_memory_unit.h"

static void test_the_same_bits(void **state)
{
    static const char *const texts[] = {branches, chain};
    const trainer_params usual = {.recompute = false}, recompute = {.recompute = true};
    cnn_session session;
    (void)state;
    if (!open_session(&session, 2)) skip();
    for (int i = 0; i < 2; i++) {
        cnn_network *n = build_net(texts[i], CNN_F32, CNN_NCHW, MB);
        const size_t size = (size_t)n->net.param_elems * sizeof(float) * 2;
        trainer_bytes kept, less, ignored;
        void *plain = train_steps(&session, n, usual, false, &kept);
        void *again = train_steps(&session, n, recompute, false, &less);
        void *poisoned = train_steps(&session, n, usual, true, &ignored);
        void *both = train_steps(&session, n, recompute, true, &ignored);
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
        call_list list = {.calls = calls, .count = 4, .capacity = 4};
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
