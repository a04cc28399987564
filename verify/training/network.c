/* network.c: gradients of whole networks.
 *
 * The reference's backward through all layers is compared with central differences of the reference's own loss along
 * random directions in the space of all trained parameters; then an implementation's gradients are compared with the
 * reference's, tensor by tensor, in the 2-norm.
 *
 * Tolerances. Differences: |D(2h) - D(h)| for truncation, and for rounding 8*u*layers*sqrt(taps)*(1 + loss)/h, each
 * layer's errors being independent. Directions along which any ReLU changes sides or any maximum changes hands within
 * 2h are left out and drawn anew, with a smaller h when there are many of them. The implementation: 1e-10 in f64; in
 * f32 the usual 1e-4.
 *
 * Kinks. A value that lies within rounding of a kink may come out on its other side, and then the gradients of a right
 * implementation differ by far more than rounding: of ResNet-20 in f32 in one of 25 runs, from values 2^-22 to 2^-20 of
 * their root mean square off. So parameters and images are drawn until no value lies within CLEAR units in the last
 * place of one, or DRAWS times; of those, the one that keeps farthest off is taken. A large network may leave none that
 * does: then twice what values at kinks change in the reference is allowed, too, up to a quarter.
 *
 * In f16 and bf16 the reference rounds what kernels store (network_pass.h). Another order of sums takes a few numbers
 * to the next one of 16 bits, and a deep network makes much of that. So the reference computes its gradients NUDGED
 * times more, each number moved by up to 2^-20 or 2^-18 of itself, by turns, before it is rounded: three times the
 * farthest that one leads is allowed, too, up to a half. */
#include "network_pass.h"
#include "verify/engine.h"

#include "harness/cnn/half.h"

#include "harness/base/rng.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 4, ATTEMPTS = 24, PATIENCE = 4, NUDGED = 4, DRAWS = 32, CLEAR = 64, NEAR = 16 };
static const double strayed_times = 3.0, strayed_most = 0.5; /* the latter of a tensor's norm */
static const double tilted_times = 2.0, tilted_most = 0.25;
static const double unit = 0x1p-53;
static const double gradient_limit[CNN_DTYPE_COUNT] = {
    [CNN_F32] = 1e-4, [CNN_F64] = 1e-10, [CNN_F16] = 2e-3, [CNN_BF16] = 1e-2};

typedef struct net_data {
    vf_pass pass;
    thread_pool *pool;
    double *params, *grads, *direction, *moved, *theirs; /* of one array, zeros at first */
    double *strayed; /* of each parameter tensor: what it may be off by for a reason above; zeros where there is none */
    double clearance; /* from kinks, in units in the last place */
    bool *vanishes;   /* likewise: whether its gradient is 0 but for rounding */
    double *images;
    int32_t *labels;
} net_data;

static void free_data(net_data *d)
{
    vf_pass_close(&d->pass);
    thread_pool_close(d->pool);
    free(d->params);
    free(d->strayed);
    free(d->vanishes);
    free(d->images);
    free(d->labels);
}

/* Values as the dtype holds them, so that all start from the same ones. */
static double as_stored(cnn_dtype dtype, double v) { return cnn_stored(dtype, v); }

static double initial(const cnn_param *p, cnn_rng *rng)
{
    switch (p->role) {
    case CNN_WEIGHT:
        return rng_real(rng, -1.0, 1.0) * sqrt(6.0 / (double)(p->fan_in > 0 ? p->fan_in : 1));
    case CNN_GAMMA:
        return rng_real(rng, 0.5, 1.5);
    case CNN_RUNNING_VAR:
        return 1.0;
    case CNN_RUNNING_MEAN:
        return 0.0;
    default:
        return rng_real(rng, -0.1, 0.1);
    }
}

static void draw_data(net_data *d, cnn_rng *rng)
{
    const cnn_net *net = d->pass.net;
    for (int i = 0; i < net->n_params; i++)
        for (int64_t e = 0; e < net->params[i].count; e++)
            d->params[net->params[i].offset + e] = as_stored(cnn_params_dtype(net), initial(&net->params[i], rng));
    for (int64_t i = 0; i < d->pass.image_count; i++)
        d->images[i] = as_stored(net->type.dtype, rng_real(rng, -1.0, 1.0));
    for (int64_t i = 0; i < net->batch; i++) d->labels[i] = (int32_t)rng_int(rng, 0, net->classes - 1);
}

