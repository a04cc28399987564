/* network_steps.c: an implementation's trainer beside the composition of the same implementation's operations: from the
 * same parameters, over the same images in the same order, and with the same tests behind.
 *
 * Where it has no operations for that, the composition is impl_cpu's. Two epochs of STEPS batches each, the last one
 * smaller, with every optimizer that the trainer takes. What must agree:
 * - some steps of each epoch, with the float64 reference (training.h);
 * - the number of steps: exactly;
 * - where each tensor of parameters ends: within a share of the way that it went, in the 2-norm;
 * - the losses of both epochs: within the same share of 1 + the loss;
 * - a test from the same parameters: its loss within a small share, its right answers exactly.
 *
 * The share: rounding is 1e-6 of a step in f32, but steps amplify it, and where a ReLU or a maximum changes sides a
 * gradient moves by up to a hundredth. A label in the wrong place, a batch left out, a step too many move it by more:
 * one of 23 images, of 12 steps.
 *
 * Now and then a value lies so close to a kink that rounding alone decides its side, and what follows is far more than
 * the share. So where something differs, the composition itself starts again NUDGES times, from parameters that are
 * moved by up to 2^-20 or 2^-18 of themselves, by turns (f64: 2^-49, 2^-47): what rounding can do to a value, they do
 * in a third to a half of these starts. Twice the farthest that one leads is allowed, too, up to a quarter of the way;
 * without a kink that is 10^-4 of it. A start that leads to no finite numbers allows nothing.
 *
 * A step too long for a network leaves numbers that no type holds: what is compared then is nothing. Where single
 * operations end so, both train at a lower rate, a sixteenth at a time. But where those of impl_cpu end near where they
 * began, the implementation's are broken, and that is the fault.
 *
 * Where something differs even so, and nudges lead farther than half of the share, rounding may have decided it. Then
 * both begin again, and make half as many steps, until that is told apart. With one step an epoch the last word is
 * said: what differs is a fault, but where the nudges' part would be more than a quarter, which says nothing. */
#include "network_pass.h"
#include "training.h"
#include "verify/engine.h"

#include "harness/base/rng.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 6, EPOCHS = 2, NUDGES = 16, RATES = 12 };
static const double way_share[CNN_DTYPE_COUNT] = {[CNN_F32] = 1e-2, [CNN_F64] = 1e-8};
static const double nudge[CNN_DTYPE_COUNT] = {[CNN_F32] = 0x1p-20, [CNN_F64] = 0x1p-49};
static const double strayed_times = 2.0;
static const double strayed_most = 0.25; /* of the way, or of 1 + the loss */
static const double test_share[CNN_DTYPE_COUNT] = {[CNN_F32] = 1e-5, [CNN_F64] = 1e-12};

typedef struct steps {
    const cnn_session *session;
    const cnn_session *composed; /* whose single operations it is compared with */
    const cnn_network *network;
    const verify_options *options;
    trainer_params params;
    dataset data;
    void *start;         /* the parameters that both begin with */
    double *strayed;     /* by tensor: how far nudges led the composition; all 0 until something differs */
    double strayed_loss; /* likewise, as a share of 1 + the loss */
    int batches;         /* of an epoch */
    bool too_many;       /* something differs, and may be chance */
    int fewest;          /* batches that were compared, over all optimizers; 0: where those of one end was never told */
    bool beyond;         /* single operations end in no numbers at any rate */
    int slower, left;    /* optimizers that trained at a lower rate, and those that could at none */
    verify_result *result;
} steps;

/* What a run came to. */
typedef struct outcome {
    trainer *t;
    trainer_state end;
    double *params, *grads; /* as doubles, one behind the other */
    trainer_result epochs[EPOCHS], test;
} outcome;

/* ---- Data ---- */

