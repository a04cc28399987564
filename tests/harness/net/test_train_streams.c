/* test_train_streams.c: operations on two streams: the same bits as on one, on the mock device, whose second stream is
 * as late as it may be, or as early; and the plan itself: no two calls that may run at once share memory that either
 * writes. */
#include "tests/mock/mock_device.h"
#include "train_memory_unit.h"

/* A block with a projection; one whose sum's gradient is both branches', which one of them adds to while the other's
 * weights may still need it; another projection, which a longer branch follows; three branches of two joins. */
static const char blocks[] =
    "input 2 12 12\nconv 4 kernel=3 pad=1\nbatch_norm\nrelu\nsave a\nconv 6 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\n"
    "conv 6 kernel=3 pad=1\nbatch_norm\nsave block\nfrom a\nconv 6 kernel=1 stride=2\nbatch_norm\nadd block\nrelu\n"
    "save g\nconv 6 kernel=3 pad=1\nrelu\nconv 6 kernel=3 pad=1\nadd g\nrelu\nsave b\nconv 4 kernel=1\nsave c\nfrom "
    "b\nconv 4 kernel=3 pad=1\nelu\nadd c\nsave d\nconv 3 kernel=1\nsave e\nfrom d\n"
    "max_pool kernel=3 stride=1 pad=1\nsave f\nfrom d\nconv 5 kernel=3 pad=1\nconcat e\nconcat f\nglobal_avg_pool\n"
    "fc 10\nsoftmax_cross_entropy\n";
static const char *const texts[] = {branches, chain, blocks};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void open_mock(cnn_session *session, bool early)
{
    const char *const settings[1] = {"mock.early_uploads=1"};
    const cnn_session_params params = {.threads = 1, .settings = settings, .n_settings = early};
    OK(cnn_session_open(cnn_impl_mock(), &params, session, err));
}

/* ---- The same bits ---- */