/* Where 16 bits are stored, nudges say what rounding does, at kinks, too. */
static cnn_status draw_clear_of_kinks(net_data *d, const verify_options *options, cnn_error *err)
{
    const double last_place = d->pass.net->type.dtype == CNN_F64 ? unit : 0x1p-24;
    cnn_rng rng = rng_stream(options->seed, 77), best = rng;
    cnn_status status = CNN_OK;
    d->clearance = -1.0;
    for (int i = 0; i < (d->pass.rounds ? 1 : DRAWS) && d->clearance < CLEAR && status == CNN_OK; i++) {
        const cnn_rng before = rng;
        double loss;
        draw_data(d, &rng);
        status = vf_go_on(options, err);
        if (status == CNN_OK) status = vf_pass_forward(&d->pass, d->params, d->images, d->labels, &loss, NULL, err);
        const double clearance = vf_pass_clearance(&d->pass) / last_place;
        if (clearance > d->clearance) best = before, d->clearance = clearance;
    }
    if (d->clearance < CLEAR) draw_data(d, &best);
    return status;
}

static cnn_status make_data(net_data *d, const cnn_net *net, const verify_options *options, cnn_error *err)
{
    const size_t params = (size_t)net->param_elems;
    memset(d, 0, sizeof *d);
    cnn_status status = thread_pool_open(options->reference_threads, &d->pool, err);
    if (status == CNN_OK) status = vf_pass_open(&d->pass, net, d->pool, err);
    if (status != CNN_OK) return status;
    d->images = calloc((size_t)d->pass.image_count, sizeof *d->images);
    d->labels = calloc((size_t)net->batch, sizeof *d->labels);
    d->params = calloc(5 * params + 1, sizeof *d->params);
    d->strayed = calloc((size_t)net->n_params + 1, sizeof *d->strayed);
    d->vanishes = calloc((size_t)net->n_params + 1, sizeof *d->vanishes);
    if (d->images == NULL || d->labels == NULL || d->params == NULL || d->strayed == NULL || d->vanishes == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu parameters", params);
    d->grads = d->params + params, d->direction = d->grads + params, d->moved = d->direction + params;
    d->theirs = d->moved + params;
    return draw_clear_of_kinks(d, options, err);
}

/* Of f16, whose small gradients are lost without one. */
double vf_net_loss_scale(const cnn_net *net) { return net->type.dtype == CNN_F16 ? 256.0 : 1.0; }

static cnn_status loss_at(net_data *d, double t, double *loss, uint64_t *kinks, cnn_error *err)
{
    for (int64_t i = 0; i < d->pass.net->param_elems; i++) d->moved[i] = d->params[i] + t * d->direction[i];
    return vf_pass_forward(&d->pass, d->moved, d->images, d->labels, loss, kinks, err);
}

static void draw_direction(net_data *d, cnn_rng *rng)
{
    const cnn_net *net = d->pass.net;
    for (int i = 0; i < net->n_params; i++)
        for (int64_t e = 0; net->params[i].role < CNN_RUNNING_MEAN && e < net->params[i].count; e++)
            d->direction[net->params[i].offset + e] = rng_real(rng, -1.0, 1.0);
}

static double most_taps(const cnn_net *net)
{
    double most = 1.0;
    for (int l = 0; l < net->n_layers; l++) most = fmax(most, vf_terms(&net->layers[l].problem, CNN_FWD));
    return most;
}

/* One direction. *crossed: a kink lies on the way, nothing was compared. */
static cnn_status check_direction(net_data *d, double h, double loss, uint64_t kinks, bool *crossed, double *relative,
                                  verify_result *result, cnn_error *err)
{
    const double steps[4] = {h, -h, 2.0 * h, -2.0 * h};
    const cnn_net *net = d->pass.net;
    double losses[4], slope = 0.0, size = 0.0;
    for (int i = 0; i < 4 && !*crossed; i++) {
        uint64_t there;
        cnn_status status = loss_at(d, steps[i], &losses[i], &there, err);
        if (status != CNN_OK) return status;
        *crossed = *crossed || there != kinks;
    }
    if (*crossed) return CNN_OK;
    for (int64_t i = 0; i < net->param_elems; i++) {
        slope += d->grads[i] * d->direction[i];
        size += d->grads[i] * d->direction[i] * d->grads[i] * d->direction[i];
    }
    double near = (losses[0] - losses[1]) / (2.0 * h), far = (losses[2] - losses[3]) / (4.0 * h);
    double allowed = fabs(far - near) + 8.0 * unit * net->n_layers * sqrt(most_taps(net)) * (1.0 + fabs(loss)) / h;
    double error = fabs(near - slope);
    *relative = fmax(*relative, error / fmax(fabs(near), sqrt(size)));
    if (!(error / allowed <= result->budget_used)) result->budget_used = error / allowed;
    if (!(vf_finite(slope) && vf_finite(near) && error <= allowed))
        vf_set(result, VERIFY_FAILED, "central difference %.12g, <grad,v> %.12g, allowed difference %.3g", near, slope,
               allowed);
    return CNN_OK;
}

static cnn_status check_reference(net_data *d, const verify_options *options, verify_result *result, cnn_error *err)
{
    cnn_rng rng = rng_stream(options->seed, 78);
    double loss, relative = 0.0, h = cbrt(unit) / 4.0;
    uint64_t kinks;
    int done = 0, left_out = 0;
    const bool rounds = d->pass.rounds;
    d->pass.rounds = false; /* steps have no slope */
    cnn_status status = vf_pass_forward(&d->pass, d->params, d->images, d->labels, &loss, &kinks, err);
    if (status == CNN_OK) status = vf_pass_backward(&d->pass, d->grads, err);
    for (int i = 0; status == CNN_OK && done < DIRECTIONS && i < ATTEMPTS; i++) {
        bool crossed = false;
        if (left_out > 0 && left_out % PATIENCE == 0) h /= 4.0;
        draw_direction(d, &rng);
        status = vf_go_on(options, err);
        if (status == CNN_OK) status = check_direction(d, h, loss, kinks, &crossed, &relative, result, err);
        done += !crossed;
        left_out += crossed;
    }
    d->pass.rounds = rounds;
    if (status == CNN_OK && done == 0) vf_set(result, VERIFY_SKIPPED, "all of %d directions crossed a kink", ATTEMPTS);
    vf_set(result, result->state, "relative error %.2g (1e-4 is usual), %d of %d directions crossed a kink", relative,
           left_out, left_out + done);
    return status;
}

static void judge_tensor(net_data *d, int index, double share, double *worst, verify_result *result)
{
    const cnn_net *net = d->pass.net;
    const cnn_param *p = &net->params[index];
    const double error = vf_distance(d->theirs + p->offset, d->grads + p->offset, p->count);
    const double size = vf_distance(d->grads + p->offset, NULL, p->count);
    const double relative = size > 0.0 ? error / size : error > 0.0 ? (double)INFINITY : 0.0;
    const double limit = share + (size > 0.0 ? d->strayed[index] / size : 0.0);
    if (!(relative / limit <= result->budget_used)) result->budget_used = relative / limit;
    if (!(relative <= *worst)) {
        *worst = relative;
        snprintf(result->worst, sizeof result->worst, "%s of %s: relative error %.3g in the 2-norm, allowed %.3g",
                 cnn_param_role_name(p->role), net->layers[p->layer].name, relative, limit);
    }
    if (!(relative <= limit))
        vf_set(result, VERIFY_FAILED, "the gradient of %s's %s differs from the reference's",
               net->layers[p->layer].name, cnn_param_role_name(p->role));
}

static void judge_implementation(net_data *d, verify_result *result)
{
    const cnn_net *net = d->pass.net;
    double worst = 0.0, limit = gradient_limit[net->type.dtype];
    int compared = 0;
    result->budget_used = 0.0;
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        if (p->role >= CNN_RUNNING_MEAN || d->vanishes[i]) continue;
        judge_tensor(d, i, limit, &worst, result);
        compared++;
    }
    if (compared == 0) vf_set(result, VERIFY_MISTRUSTED, "every gradient of the reference is zero");
    vf_set(result, VERIFY_PASSED, "relative error %.2g over %d tensors", worst, compared);
}