static bool draw_part(dataset_part *part, int64_t count, int64_t pixels, int64_t classes, cnn_rng *rng)
{
    part->count = count;
    part->images = malloc((size_t)(count * pixels));
    part->labels = malloc((size_t)count * sizeof *part->labels);
    if (part->images == NULL || part->labels == NULL) return false;
    for (int64_t i = 0; i < count * pixels; i++) part->images[i] = (uint8_t)rng_int(rng, 0, 255);
    for (int64_t i = 0; i < count; i++) part->labels[i] = (int32_t)rng_int(rng, 0, classes - 1);
    return true;
}

/* The last batch is smaller, where there are several. */
static int64_t images_of(const cnn_net *net, int64_t batches)
{
    return batches * net->batch - (batches > 1 && net->batch > 1);
}

static cnn_status draw_data(steps *s, cnn_error *err)
{
    const cnn_net *net = &s->network->net;
    const cnn_value *x = &net->values[0];
    const int64_t batch = net->batch, pixels = x->c * x->h * x->w;
    cnn_rng rng = rng_stream(s->options->seed, 79);
    s->data = (dataset){.name = "drawn", .c = x->c, .h = x->h, .w = x->w, .classes = net->classes, .mean = 0.5};
    const bool made = draw_part(&s->data.train, images_of(net, STEPS), pixels, net->classes, &rng) &&
                      draw_part(&s->data.test, 2 * batch + 1, pixels, net->classes, &rng);
    s->start = malloc((size_t)(net->param_elems + 1) * cnn_param_size(net));
    s->strayed = calloc((size_t)net->n_params + 1, sizeof *s->strayed);
    if (!made || s->start == NULL || s->strayed == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for images to train on");
    cnn_net_init_params(s->network, s->start);
    return CNN_OK;
}

/* ---- A run ---- */

static void close_outcome(outcome *o)
{
    trainer_close(o->t);
    trainer_state_free(&o->end);
    free(o->params);
}

static cnn_status run_epochs(const steps *s, const trainer_params *params, bool checked, outcome *o, cnn_error *err)
{
    verify_training *check = NULL;
    trainer_watch watch = {.samples = NULL};
    verify_training_result judged = {.failed = false};
    cnn_status status = CNN_OK;
    if (checked) status = verify_training_open(o->t, s->session, s->network, &s->data, params, &check, err);
    for (int64_t e = 0; e < EPOCHS && status == CNN_OK && !judged.failed; e++) {
        if (checked) watch.samples = verify_training_draw(check, e, s->options->seed + 1);
        status = trainer_epoch(o->t, e, &watch, &o->epochs[e], err);
        if (status == CNN_OK && checked) status = verify_training_judge(check, s->options->interrupted, &judged, err);
    }
    if (judged.failed) vf_set(s->result, VERIFY_FAILED, "%s", judged.reason);
    verify_training_close(check);
    return status;
}

/* algorithm NULL: the composition, of the defaults. start NULL: s->start. */
static cnn_status run(const steps *s, const char *algorithm, const void *start, outcome *o, cnn_error *err)
{
    trainer_params params = s->params;
    params.algorithm = algorithm;
    const cnn_session *on = algorithm != NULL ? s->session : s->composed;
    cnn_status status = trainer_open(on, s->network, &s->data, &params, &o->t, err);
    if (status == CNN_OK) status = trainer_start(o->t, err);
    if (status == CNN_OK && start != NULL) status = trainer_set_params(o->t, start, err);
    if (status == CNN_OK) status = trainer_state_make(o->t, &o->end, err);
    if (status == CNN_OK) status = run_epochs(s, &params, algorithm != NULL, o, err);
    if (status == CNN_OK) status = trainer_state_get(o->t, &o->end, err);
    if (status != CNN_OK) return status;
    const cnn_net *net = &s->network->net;
    o->params = malloc((size_t)(2 * net->param_elems + 1) * sizeof *o->params);
    if (o->params == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to compare parameters");
    o->grads = o->params + net->param_elems;
    vf_net_doubles(net, o->end.own.params, net->param_elems, o->params);
    vf_net_doubles(net, o->end.own.grads, net->trained_elems, o->grads);
    return CNN_OK;
}

static bool is_finite(const steps *s, const outcome *o)
{
    double sum = vf_distance(o->params, NULL, s->network->net.param_elems);
    for (int e = 0; e < EPOCHS; e++) sum += o->epochs[e].train_loss + o->epochs[e].test_loss;
    return isfinite(sum);
}

/* ---- Where single operations end in no numbers */

static cnn_status open_cpu(const steps *s, cnn_session *cpu, cnn_error *err)
{
    const cnn_session_params params = {.threads = s->session->threads};
    const cnn_impl *impl = cnn_impl_find(NULL, "cpu", err);
    return impl != NULL ? cnn_session_open(impl, &params, cpu, err) : err->status;
}

/* Far from all overflow: rounding leads no other implementation there. */
static bool is_near_its_start(const steps *s, const outcome *o)
{
    const cnn_net *net = &s->network->net;
    double *start = malloc((size_t)(net->param_elems + 1) * sizeof *start);
    if (start == NULL) return false;
    vf_net_doubles(net, s->start, net->param_elems, start);
    const double size = vf_distance(start, NULL, net->param_elems);
    const bool near = is_finite(s, o) && vf_distance(o->params, start, net->param_elems) < 100.0 * size;
    free(start);
    return near;
}

/* The same steps by impl_cpu, where the composition that ended so is another's. */
static cnn_status ask_cpu(steps *s, cnn_error *err)
{
    const cnn_session *own = s->composed;
    cnn_session cpu;
    outcome o = {.t = NULL};
    cnn_error why;
    if (strcmp(own->impl->name, "cpu") == 0 || open_cpu(s, &cpu, &why) != CNN_OK) return CNN_OK;
    s->composed = &cpu;
    const cnn_status status = run(s, NULL, NULL, &o, err);
    s->composed = own;
    if (status == CNN_OK && is_near_its_start(s, &o))
        vf_set(s->result, VERIFY_FAILED,
               "with %s, single operations of %s end in no numbers, though those of cpu do not: verify --op all shows "
               "which",
               cnn_optimizer_name(s->params.optimizer.kind), own->impl->name);
    close_outcome(&o);
    cnn_session_close(&cpu);
    return status == CNN_UNSUPPORTED ? CNN_OK : status;
}

/* At the first rate, of its own and sixteenths of it, with which it ends in numbers. */
static cnn_status run_composition(steps *s, outcome *o, cnn_error *err)
{
    cnn_status status = run(s, NULL, NULL, o, err);
    if (status == CNN_OK && !is_finite(s, o)) status = ask_cpu(s, err);
    for (int i = 0; i < RATES && status == CNN_OK && s->result->state != VERIFY_FAILED && !is_finite(s, o); i++) {
        close_outcome(o);
        *o = (outcome){.t = NULL};
        s->params.optimizer.lr /= 16;
        status = run(s, NULL, NULL, o, err);
    }
    s->beyond = status == CNN_OK && !is_finite(s, o);
    return status;
}

/* ---- Comparing ---- */

/* What differs is a fault, but where nudges led so far that it may be chance. */
static bool may_be_chance(steps *s, double off, double strayed, double whole)
{
    const double clear = s->batches > 1 ? way_share[s->network->net.type.dtype] : strayed_most;
    const bool chance = isfinite(off) && strayed_times * strayed > clear * whole;
    s->too_many = s->too_many || chance;
    return chance;
}

/* Seen against the way that a tensor went, since steps amplify rounding. */
static void compare_params(steps *s, const outcome *theirs, const outcome *ours, double *used)
{
    const cnn_net *net = &s->network->net;
    const double share = way_share[net->type.dtype];
    double *start = malloc((size_t)(net->param_elems + 1) * sizeof *start);
    if (start != NULL) vf_net_doubles(net, s->start, net->param_elems, start);
    for (int i = 0; i < net->n_params && start != NULL; i++) {
        const cnn_param *p = &net->params[i];
        if (p->role < CNN_RUNNING_MEAN && vf_vanishes(net, p, ours->grads, 1e-5))
            continue; /* nor does where it leads */
        const double way = vf_distance(ours->params + p->offset, start + p->offset, p->count);
        const double off = vf_distance(ours->params + p->offset, theirs->params + p->offset, p->count);
        const double allowed = share * way + fmin(strayed_times * s->strayed[i], strayed_most * way);
        const double part = off / (allowed + (double)1e-30);
        if (part <= 1.0) {
            *used = fmax(*used, part);
            continue;
        }
        if (may_be_chance(s, off, s->strayed[i], way)) continue;
        vf_set(s->result, VERIFY_FAILED, "after %lld steps with %s, %s of %s is %.3g of its way off, allowed %.3g",
               (long long)ours->end.own.step, cnn_optimizer_name(s->params.optimizer.kind),
               cnn_param_role_name(p->role), net->layers[p->layer].name, off / way, allowed / way);
    }
    if (start == NULL) vf_set(s->result, VERIFY_SKIPPED, "no memory to compare parameters");
    free(start);
}

static void hold(const steps *s, const char *what, double got, double expected, double allowed)
{
    if (fabs(got - expected) <= allowed) return;
    vf_set(s->result, VERIFY_FAILED, "with %s, %s is %.9g, but %.9g of single operations, allowed difference %.3g",
           cnn_optimizer_name(s->params.optimizer.kind), what, got, expected, allowed);
}

static void hold_loss(steps *s, const char *what, double got, double expected)
{
    const double whole = 1.0 + expected, share = way_share[s->network->net.type.dtype],
                 allowed = (share + fmin(strayed_times * s->strayed_loss, strayed_most)) * whole;
    if (fabs(got - expected) <= allowed || may_be_chance(s, got - expected, s->strayed_loss, 1.0)) return;
    hold(s, what, got, expected, allowed);
}

static void compare_epochs(steps *s, const outcome *theirs, const outcome *ours)
{
    hold(s, "the number of updates", (double)theirs->end.own.step, (double)ours->end.own.step, 0.0);
    for (int e = 0; e < EPOCHS; e++) {
        const trainer_result *a = &theirs->epochs[e], *b = &ours->epochs[e];
        hold_loss(s, "the training loss", a->train_loss, b->train_loss);
        hold_loss(s, "the test loss", a->test_loss, b->test_loss);
    }
}

/* ---- Where rounding alone would lead */

static void draw_nudged(const steps *s, int round, void *to)
{
    const cnn_net *net = &s->network->net;
    cnn_rng rng = rng_stream(s->options->seed, 1000 + (uint64_t)round);
    const double most = nudge[net->type.dtype] * (round % 2 == 0 ? 1.0 : 4.0);
    for (int64_t i = 0; i < net->param_elems; i++) {
        const double by = 1.0 + rng_real(&rng, -most, most);
        if (net->type.dtype == CNN_F32)
            ((float *)to)[i] = (float)((double)((const float *)s->start)[i] * by);
        else
            ((double *)to)[i] = ((const double *)s->start)[i] * by;
    }
}

static void measure_nudged(steps *s, const outcome *ours, const outcome *nudged)
{
    const cnn_net *net = &s->network->net;
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        const double off = vf_distance(ours->params + p->offset, nudged->params + p->offset, p->count);
        if (isfinite(off)) s->strayed[i] = fmax(s->strayed[i], off);
    }
    for (int e = 0; e < EPOCHS; e++) {
        const trainer_result *a = &nudged->epochs[e], *b = &ours->epochs[e];
        const double train = fabs(a->train_loss - b->train_loss) / (1.0 + b->train_loss),
                     test = fabs(a->test_loss - b->test_loss) / (1.0 + b->test_loss);
        if (isfinite(train) && isfinite(test)) s->strayed_loss = fmax(s->strayed_loss, fmax(train, test));
    }
}

static cnn_status stray(steps *s, const outcome *ours, cnn_error *err)
{
    const cnn_net *net = &s->network->net;
    void *start = malloc((size_t)(net->param_elems + 1) * cnn_param_size(net));
    cnn_status status =
        start != NULL ? CNN_OK
                      : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to nudge the parameters that steps begin with");
    for (int i = 0; i < NUDGES && status == CNN_OK; i++) {
        outcome nudged = {.t = NULL};
        draw_nudged(s, i, start);
        status = vf_go_on(s->options, err);
        if (status == CNN_OK) status = run(s, NULL, start, &nudged, err);
        if (status == CNN_OK) measure_nudged(s, ours, &nudged);
        close_outcome(&nudged);
    }
    free(start);
    return status;
}

/* From the composition's parameters, both. */
static cnn_status compare_tests(const steps *s, outcome *theirs, outcome *ours, cnn_error *err)
{
    cnn_status status = trainer_set_params(theirs->t, ours->end.own.params, err);
    if (status == CNN_OK) status = trainer_test(theirs->t, NULL, &theirs->test, err);
    if (status == CNN_OK) status = trainer_test(ours->t, NULL, &ours->test, err);
    if (status != CNN_OK) return status;
    const double allowed = test_share[s->network->net.type.dtype] * (1.0 + ours->test.test_loss);
    hold(s, "the loss of a test", theirs->test.test_loss, ours->test.test_loss, allowed);
    hold(s, "the accuracy of a test", theirs->test.test_accuracy, ours->test.test_accuracy, 0.0);
    return CNN_OK;
}

static cnn_status compare(steps *s, const outcome *theirs, const outcome *ours, double *used, cnn_error *err)
{
    const verify_result before = *s->result;
    double most = *used;
    compare_epochs(s, theirs, ours);
    compare_params(s, theirs, ours, &most);
    if (s->result->state == VERIFY_FAILED) {
        const cnn_status status = stray(s, ours, err);
        if (status != CNN_OK) return status;
        *s->result = before;
        most = *used;
        compare_epochs(s, theirs, ours);
        compare_params(s, theirs, ours, &most);
    }
    *used = most;
    return CNN_OK;
}

/* What trains by exemplars leads elsewhere than single operations: only the reference judges its steps. */
static cnn_status check_batches(steps *s, const char *algorithm, double *used, cnn_error *err)
{
    outcome theirs = {.t = NULL}, ours = {.t = NULL};
    const bool alone = s->params.workers > 0;
    s->beyond = false;
    cnn_status status = alone ? CNN_OK : run_composition(s, &ours, err);
    memset(s->strayed, 0, (size_t)s->network->net.n_params * sizeof *s->strayed);
    s->strayed_loss = 0.0;
    s->too_many = s->beyond; /* fewer steps may end in numbers */
    const bool judged = !s->beyond && s->result->state != VERIFY_FAILED;
    if (status == CNN_OK && judged) status = run(s, algorithm, NULL, &theirs, err);
    if (status == CNN_OK && judged && !alone && s->result->state != VERIFY_FAILED) {
        status = compare(s, &theirs, &ours, used, err);
        if (status == CNN_OK) status = compare_tests(s, &theirs, &ours, err);
    }
    close_outcome(&theirs);
    close_outcome(&ours);
    return status;
}

static cnn_status check_optimizer(steps *s, const char *algorithm, double *used, cnn_error *err)
{
    const double own = s->params.optimizer.lr;
    s->batches = 2 * STEPS;
    s->too_many = true;
    while (s->too_many && s->batches > 1) {
        s->batches /= 2;
        s->params.optimizer.lr = own;
        s->data.train.count = images_of(&s->network->net, s->batches);
        const cnn_status status = check_batches(s, algorithm, used, err);
        if (status != CNN_OK || s->result->state == VERIFY_FAILED) return status;
    }
    s->left += s->beyond;
    s->slower += !s->beyond && s->params.optimizer.lr < own;
    const int compared = s->too_many ? 0 : s->batches;
    if (compared < s->fewest && !s->beyond) s->fewest = compared;
    return CNN_OK;
}

/* *other is opened, and to be closed, where the implementation itself has not all operations of the network. */
static cnn_status choose_composition(steps *s, cnn_session *other, cnn_error *err)
{
    const trainer_params composition = {.optimizer = {.kind = CNN_SGD}};
    trainer *t = NULL;
    const cnn_status status = trainer_open(s->session, s->network, NULL, &composition, &t, err);
    trainer_close(t);
    s->composed = s->session;
    if (status != CNN_UNSUPPORTED || !cnn_impl_find(NULL, "cpu", &(cnn_error){.status = CNN_OK})) return status;
    s->composed = other;
    return open_cpu(s, other, err);
}

static void pass(const steps *s, int kinds)
{
    const bool alone = s->params.workers > 0;
    const char *composed = alone ? "" : s->composed->impl->name;
    char but[256] = "";
    if (s->left == kinds) {
        vf_set(s->result, VERIFY_SKIPPED,
               "single operations of %s end in no numbers within %d steps, at any rate: "
               "other initial values would show more",
               composed, EPOCHS);
        return;
    }
    if (s->fewest == 0)
        cnn_append(but, sizeof but, ", with one by the reference only: rounding decides where %d end", EPOCHS);
    else if (s->fewest < STEPS)
        cnn_append(but, sizeof but, ", with one only %d: rounding decides more", EPOCHS * s->fewest);
    if (s->slower > 0)
        cnn_append(but, sizeof but, "; with %d at a lower rate than its own, where it diverges", s->slower);
    if (s->left > 0) cnn_append(but, sizeof but, "; with %d none, for it diverges at any rate", s->left);
    vf_set(s->result, VERIFY_PASSED, "%d steps with %d optimizer%s, compared with %s%s%s", EPOCHS * STEPS,
           kinds - s->left, kinds - s->left == 1 ? "" : "s", alone ? "the reference" : "single operations of ",
           composed, but);
}

/* One result for all optimizers: the first that differs is told. */
cnn_status verify_net_steps(const cnn_session *session, const cnn_network *network, const cnn_algorithm *algorithm,
                            const verify_options *options, verify_each *each, void *user, cnn_error *err)
{
    verify_result result = {
        .algorithm = "", .dir = CNN_BWD_W, .check = "steps", .state = VERIFY_UNSUPPORTED, .budget_used = (double)NAN};
    steps s = {.session = session, .network = network, .options = options, .fewest = STEPS, .result = &result};
    double used = 0.0;
    int kinds = 0;
    cnn_error why;
    cnn_session other = {.impl = NULL};
    cnn_status status = draw_data(&s, err);
    if (status == CNN_OK) status = choose_composition(&s, &other, err);
    for (int kind = 0; kind < CNN_OPTIMIZER_COUNT && status == CNN_OK && result.state != VERIFY_FAILED; kind++) {
        s.params =
            (trainer_params){.seed = options->seed, .workers = verify_net_workers(algorithm, network->net.batch)};
        status = vf_go_on(options, err);
        if (status == CNN_OK)
            status = cnn_optimizer_parse(cnn_optimizer_name((cnn_optimizer_kind)kind), &s.params.optimizer, err);
        if (status != CNN_OK || trainer_supported(session, network, algorithm, &s.params, &why) != CNN_OK) continue;
        status = check_optimizer(&s, algorithm->name, &used, err);
        kinds++;
    }
    result.budget_used = used;
    if (status != CNN_OK && status != CNN_INTERRUPTED)
        vf_set(&result, status == CNN_OUT_OF_MEMORY ? VERIFY_SKIPPED : VERIFY_FAILED, "%s", err->message);
    if (status == CNN_OK && kinds == 0) vf_set(&result, VERIFY_UNSUPPORTED, "%s", why.message);
    if (status == CNN_OK && kinds > 0) pass(&s, kinds);
    if (status != CNN_INTERRUPTED) each(user, &result);
    if (other.context != NULL) cnn_session_close(&other);
    dataset_free(&s.data);
    free(s.start);
    free(s.strayed);
    return status == CNN_INTERRUPTED ? status : CNN_OK;
}
