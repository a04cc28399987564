/* Which of several candidates is fastest: measured in turns, by replays where they can be recorded. */
#include "cuda_device.h"
#include "harness/cuda/rank.h"

#include <future>
#include <string>
#include <thread>

/* How a candidate of these tests fails. */
enum fault { NONE, ALWAYS, NEVER_RECORDED, STICKY, LATER };

struct work {
    device *d;
    char name;
    int64_t rounds; /* what a run costs */
    fault how;
    const cuda_candidate *candidate;
    float *memory;      /* counts the runs on the device */
    int calls;          /* and on the host */
    std::string *turns; /* who was called, in order */
};

static __global__ void spin(float *count, int64_t rounds)
{
    float x = 1;
    for (int64_t i = 0; i < rounds; i++) x = x * 0.5f + 0.25f;
    *count += x < 2 ? 1 : 0;
}

static cnn_status run(void *user, cnn_error *err)
{
    work *w = static_cast<work *>(user);
    w->calls++;
    w->turns->push_back(w->name);
    if (w->how == ALWAYS) return CNN_FAIL(err, CNN_UNSUPPORTED, "%c refuses", w->name);
    if (w->how == LATER && w->candidate->n_samples > 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%c refuses later", w->name);
    if (w->how == STICKY) return CUDA_CHECK(w->d->c, cudaErrorIllegalAddress, err);
    if (w->how == NEVER_RECORDED || w->how == LATER) {
        const cnn_status status = cuda_sync(base(*w->d), err); /* what no capture allows */
        if (status != CNN_OK) return status;
    }
    return cuda_launch(w->d->c, {"spin", 1, 1, 0}, err, spin, w->memory, w->rounds);
}

enum { MOST = 4 };
struct ranking {
    device d;
    work works[MOST];
    cuda_candidate candidates[MOST];
    std::string turns;
    int count;
};

static void enter(ranking *c, int64_t rounds, fault how)
{
    const int i = c->count++;
    c->works[i] = {
        &c->d,    static_cast<char>('A' + i), rounds, how, &c->candidates[i], put(&c->d, std::vector<float>(1)), 0,
        &c->turns};
    c->candidates[i] = {};
    c->candidates[i].run = run;
    c->candidates[i].user = &c->works[i];
}

static int runs_of(const ranking &c, int i) { return static_cast<int>(get(c.d, c.works[i].memory, 1)[0]); }

static int best_of(ranking *c, int rounds, double budget)
{
    cnn_error err;
    int best = -1;
    const cuda_rank_rules rules = {rounds, budget};
    if (cuda_rank(base(c->d), c->candidates, c->count, &rules, &best, &err) != CNN_OK) fail_msg("%s", err.message);
    return best;
}

/* On a device the loops take about 5 ns a round, emulated about 1. A sample of short runs that other work interrupts
 * for some milliseconds is still not half as long as a long run. */
enum { SHORT = 20000, MIDDLE = 160 * SHORT, LONG = 400 * SHORT };

static void the_fastest_replay_wins(void **)
{
    ranking c = {};
    open_device(&c.d, 0, 0);
    enter(&c, LONG, NONE);
    enter(&c, SHORT, NONE);
    enter(&c, LONG, NONE);
    const int best = best_of(&c, 3, 60);
    assert_int_equal(best, 1);
    for (int i = 0; i < c.count; i++) {
        assert_false(c.candidates[i].as_launched);
        assert_true(c.candidates[i].seconds > 0 && c.candidates[i].seconds < 10);
        assert_true(runs_of(c, i) >
                    c.works[i].calls - c.candidates[i].runs); /* the recording's runs ran when replayed */
    }
    assert_true(c.candidates[0].seconds > 4 * c.candidates[1].seconds);
    assert_int_equal(c.candidates[1].n_samples, 3);
    assert_int_equal(c.candidates[0].n_samples, 1); /* far behind after the first round */
    close_device(&c.d);
}

/* A length is estimated from one sample. Where other work interrupts that, the run counts as a long one, and is ranked
 * anew here. */
static void short_runs_are_repeated(void **)
{
    enum { TRIES = 40 };
    bool repeated = false;
    for (int i = 0; i < TRIES && !repeated; i++) {
        ranking c = {};
        open_device(&c.d, 0, 0);
        enter(&c, 1, NONE);
        (void)best_of(&c, 1, 60);
        repeated = c.candidates[0].ahead && c.candidates[0].runs * c.candidates[0].repeats >= 10;
        /* One run, one more to estimate its length, two first replays, then one replay ahead and `repeats` that count.
         */
        if (repeated) assert_int_equal(runs_of(c, 0), 1 + 1 + c.candidates[0].runs * (2 + 1 + c.candidates[0].repeats));
        close_device(&c.d);
    }
    assert_true(repeated);
}

/* Launched, each sample shows in the order of calls: after the warm-ups A and B take turns. */
static void what_cannot_be_recorded_is_launched_in_turns(void **)
{
    ranking c = {};
    int swaps = 0;
    open_device(&c.d, 0, 0);
    enter(&c, MIDDLE, NEVER_RECORDED);
    enter(&c, MIDDLE, NEVER_RECORDED);
    (void)best_of(&c, 4, 60);
    for (size_t i = 1; i < c.turns.size(); i++) swaps += c.turns[i] != c.turns[i - 1];
    assert_true(c.candidates[0].as_launched && c.candidates[1].as_launched);
    /* Where one fell far behind, by other work on this machine, it left after the first round. */
    if (c.candidates[0].n_samples == 4 && c.candidates[1].n_samples == 4) assert_int_equal(swaps, 1 + 2 * 4);
    close_device(&c.d);
}

static void what_can_be_recorded_comes_first(void **)
{
    ranking c = {};
    open_device(&c.d, 0, 0);
    enter(&c, SHORT, NEVER_RECORDED);
    enter(&c, LONG, NONE);
    const int best = best_of(&c, 2, 60);
    assert_true(c.candidates[0].as_launched && c.candidates[0].seconds < c.candidates[1].seconds);
    assert_int_equal(best, 1);
    close_device(&c.d);
}

static void one_that_fails_is_passed_over(void **)
{
    ranking c = {};
    cnn_error err;
    int best = -1;
    const cuda_rank_rules rules = {3, 60};
    open_device(&c.d, 0, 0);
    enter(&c, SHORT, ALWAYS);
    enter(&c, SHORT, LATER);
    enter(&c, LONG, NONE);
    if (cuda_rank(base(c.d), c.candidates, c.count, &rules, &best, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(best, 2);
    assert_true(isinf(c.candidates[0].seconds) && isinf(c.candidates[1].seconds));
    assert_int_equal(c.works[0].calls, 1);
    assert_int_equal(cuda_rank(base(c.d), c.candidates, 1, &rules, &best, &err), CNN_UNSUPPORTED);
    assert_message(err, "A refuses");
    assert_int_equal(best, -1);
    close_device(&c.d);
}

static void a_dead_device_ends_it(void **)
{
    ranking c = {};
    cnn_error err;
    int best = -1;
    const cuda_rank_rules rules = {1, 60};
    open_device(&c.d, 0, 0);
    enter(&c, 1, NONE);
    enter(&c, 1, STICKY);
    enter(&c, 1, NONE);
    assert_int_equal(cuda_rank(base(c.d), c.candidates, c.count, &rules, &best, &err), CNN_DEVICE);
    assert_message(err, "cudaErrorIllegalAddress");
    assert_message(err, "spin");
    assert_int_equal(c.works[2].calls, 0);
    close_device(&c.d);
}

static void the_budget_ends_it_after_the_first(void **)
{
    ranking c = {};
    open_device(&c.d, 0, 0);
    enter(&c, LONG, NONE);
    enter(&c, SHORT, NONE);
    const int best = best_of(&c, CUDA_RANK_ROUNDS_MAX, 0);
    assert_int_equal(best, 0);
    assert_int_equal(c.candidates[0].n_samples, 1);
    assert_true(isinf(c.candidates[1].seconds));
    assert_int_equal(c.works[1].calls, 0);
    close_device(&c.d);
}

static void a_capture_under_way_is_left_whole(void **)
{
    ranking c = {};
    cnn_error err;
    int best = -1;
    cnn_graph *graph = NULL;
    const cuda_rank_rules rules = {1, 60};
    open_device(&c.d, 0, 0);
    enter(&c, 1, NONE);
    assert_int_equal(cuda_capture.begin(base(c.d), &err), CNN_OK);
    assert_int_equal(cuda_rank(base(c.d), c.candidates, c.count, &rules, &best, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "while a step is recorded");
    assert_int_equal(c.works[0].calls, 0);
    assert_int_equal(run(&c.works[0], &err), CNN_OK);
    if (cuda_capture.end(base(c.d), &graph, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(cuda_capture.run(base(c.d), graph, &err), CNN_OK);
    assert_int_equal(runs_of(c, 0), 1);
    cuda_capture.free(base(c.d), graph);
    close_device(&c.d);
}

/* A whole capture by another thread around the ranking: neither disturbs the other. */
static void another_threads_capture_is_no_hindrance(void **)
{
    ranking c = {}, other = {};
    cnn_error err, theirs;
    int best = -1;
    const cuda_rank_rules rules = {1, 60};
    std::promise<void> begun, ranked;
    cnn_graph *graph = NULL;
    cnn_status status = CNN_OK, recorded = CNN_OK;
    open_device(&c.d, 0, 0);
    open_device(&other.d, 0, 0);
    enter(&c, 1, NONE);
    enter(&other, 1, NONE);
    std::thread recorder([&] {
        recorded = cuda_capture.begin(base(other.d), &theirs);
        begun.set_value();
        ranked.get_future().wait();
        if (recorded == CNN_OK) recorded = run(&other.works[0], &theirs);
        if (recorded == CNN_OK) recorded = cuda_capture.end(base(other.d), &graph, &theirs);
    });
    begun.get_future().wait();
    status = cuda_rank(base(c.d), c.candidates, c.count, &rules, &best, &err);
    ranked.set_value();
    recorder.join();
    if (status != CNN_OK) fail_msg("%s", err.message);
    if (recorded != CNN_OK) fail_msg("%s", theirs.message);
    assert_false(c.candidates[0].as_launched);
    assert_int_equal(cuda_capture.run(base(other.d), graph, &err), CNN_OK);
    assert_int_equal(runs_of(other, 0), 1);
    cuda_capture.free(base(other.d), graph);
    close_device(&c.d);
    close_device(&other.d);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_replay_wins),
        cmocka_unit_test(short_runs_are_repeated),
        cmocka_unit_test(what_cannot_be_recorded_is_launched_in_turns),
        cmocka_unit_test(what_can_be_recorded_comes_first),
        cmocka_unit_test(one_that_fails_is_passed_over),
        cmocka_unit_test(a_dead_device_ends_it),
        cmocka_unit_test(the_budget_ends_it_after_the_first),
        cmocka_unit_test(a_capture_under_way_is_left_whole),
        cmocka_unit_test(another_threads_capture_is_no_hindrance),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
