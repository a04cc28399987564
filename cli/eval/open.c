/* open.c: what `eval` and `predict` ask, and whom: from the options to a trainer that holds the weights. */
#include "harness/net/weights.h"
#include "harness/process/watch.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status eval_read_options(const cli_options *o, cnn_error *err)
{
    const struct {
        const char *value, *words;
    } needs[] = {{o->net, "a network: --net NAME or --net FILE, e.g. --net thesis"},
                 {o->load, "weights: --load FILE.safetensors, as `train --save` writes them"},
                 {o->impl, "an implementation: --impl NAME[:ALGORITHM], e.g. --impl cpu:direct (see `benchcnn list`)"}};
    cli_type_set types;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (needs[i].value == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s needs %s", o->command, needs[i].words);
    cnn_status status = cli_types(o, &types, err);
    if (status == CNN_OK && types.count != 1)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s asks in one type: choose one --dtype and one --layout", o->command);
    if (status == CNN_OK && o->images != NULL) status = eval_read_images(o->images, INT64_MAX, NULL, NULL, err);
    return status == CNN_OK ? cli_keep_apart(o->out, "--load", o->load, err) : status;
}

static cnn_status open_session(eval_run *r, cnn_error *err)
{
    const cnn_choice *choice = &r->sessions.choices[0];
    const trainer_params params = {.optimizer.kind = CNN_SGD};
    cnn_status status = cli_sessions_open(r->options, false, &r->sessions, err);
    if (status != CNN_OK || r->sessions.count == 0) return status; /* none: it ended a process before this one */
    if (r->sessions.n_choices != 1 || r->sessions.count != 1 || cnn_choice_tuned(choice))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--impl is '%.200s', but %s asks one implementation: NAME[:ALGORITHM]",
                        r->options->impl, r->options->command);
    r->session = &r->sessions.list[0];
    status = cli_fitting(&r->sessions, &r->network->net, err);
    if (status != CNN_OK) return status;
    r->algorithm = cli_default_trainer(choice, r->session, r->network, &r->network->net.type, &params);
    if (r->algorithm != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "nothing of --impl %.200s can run network %s; see `benchcnn list`",
                    r->options->impl, r->network->net.name);
}

/* The mean that the weights were trained with is taken off the pixels. Where the file does not say it, it is that of
 * all training images. */
static cnn_status open_data(eval_run *r, weights_facts *facts, const char *usual, cnn_error *err)
{
    const cli_options *o = r->options;
    const cnn_value *x = &r->network->net.values[0];
    dataset_params params = {
        .c = x->c, .h = x->h, .w = x->w, .train_images = isfinite(facts->mean) ? 1 : 0, .threads = r->session->threads};
    const char *images = o->images != NULL ? o->images : usual;
    char all[32];
    cnn_status status = cli_dataset(o, &params, err);
    if (facts->proportional) params.preprocess = DATASET_PROPORTIONAL;
    if (status == CNN_OK) status = dataset_open(&params, &r->data, err);
    if (status == CNN_OK) status = trainer_fits(&r->network->net, &r->data, err);
    if (status != CNN_OK) return status;
    if (isfinite(facts->mean)) {
        free(r->data.means);
        r->data.mean = facts->mean;
        r->data.means = facts->means;
        facts->means = NULL;
    }
    if (r->data.test.count < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no test images", r->data.name);
    snprintf(all, sizeof all, "0..%lld", (long long)r->data.test.count - 1);
    return eval_read_images(images != NULL ? images : all, r->data.test.count, &r->images, &r->n_images, err);
}

/* A trainer for single images; the optimizer is never asked, and has no state. */
static cnn_status open_trainer(eval_run *r, cnn_error *err)
{
    const cnn_net *net = &r->network->net;
    trainer_params params = {.algorithm = r->algorithm, .seed = (uint64_t)r->options->seed};
    cnn_status status = cnn_optimizer_parse("sgd", &params.optimizer, err);
    if (status == CNN_OK) status = trainer_open(r->session, r->network, NULL, &params, &r->trainer, err);
    if (status == CNN_OK) status = trainer_start(r->trainer, err);
    if (status == CNN_OK) status = trainer_set_params(r->trainer, r->params, err);
    r->pixels = malloc((size_t)cnn_net_value_elems(net, 0, 1) * cnn_dtype_size(net->type.dtype));
    if (status == CNN_OK && r->pixels == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an image");
    return status;
}

/* Network, weights, implementation, data: all but the trainer. */
static cnn_status open_all(eval_run *r, const char *usual, cnn_error *err)
{
    const cli_options *o = r->options;
    cli_type_set types;
    weights_facts facts = {.mean = NAN};
    cnn_status status = cli_types(o, &types, err);
    if (status == CNN_OK) status = cnn_net_load(o->net, &types.types[0], 1, (uint64_t)o->seed, &r->network, err);
    if (status != CNN_OK) return status;
    const cnn_net *net = &r->network->net;
    r->params = calloc((size_t)net->param_elems + 1, cnn_param_size(net));
    if (r->params == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the weights of %s", net->name);
    status = weights_load(r->network, o->load, r->params, &facts, err);
    snprintf(r->weights, sizeof r->weights, "%08x", facts.crc);
    if (status == CNN_OK) status = open_session(r, err);
    if (status != CNN_OK || r->session == NULL) {
        free(facts.means);
        return status;
    }
    status = open_data(r, &facts, usual, err);
    free(facts.means);
    if (status == CNN_OK) status = cli_output_begin(o, &r->output, err);
    return status == CNN_OK ? cli_sessions_environment(&r->sessions, 0, o->command_line, r->output.sink, err) : status;
}

/* With --isolate, what ends the process ends this piece, which is all there is. */
static cnn_status ask(eval_run *r, eval_work *work, cnn_error *err)
{
    char name[2 * CNN_NAME_MAX];
    bool mine;
    snprintf(name, sizeof name, "%s:%s", r->session->impl->name, r->algorithm);
    cnn_status status = cli_begin_piece(r->options, 0, name, "asking it about images", r->output.sink, &mine, err);
    if (status != CNN_OK || !mine) return status;
    status = open_trainer(r, err);
    if (status == CNN_OK) status = work(r, err);
    trainer_close(r->trainer);
    r->trainer = NULL;
    cli_end_piece(r->options);
    return status;
}

static void close_run(eval_run *r)
{
    cnn_net_free(r->network);
    dataset_free(&r->data);
    free(r->params);
    free(r->images);
    free(r->pixels);
    cli_sessions_close(&r->sessions);
}

int eval_command(const cli_options *o, const char *usual, eval_work *work, cnn_error *err)
{
    static eval_run run; /* large: kept off the stack */
    eval_run *r = &run;
    r->options = o;
    cnn_status status = cli_output_open(o, true, &r->output, err);
    if (status == CNN_OK) status = cli_report_lost(o, r->output.sink, &o->watch->failed, err);
    if (status == CNN_OK) status = open_all(r, usual, err);
    if (status == CNN_OK && r->session != NULL) status = ask(r, work, err);
    close_run(r);
    int result = status != CNN_OK ? cli_fail(err) : o->watch->failed > 0 ? EXIT_FAILED : EXIT_HELD;
    if (status == CNN_OK) result = cli_output_end(&r->output, result);
    cli_output_close(&r->output);
    return result;
}