/* The reference's gradients of a network in f16 or bf16, with all that is stored in 16 bits: into `grads`. */
static cnn_status rounded_gradients(net_data *d, double nudge, double *grads, cnn_error *err)
{
    double loss;
    d->pass.nudge = nudge;
    const cnn_status status = vf_pass_forward(&d->pass, d->params, d->images, d->labels, &loss, NULL, err);
    return status == CNN_OK ? vf_pass_backward(&d->pass, grads, err) : status;
}

/* d->moved are gradients, too: what lies between these and d->grads may be `times` as far, up to `most` of them. */
static void allow_moved(net_data *d, double times, double most)
{
    const cnn_net *net = d->pass.net;
    for (int k = 0; k < net->n_params; k++) {
        const cnn_param *p = &net->params[k];
        const double off = vf_distance(d->moved + p->offset, d->grads + p->offset, p->count);
        const double size = vf_distance(d->grads + p->offset, NULL, p->count);
        d->strayed[k] = fmax(d->strayed[k], fmin(times * off, most * size));
    }
}

/* Nothing where what was drawn keeps clear of kinks. */
static cnn_status allow_kinks(net_data *d, cnn_error *err)
{
    const double last_place = d->pass.net->type.dtype == CNN_F64 ? unit : 0x1p-24;
    double loss;
    if (d->clearance >= NEAR) return CNN_OK;
    cnn_status status = vf_pass_forward(&d->pass, d->params, d->images, d->labels, &loss, NULL, err);
    if (status == CNN_OK) vf_pass_tilt(&d->pass, NEAR * last_place);
    if (status == CNN_OK) status = vf_pass_backward(&d->pass, d->moved, err);
    if (status == CNN_OK) allow_moved(d, tilted_times, tilted_most);
    return status;
}

