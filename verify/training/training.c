/* training.c: which steps of an epoch are compared, and what becomes of it. */
#include "composed.h"
#include "harness/base/clock.h"
#include "training_step.h"
#include "verify/engine.h"

#include "harness/base/rng.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Steps of a training pass: as many as cost no more than so many operations, but two at least (one, where it alone
 * costs ten times that); half as many of a test. On a device, what lies between two looks: up to so many launches. */
enum { LEAST = 2, MOST = 8, LAUNCHES = 4 };
/* A trainer of the implementation's own sees that its state is read. So up to 2^LONGEST steps lie between two looks
 * that are compared with the composition's, and as many looks again judge nothing. */
enum { LONGEST = 5 };
static const double operations = 1e9;
/* Steps that are run again need not give the same bits where sums have no fixed order: this much of the way that
 * parameters went, and of the loss. */
static const double again_share = 0.01;
/* Where that is not enough, they are run RUNS times more: so many times what lies between these is allowed, too, up to
 * a share of the way. Few runs may lie close by chance, so before somebody is accused MORE_RUNS follow. If that would
 * be more, the steps are too many to be compared: nothing is said of where they end, and looks from then on are at half
 * as many: at fewer launches, and where these are of several steps, every other look at launches of single ones. */
enum { RUNS = 3, MORE_RUNS = 9 };
static const double spread_times = 3.0, strayed_most = 0.25;

struct verify_training {
    vf_training own;
    trainer *trainer;
    const cnn_session *session;
    trainer_samples samples;
    trainer_state states[3]; /* of steps that are run again */
    trainer_state unjudged;  /* what looks that judge nothing see */
    composed *composed;      /* NULL: single operations are what is judged */
    int64_t epoch;
    uint64_t seed;
    int n_train;
    double longest;    /* of a look at a trainer of the implementation's own, as LONGEST is */
    int launches_most; /* of a look at any other */
    int singles_most;  /* launches of single steps, of every other look; 0: none are made for it */
    bool alone;        /* of the sample that is judged now, single steps were compared, but not where all of them end */
};

static int64_t steps_of(const verify_training *v, bool test)
{
    const int64_t count = test ? v->own.data->test.count : v->own.data->train.count, batch = v->own.network->net.batch;
    return (count + batch - 1) / batch;
}

static int count_samples(const cnn_net *net)
{
    double cost = 1.0;
    for (int l = 0; l < net->n_layers; l++) cost += 3.0 * cnn_flops(&net->layers[l].problem, CNN_FWD);
    const double most = operations / cost;
    return most < 0.1 ? 1 : most < LEAST ? LEAST : most > MOST ? MOST : (int)most;
}

/* Behind the n_train samples and half as many of the test. */
static bool is_idle(const verify_training *v, int i) { return i >= v->n_train + (v->n_train + 1) / 2; }

static cnn_status make_states(verify_training *v, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < 3 && status == CNN_OK; i++) status = trainer_state_make(v->trainer, &v->states[i], err);
    if (status == CNN_OK) status = trainer_state_make(v->trainer, &v->unjudged, err);
    for (int i = 0; i < v->samples.count && status == CNN_OK; i++) {
        if (is_idle(v, i)) {
            v->samples.list[i].before = v->samples.list[i].after = v->unjudged;
            continue;
        }
        status = trainer_state_make(v->trainer, &v->samples.list[i].before, err);
        if (status == CNN_OK) status = trainer_state_make(v->trainer, &v->samples.list[i].after, err);
    }
    return status;
}

