/* test_train_offload.c: values that go to host memory between the passes: the same bits as without, on the mock device,
 * whose copies come as late as they may, or as early; and the plan itself. */
#include "tests/mock/mock_device.h"
#include "train_memory_unit.h"

static const char *const texts[] = {branches, chain};

static void open_mock(cnn_session *session, bool early)
{
    const char *const settings[1] = {"mock.early_uploads=1"};
    const cnn_session_params params = {.threads = 1, .settings = settings, .n_settings = early};
    OK(cnn_session_open(cnn_impl_mock(), &params, session, err));
}

/* ---- The same bits ---- */

static void test_the_same_bits(void **state)
{
    const trainer_params usual = {.recompute = false}, recompute = {.recompute = true};
    (void)state;
    for (int i = 0; i < 16; i++) {
        const bool early = i & 1, poisoned = i & 2, both = i & 4;
        const trainer_params offload = {.offload = true, .recompute = both};
        cnn_network *n = build_net(texts[i >> 3], CNN_F32, CNN_NCHW, MB);
        const size_t size = (size_t)n->net.param_elems * sizeof(float) * 2;
        cnn_session session;
        trainer_bytes kept, less;
        open_mock(&session, early);
        void *plain = train_steps(&session, n, both ? recompute : usual, false, &kept);
        void *moved = train_steps(&session, n, offload, poisoned, &less);
        if (memcmp(plain, moved, size) != 0)
            fail_msg("net %d:%s%s%s: other bits", i >> 3, early ? " early" : "", poisoned ? " poisoned" : "",
                     both ? " recompute" : "");
        print_message("net %d%s: %zu bytes, with offload %zu and %zu on the host\n", i >> 3, both ? ", recompute" : "",
                      kept.values, less.values, less.offload);
        assert_true(kept.offload == 0 && (less.offload > 0) == (less.values < kept.values));
        assert_true(both ? less.values <= kept.values : less.values < kept.values);
        free(plain), free(moved);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

/* ---- The plan itself ---- */

/* Which call of the list it is that does this for a copy; -1: none. */
static int find_move(const call_list *list, step_move move, int copy)
{
    for (int i = 0; i < list->count; i++)
        if (list->calls[i].move == move && list->calls[i].copy == copy) return i;
    return -1;
}

static bool uses(const step_call *call, size_t at, bool writing)
{
    for (int o = 0; o < call->n_operands; o++)
        if (call->move == STAYS && call->at[o] == at && (!writing || call->written >> o & 1u)) return true;
    return false;
}

/* Layers whose operations stand between two calls. */
static int layers_between(const cnn_trainer *t, const call_list *list, int from, int to)
{
    int layers = 0, latest = -1;
    for (int i = from; i < to; i++) {
        const int plan = list->calls[i].plan, layer = plan < 0 ? -1 : t->plans[plan].layer;
        if (layer >= 0 && layer != latest) layers++, latest = layer;
    }
    return layers;
}

/* The way of the value of a copy out and the copy back behind it. */
static void expect_way(const cnn_trainer *t, const call_list *list, int copy)
{
    const int out = find_move(list, MOVES_OUT, copy), is_out = find_move(list, IS_OUT, copy);
    const int back = find_move(list, MOVES_BACK, copy + 1), is_back = find_move(list, IS_BACK, copy + 1);
    assert_true(0 <= out && out < is_out && is_out < back && back < is_back);
    const step_call *begun = &list->calls[out], *fetched = &list->calls[back];
    assert_true(begun->host_at == fetched->host_at && begun->copy_bytes == fetched->copy_bytes);
    assert_true(begun->at[0] != fetched->at[0]);
    for (int i = 0; i < list->count; i++) {
        if (uses(&list->calls[i], begun->at[0], true)) assert_true(i < out);
        if (uses(&list->calls[i], begun->at[0], false)) assert_true(i < is_out);
        if (uses(&list->calls[i], fetched->at[0], false)) assert_true(i > is_back);
    }
    assert_true(layers_between(t, list, back, is_back) >= 1);
    assert_true(uses(&list->calls[is_back + 1], fetched->at[0], false) || list->calls[is_back + 1].move != STAYS);
}

/* All of the host's memory is some value's, and no byte of it two values'. */
static void expect_host(const cnn_trainer *t, const call_list *list)
{
    size_t end = 0;
    for (int i = 0; i < list->count; i++)
        for (int k = 0; k < i; k++) {
            const step_call *a = &list->calls[i], *b = &list->calls[k];
            if (a->move != MOVES_OUT || b->move != MOVES_OUT) continue;
            assert_true(a->host_at + a->copy_bytes <= b->host_at || b->host_at + b->copy_bytes <= a->host_at);
        }
    for (int i = 0; i < list->count; i++)
        if (list->calls[i].move == MOVES_OUT && list->calls[i].host_at + list->calls[i].copy_bytes > end)
            end = list->calls[i].host_at + list->calls[i].copy_bytes;
    assert_true(end <= t->loop->bytes.offload && t->loop->bytes.offload < end + STEP_ALIGN);
}

/* One after another, as they are needed. */
static void expect_order(const call_list *list)
{
    int needed = -1;
    for (int i = 0; i < list->count; i++) {
        if (list->calls[i].move != MOVES_BACK) continue;
        const int at = find_move(list, IS_BACK, list->calls[i].copy);
        assert_true(at > needed); /* waits stand in the order of copies, also those before one call */
        needed = at;
    }
}

static void test_places(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        cnn_network *n = build_net(texts[i / 2], CNN_F64, CNN_NHWC, MB);
        const trainer_params params = {.optimizer = {.kind = CNN_SGD}, .offload = true, .recompute = i % 2 == 1};
        cnn_session session;
        trainer *t = NULL;
        open_mock(&session, false);
        OK(trainer_open(&session, n, NULL, &params, &t, err));
        const call_list *list = &t->own->batches[0][0].calls[TRAIN];
        expect_apart(t->own);
        assert_true(t->own->n_copies > 0 || params.recompute);
        for (int copy = 0; copy < t->own->n_copies; copy += 2) expect_way(t->own, list, copy);
        expect_host(t->own, list);
        expect_order(list);
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

/* ---- Who cannot ---- */

static void expect_refused(const cnn_session *session, const char *who, const char *why)
{
    const trainer_params params = {.optimizer = {.kind = CNN_SGD}, .offload = true};
    cnn_network *n = build_net(chain, CNN_F32, CNN_NCHW, MB);
    cnn_error refused;
    trainer *t = NULL;
    assert_int_equal(trainer_open(session, n, NULL, &params, &t, &refused), CNN_UNSUPPORTED);
    assert_null(t);
    assert_message(refused, who);
    assert_message(refused, why);
    assert_message(refused, "--recompute");
    cnn_net_free(n);
}

static void test_refused(void **state)
{
    cnn_impl without = *cnn_impl_mock();
    cnn_session session;
    const cnn_session_params params = {.threads = 1};
    (void)state;
    if (open_session(&session, 1)) {
        expect_refused(&session, "implementation cpu", "computes in host memory");
        cnn_session_close(&session);
    }
    without.offloads = NULL;
    OK(cnn_session_open(&without, &params, &session, err));
    expect_refused(&session, "implementation mock", "offloads");
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