static void test_the_same_bits(void **state)
{
    (void)state;
    for (int i = 0; i < 8 * TEXTS; i++) {
        const bool early = i & 1, recompute = i & 2, offload = i & 4;
        const trainer_params one = {.recompute = recompute, .offload = offload};
        const trainer_params two = {.recompute = recompute, .offload = offload, .streams = 2};
        cnn_network *n = build_net(texts[i >> 3], CNN_F32, CNN_NCHW, MB);
        const size_t size = (size_t)n->net.param_elems * sizeof(float) * 2;
        cnn_session session;
        trainer_bytes alone, beside;
        open_mock(&session, early);
        void *plain = train_steps(&session, n, one, false, &alone);
        void *forked = train_steps(&session, n, two, false, &beside);
        if (memcmp(plain, forked, size) != 0)
            fail_msg("net %d:%s%s%s: other bits", i >> 3, early ? " early" : "", recompute ? " recompute" : "",
                     offload ? " offload" : "");
        print_message("net %d%s%s: %zu bytes of values, on two streams %zu\n", i >> 3, recompute ? ", recompute" : "",
                      offload ? ", offload" : "", alone.values, beside.values);
        assert_true(beside.values >= alone.values && beside.workspace >= alone.workspace);
        free(plain), free(forked);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

/* ---- The plan itself ---- */

/* Who is over when a call begins: of each, the latest call of the other stream, from the marks alone; -1: none. */
static void find_known(const call_list *list, int *known)
{
    int latest[STREAMS] = {-1, -1}, *marked = calloc((size_t)list->count + 1, sizeof *marked);
    assert_non_null(marked);
    for (int i = 0; i < list->count; i++) {
        const step_call *call = &list->calls[i];
        if (call->waits > 0) {
            assert_true(call->waits <= list->count && list->calls[marked[call->waits]].marks == call->waits);
            assert_true(list->calls[marked[call->waits]].stream != call->stream);
            if (marked[call->waits] > latest[call->stream]) latest[call->stream] = marked[call->waits];
        }
        known[i] = latest[call->stream];
        assert_true(call->stream == 0 || known[i] >= 0); /* forked off before its first call */
        if (call->marks > 0) marked[call->marks] = i;
    }
    if (list->joins > 0 && marked[list->joins] > latest[0]) latest[0] = marked[list->joins];
    for (int i = 0; i < list->count; i++) assert_true(list->calls[i].stream == 0 || i <= latest[0]); /* joined */
    free(marked);
}

static bool at_once(const call_list *list, const int *known, int before, int i)
{
    return list->calls[before].stream != list->calls[i].stream && known[i] < before;
}

typedef struct extent {
    size_t from, to;
    bool written;
} extent;

/* What a call touches, its workspace too. */
static int find_extents(const cnn_trainer *t, const step_call *call, extent *extents)
{
    int count = 0;
    for (int o = 0; o < call->n_operands; o++) {
        const size_t at = call->at[o];
        if (at == NOWHERE || at == LANE_IMAGES || at == LANE_LABELS) continue;
        const step_buffer *b = step_is_buffer(at) ? &t->buffers[at - BUFFER] : NULL;
        const size_t from = b != NULL ? b->at : at, bytes = b != NULL ? b->bytes : call->copy_bytes;
        extents[count++] = (extent){from, from + (bytes > 0 ? bytes : 1), call->written >> o & 1u};
    }
    const size_t workspace = call->plan >= 0 ? t->plans[call->plan].plan.workspace_bytes : 0,
                 at = t->workspace_at[call->stream];
    if (workspace > 0) extents[count++] = (extent){at, at + workspace, true};
    return count;
}

static bool clash(const cnn_trainer *t, const step_call *a, const step_call *b)
{
    extent of_a[CNN_MAX_OPERANDS + 1], of_b[CNN_MAX_OPERANDS + 1];
    const int in_a = find_extents(t, a, of_a), in_b = find_extents(t, b, of_b);
    for (int i = 0; i < in_a; i++)
        for (int k = 0; k < in_b; k++)
            if (of_a[i].from < of_b[k].to && of_b[k].from < of_a[i].to && (of_a[i].written || of_b[k].written))
                return true;
    return false;
}

/* How many pairs may run at once; none of them clashes. */
static int expect_apart_at_once(const cnn_trainer *t, const call_list *list)
{
    int pairs = 0, *known = calloc((size_t)list->count + 1, sizeof *known);
    assert_non_null(known);
    find_known(list, known);
    for (int i = 0; i < list->count; i++)
        for (int k = 0; k < i; k++) {
            if (!at_once(list, known, k, i)) continue;
            pairs++;
            if (clash(t, &list->calls[k], &list->calls[i]))
                fail_msg("calls %d (%s) and %d (%s) may run at once and share memory", k, list->calls[k].range, i,
                         list->calls[i].range);
        }
    free(known);
    return pairs;
}

static int find_call(const cnn_trainer *t, const call_list *list, int layer, cnn_dir dir)
{
    for (int i = 0; i < list->count; i++)
        if (list->calls[i].plan >= 0 && t->plans[list->calls[i].plan].layer == layer &&
            t->plans[list->calls[i].plan].plan.dir == dir && !list->calls[i].again)
            return i;
    return -1;
}

/* Each gradient of weights, but one at the end, is beside the gradient of the same layer's input. */
static void expect_weights_beside(const cnn_trainer *t, const call_list *list)
{
    int *known = calloc((size_t)list->count + 1, sizeof *known), waiting = 0, most = 0;
    assert_non_null(known);
    find_known(list, known);
    for (int l = 0; l < t->net->n_layers; l++) {
        const int w = find_call(t, list, l, CNN_BWD_W), d = find_call(t, list, l, CNN_BWD_D);
        if (w < 0 || t->net->layers[l].problem.op == CNN_OP_BATCHNORM) continue;
        assert_true((list->calls[w].stream == 1) == (w < list->count - 1));
        if (d >= 0 && list->calls[d].stream == 0) assert_true(at_once(list, known, w, d));
    }
    for (int i = 0; i < list->count; i++, waiting = 0) {
        if (list->calls[i].stream > 0) continue;
        for (int k = known[i] + 1; k < i; k++)
            waiting += list->calls[k].plan >= 0 && t->plans[list->calls[k].plan].plan.dir == CNN_BWD_W;
        if (waiting > most) most = waiting;
    }
    assert_true(most >= 1 && most <= 2);
    free(known);
}

static void test_places(void **state)
{
    (void)state;
    for (int i = 0; i < 4 * TEXTS; i++) {
        cnn_network *n = build_net(texts[i / 4], CNN_F32, CNN_NHWC, MB);
        const trainer_params params = {
            .optimizer = {.kind = CNN_SGD}, .streams = 2, .recompute = i & 1, .offload = i & 2};
        cnn_session session;
        trainer *t = NULL;
        open_mock(&session, false);
        OK(trainer_open(&session, n, NULL, &params, &t, err));
        const step_batch *batch = &t->own->batches[0][0];
        assert_true(expect_apart_at_once(t->own, &batch->calls[TRAIN]) > 0);
        if (!params.recompute) expect_weights_beside(t->own, &batch->calls[TRAIN]);
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

/* Which layers are on the second stream: of each join all chains but the longest; both ways. */
static void test_branches(void **state)
{
    static const char *const beside[] = {"conv4", "batch_norm4", "conv7", "conv9", "max_pool1"};
    cnn_network *n = build_net(blocks, CNN_F32, CNN_NCHW, MB);
    const trainer_params params = {.optimizer = {.kind = CNN_SGD}, .streams = 2};
    cnn_session session;
    trainer *t = NULL;
    int all = 0;
    (void)state;
    open_mock(&session, false);
    OK(trainer_open(&session, n, NULL, &params, &t, err));
    const call_list *list = &t->own->batches[0][0].calls[TRAIN];
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        int l = 0;
        while (l < n->net.n_layers && strcmp(n->net.layers[l].name, beside[i]) != 0) l++;
        assert_true(l < n->net.n_layers);
        const int fwd = find_call(t->own, list, l, CNN_FWD), bwd = find_call(t->own, list, l, CNN_BWD_D);
        if (fwd < 0 || bwd < 0 || list->calls[fwd].stream != 1 || list->calls[bwd].stream != 1)
            fail_msg("%s is not on the second stream", beside[i]);
    }
    const int on = trainer_beside(t, &all);
    print_message("%d of %d calls\n", on, all);
    assert_true(on > 0 && on < all);
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* ---- Who cannot ---- */

static void expect_refused(const cnn_session *session, trainer_params params, const char *who, const char *why)
{
    cnn_network *n = build_net(chain, CNN_F32, CNN_NCHW, MB);
    cnn_error refused;
    trainer *t = NULL;
    params.optimizer.kind = CNN_SGD;
    assert_true(trainer_open(session, n, NULL, &params, &t, &refused) != CNN_OK);
    assert_null(t);
    assert_message(refused, who);
    assert_message(refused, why);
    cnn_net_free(n);
}

static void test_refused(void **state)
{
    const trainer_params two = {.streams = 2}, three = {.streams = 3}, profile = {.streams = 2, .profile = true};
    cnn_impl without = *cnn_impl_mock();
    cnn_session session;
    const cnn_session_params params = {.threads = 1};
    (void)state;
    if (open_session(&session, 1)) {
        expect_refused(&session, two, "implementation cpu", "GPU");
        cnn_session_close(&session);
    }
    open_mock(&session, false);
    expect_refused(&session, three, "3 streams", "2 at most");
    expect_refused(&session, profile, "--profile", "--streams");
    cnn_session_close(&session);
    without.streams = NULL;
    OK(cnn_session_open(&without, &params, &session, err));
    expect_refused(&session, two, "implementation mock", "second stream");
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_branches), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