cnn_status verify_training_open(trainer *t, const cnn_session *session, const cnn_network *network, const dataset *data,
                                const trainer_params *params, verify_training **out, cnn_error *err)
{
    const size_t elems = (size_t)network->net.param_elems + 1;
    verify_training *v = calloc(1, sizeof *v);
    *out = NULL;
    if (v == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to check steps");
    v->own = (vf_training){.network = network,
                           .data = data,
                           .params = params,
                           .order = malloc((size_t)data->train.count * sizeof *v->own.order),
                           .shifts = params->shift > 0 ? malloc((size_t)data->train.count * sizeof(cnn_shift)) : NULL,
                           .weights = malloc(5 * elems * sizeof(double))};
    v->trainer = t;
    v->session = session;
    v->n_train = count_samples(&network->net);
    v->launches_most = LAUNCHES;
    v->longest = LONGEST;
    v->samples.list = calloc(3 * MOST, sizeof *v->samples.list);
    v->samples.trained = malloc(elems * cnn_param_size(&network->net));
    const bool made = v->own.order != NULL && v->own.weights != NULL && v->samples.list != NULL &&
                      v->samples.trained != NULL && (params->shift == 0 || v->own.shifts != NULL);
    cnn_status status = made ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to check steps");
    if (made) {
        const bool own = trainer_row(session, params->algorithm) != NULL;
        v->samples.count = v->n_train + (v->n_train + 1) / 2 + (own ? v->n_train : 0);
        v->own.grads = v->own.weights + elems, v->own.running = v->own.grads + elems;
        v->own.tilted = v->own.running + elems, v->own.merged = v->own.tilted + elems;
    }
    if (status == CNN_OK) status = make_states(v, err);
    if (status == CNN_OK) status = thread_pool_open(cpu_count(), &v->own.pool, err);
    if (status == CNN_OK) status = composed_open(&v->own, session, &v->composed, err);
    if (status == CNN_OK)
        *out = v;
    else
        verify_training_close(v);
    return status;
}

void verify_training_close(verify_training *v)
{
    if (v == NULL) return;
    thread_pool_close(v->own.pool);
    for (int i = 0; i < 3; i++) trainer_state_free(&v->states[i]);
    composed_close(v->composed);
    trainer_state_free(&v->unjudged);
    for (int i = 0; i < v->samples.count; i++) {
        if (is_idle(v, i)) continue;
        trainer_state_free(&v->samples.list[i].before);
        trainer_state_free(&v->samples.list[i].after);
    }
    free(v->samples.list);
    free(v->samples.trained);
    free(v->own.order);
    free(v->own.shifts);
    free(v->own.weights);
    free(v);
}

/* 48 bits: a record's numbers keep them. */
uint64_t verify_training_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) seed = (uint64_t)(cnn_now() * 1e9);
    return (seed >> 16) | 1u;
}

/* Of the steps from `least` on, as many parts as there are samples of the kind: one of each. So no two are the same
 * step where there are enough, and who is honest in one kind of step alone cannot be lucky with all of them. */
static int64_t draw_step(const verify_training *v, int i, int64_t least, int64_t steps, cnn_rng *rng)
{
    const bool test = i >= v->n_train && !is_idle(v, i);
    if (is_idle(v, i)) return rng_int(rng, least, steps - 1);
    const int64_t samples = test ? (v->n_train + 1) / 2 : v->n_train, k = test ? i - v->n_train : i;
    const int64_t from = (steps - least) * k / samples, to = (steps - least) * (k + 1) / samples;
    return least + (to > from ? rng_int(rng, from, to - 1) : rng_int(rng, 0, steps - least - 1));
}

trainer_samples *verify_training_draw(verify_training *v, int64_t epoch, uint64_t seed)
{
    v->epoch = epoch;
    v->seed = seed != 0 ? seed : verify_training_seed();
    cnn_rng rng = rng_stream(v->seed, (uint64_t)epoch);
    /* Memory of the host is read unseen; a device's is downloaded, and then the next step may be another. */
    const int most = v->session->impl->memory == NULL || v->own.params->profile ? 1 : v->launches_most;
    for (int i = 0; i < v->samples.count; i++) {
        trainer_sample *s = &v->samples.list[i];
        s->idle = is_idle(v, i);
        s->test = i >= v->n_train && !s->idle;
        /* In the very first step biases are 0, and all that is 0 lies on a kink. */
        const int64_t steps = steps_of(v, s->test), least = epoch == 0 && !s->test && steps > 1 ? 1 : 0;
        s->wanted = draw_step(v, i, least, steps, &rng);
        const int64_t whole =
            v->own.data->train.count / v->own.network->net.batch; /* single operations make no others */
        s->launches = v->composed != NULL && !v->own.params->profile ? 1 + (int)exp2(rng_real(&rng, 0, v->longest))
                                                                     : (int)rng_int(&rng, 1, most);
        if (v->composed != NULL && !s->test && s->wanted < whole && s->launches > whole - s->wanted)
            s->launches = (int)(whole - s->wanted);
        s->single = v->singles_most > 0 && !s->test && !s->idle && rng_int(&rng, 0, 1) == 1;
        if (s->single) s->launches = (int)rng_int(&rng, 1, v->singles_most);
        s->steps = 0;
        s->left = 0;
    }
    return &v->samples;
}

/* ---- Steps that are run again. */

/* How far apart several runs of the same steps end. Where sums have no fixed order, each rounding differs, and a deep
 * network makes much of it. */
typedef struct apart {
    double params, loss, correct;
} apart;

/* What may differ, of `whole`, where runs of the same steps lie so far apart; infinite where that is too far. */
static double allowed_again(verify_training *v, double whole, double runs_apart)
{
    const double by_runs = spread_times * runs_apart;
    if (!(by_runs > strayed_most * whole)) return fmax(again_share * whole, by_runs); /* also where it is no number */
    v->alone = true;
    return INFINITY;
}