/* Which gradients vanish is seen before. */
static cnn_status allow_rounding(net_data *d, const verify_options *options, cnn_error *err)
{
    const cnn_net *net = d->pass.net;
    for (int k = 0; k < net->n_params; k++) d->vanishes[k] = vf_vanishes(net, &net->params[k], d->grads, 1e-12);
    if (!d->pass.rounds) return allow_kinks(d, err);
    d->pass.loss_scale = vf_net_loss_scale(net);
    d->pass.rng = rng_stream(options->seed, 80);
    cnn_status status = rounded_gradients(d, 0.0, d->grads, err);
    for (int i = 0; i < NUDGED && status == CNN_OK; i++) {
        status = vf_go_on(options, err);
        if (status == CNN_OK) status = rounded_gradients(d, i % 2 == 0 ? 0x1p-20 : 0x1p-18, d->moved, err);
        if (status == CNN_OK) allow_moved(d, strayed_times, strayed_most);
    }
    return status;
}

static verify_result empty_result(const char *check)
{
    return (verify_result){
        .algorithm = "", .dir = CNN_BWD_W, .check = check, .state = VERIFY_PASSED, .budget_used = (double)NAN};
}

/* What kept a check from being made: a lack of an operation or of memory is no failure. */
static void judge_error(const cnn_error *err, verify_result *result)
{
    result->state = err->status == CNN_UNSUPPORTED     ? VERIFY_UNSUPPORTED
                    : err->status == CNN_OUT_OF_MEMORY ? VERIFY_SKIPPED
                                                       : VERIFY_FAILED;
    snprintf(result->reason, sizeof result->reason, "%s", err->message);
}

/* The implementation comes first: where it can do nothing, the reference need not be proved. */
cnn_status verify_net(const cnn_net *net, const verify_options *options, verify_net_gradient *gradient,
                      void *gradient_user, verify_each *each, void *user, cnn_error *err)
{
    net_data d;
    verify_result differences = empty_result("differences"), theirs = empty_result("gradient");
    cnn_status status = make_data(&d, net, options, err);
    if (status == CNN_OK) status = vf_go_on(options, err);
    const bool ready = status == CNN_OK;
    if (ready) status = gradient(gradient_user, net, d.params, d.images, d.labels, d.theirs, err);
    const bool refused = ready && status != CNN_OK;
    if (status == CNN_OK) status = check_reference(&d, options, &differences, err);
    if (status == CNN_OK) status = allow_rounding(&d, options, err);
    if (status == CNN_OK) {
        each(user, &differences);
        judge_implementation(&d, &theirs);
        each(user, &theirs);
    } else if (status != CNN_INTERRUPTED && (refused || status == CNN_OUT_OF_MEMORY)) {
        verify_result *said = refused ? &theirs : &differences;
        judge_error(err, said);
        each(user, said);
        status = CNN_OK;
    }
    free_data(&d);
    return status;
}