/* Where steps led that were run again, and where they had led in the epoch. */
static void judge_again(verify_training *v, const trainer_sample *s, const trainer_state *end, const apart *runs,
                        verify_training_result *r)
{
    const cnn_net *net = &v->own.network->net;
    const int64_t n = net->param_elems;
    double *before = v->own.weights, *after = v->own.grads, *again = v->own.running;
    const double loss = s->after.loss_sum - s->before.loss_sum;
    const double images = (double)(s->steps * net->batch);
    char what[VERIFY_TEXT_MAX];
    vf_net_doubles(net, s->before.own.params, n, before);
    vf_net_doubles(net, s->after.own.params, n, after);
    vf_net_doubles(net, end->own.params, n, again);
    snprintf(what, sizeof what, "%s steps %lld to %lld, run again: ", s->test ? "test" : "training",
             (long long)s->first, (long long)(s->first + s->steps - 1));
    const size_t length = strlen(what);
    const double way = vf_distance(after, before, n);
    snprintf(what + length, sizeof what - length, "the parameters");
    vf_training_hold(r, vf_distance(after, again, n), allowed_again(v, way, runs->params), what);
    snprintf(what + length, sizeof what - length, "the loss");
    vf_training_hold(r, fabs(s->after.loss_sum - end->loss_sum), allowed_again(v, images + fabs(loss), runs->loss),
                     what);
    snprintf(what + length, sizeof what - length, "the right answers");
    vf_training_hold(r, fabs((double)(s->after.correct - end->correct)), 1.0 + allowed_again(v, images, runs->correct),
                     what);
    snprintf(what + length, sizeof what - length, "the number of updates");
    vf_training_hold(r, fabs((double)(s->after.own.step - end->own.step)), 0.0, what);
}

/* How far `count` runs of the same steps, made now, lie from the one before them. In each a step is held to the
 * reference, so that who is asked again cannot answer anything. */
static cnn_status measure_apart(verify_training *v, const trainer_sample *s, int count, cnn_rng *rng, apart *runs,
                                verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->own.network->net;
    const double loss = v->states[2].loss_sum;
    const int64_t correct = v->states[2].correct;
    double *first = malloc(((size_t)net->param_elems + 1) * sizeof *first), *next = v->own.running;
    cnn_status status = first != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to repeat steps");
    if (first != NULL) vf_net_doubles(net, v->states[2].own.params, net->param_elems, first);
    for (int i = 0; i < count && status == CNN_OK && !r->failed; i++) {
        const int64_t at = rng_int(rng, 0, s->steps - 1);
        status = trainer_repeat(v->trainer, v->epoch, s, at, &v->states[0], &v->states[1], &v->states[2], err);
        if (status != CNN_OK) break;
        vf_net_doubles(net, v->states[2].own.params, net->param_elems, next);
        const double off = vf_distance(next, first, net->param_elems), by = fabs(v->states[2].loss_sum - loss);
        if (isfinite(off)) runs->params = fmax(runs->params, off);
        if (isfinite(by)) runs->loss = fmax(runs->loss, by);
        runs->correct = fmax(runs->correct, fabs((double)(v->states[2].correct - correct)));
        if (v->epoch > 0 || s->first + at > 0) /* in the very first step all biases lie on a kink */
            status = vf_training_step(&v->own, s->test, s->first + at, &v->states[0], &v->states[1], r, err);
    }
    free(first);
    return status;
}

static void look_shorter(verify_training *v, const trainer_sample *s)
{
    if (v->composed != NULL)
        v->longest = fmax(0.0, v->longest - 1.0);
    else if (s->single || s->launches == 1)
        v->singles_most = (int)(s->steps / 2);
    else if (s->launches / 2 < v->launches_most)
        v->launches_most = s->launches / 2;
}

static cnn_status judge_repeated(verify_training *v, const trainer_sample *s, cnn_rng *rng, verify_training_result *r,
                                 cnn_error *err)
{
    const verify_training_result before = *r;
    apart runs = {.params = 0.0};
    judge_again(v, s, &v->states[2], &runs, r);
    /* ranks would have to agree that they run them again */
    if (before.failed || !r->failed || v->own.params->ranks != NULL) return CNN_OK;
    cnn_status status = CNN_OK;
    for (int round = 0; round < 2 && r->failed && status == CNN_OK; round++) {
        *r = before;
        status = measure_apart(v, s, round == 0 ? RUNS : MORE_RUNS, rng, &runs, r, err);
        if (status != CNN_OK || r->failed) return status; /* a step of them is wrong */
        judge_again(v, s, &v->states[2], &runs, r);
    }
    return status;
}

/* Step `at` of a sample, by the trainer itself. Where single operations have come to the sample's end already, it makes
 * this one step, from where they were; else all of them, and must come to that end itself. Either way it is asked when
 * all is over, and cannot tell what for. */
static cnn_status judge_step(verify_training *v, const trainer_sample *s, const composed_look *look, cnn_rng *rng,
                             verify_training_result *r, cnn_error *err)
{
    const trainer_state *one = &s->before, *next = &s->after;
    const int64_t at = look->at;
    const bool alone = look->close && s->steps > 1;
    if (alone) {
        const trainer_sample step = {.first = s->first + at, .steps = 1, .before = *look->state};
        const cnn_status status =
            trainer_repeat(v->trainer, v->epoch, &step, 0, &v->states[0], &v->states[1], &v->states[2], err);
        if (status != CNN_OK) return status;
        one = &v->states[0];
        next = &v->states[1];
    } else if (s->steps > 1) {
        const cnn_status status =
            trainer_repeat(v->trainer, v->epoch, s, at, &v->states[0], &v->states[1], &v->states[2], err);
        if (status != CNN_OK) return status;
        one = &v->states[0];
        next = &v->states[1];
    }
    cnn_status status = CNN_OK; /* other ranks have made the steps with rank 0, which judges */
    if (rank_number(trainer_ranks(v->trainer)) == 0)
        status = vf_training_step(&v->own, s->test, s->first + at, one, next, r, err);
    return status == CNN_OK && s->steps > 1 && !alone ? judge_repeated(v, s, rng, r, err) : status;
}

/* The step is judged behind the composition, and told before it: the plainer mistake of the two. */
static cnn_status judge_sample(verify_training *v, const trainer_sample *s, int64_t at, cnn_rng *rng,
                               verify_training_result *r, cnn_error *err)
{
    composed_look look = {.at = at};
    verify_training_result single = {.budget_used = 0.0};
    cnn_status status = CNN_OK;
    if (v->composed != NULL) status = composed_judge(v->composed, &v->own, s, v->seed, &look, &single, err);
    v->alone = look.chance;
    if (status == CNN_OK) status = judge_step(v, s, &look, rng, r, err);
    if (v->alone && v->own.params->ranks == NULL) look_shorter(v, s); /* ranks would have to agree */
    if (!(single.budget_used <= r->budget_used)) r->budget_used = single.budget_used;
    if (!single.failed || r->failed) return status;
    r->failed = true;
    snprintf(r->reason, sizeof r->reason, "%s", single.reason);
    return status;
}

/* Which of several steps is compared is drawn now, when all of them are over. */
cnn_status verify_training_judge(verify_training *v, bool (*interrupted)(void), verify_training_result *r,
                                 cnn_error *err)
{
    const cnn_net *net = &v->own.network->net;
    const size_t bytes = (size_t)net->param_elems * cnn_param_size(net);
    cnn_rng rng = rng_stream(~v->seed, (uint64_t)v->epoch);
    cnn_status status = CNN_OK;
    *r = (verify_training_result){.seed = v->seed};
    composed_forget(v->composed);
    trainer_order(v->own.params->seed, v->epoch, v->own.data->train.count, v->own.order);
    if (v->own.shifts != NULL)
        trainer_shifts(v->own.params->seed, v->epoch, v->own.data->train.count, v->own.params->shift, v->own.shifts);
    for (int i = 0; i < v->samples.count && status == CNN_OK && !r->failed; i++) {
        const trainer_sample *s = &v->samples.list[i];
        const bool zero = v->epoch == 0 && !s->test && s->first == 0 && s->steps > 1; /* the very first step */
        if (s->idle) continue;
        if (s->steps == 0) return CNN_FAIL(err, CNN_INTERNAL, "step %lld was not looked at", (long long)s->wanted);
        if (interrupted != NULL && interrupted()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        const int64_t at = rng_int(&rng, zero ? 1 : 0, s->steps - 1);
        status = judge_sample(v, s, at, &rng, r, err);
        cnn_append(r->steps, sizeof r->steps, "%s %lld%s",
                   i == 0            ? "train"
                   : i == v->n_train ? ", test"
                                     : "",
                   (long long)(s->first + at), v->alone ? " alone" : "");
        if (s->test && memcmp(s->before.own.params, v->samples.trained, bytes) != 0 && !r->failed) {
            r->failed = true;
            snprintf(r->reason, sizeof r->reason, "the test has other parameters than training left");
        }
        if (status == CNN_OK) status = ranks_broadcast(trainer_ranks(v->trainer), r, sizeof *r, err);
    }
    return status;
}
