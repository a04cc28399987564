/* batch_set_up.c: what `sweep batch` trains, on what, with whom. */
#include "batch.h"
#include "cli/train/plan.h"
#include "harness/problem/names.h"

#include <string.h>

/* Table 4.1 of the thesis. */
static const char thesis_batches[] = "5,10,20,40,50,100,200,400,500,1000,2000,5000";

static cnn_status read_options(batch_sweep *s, cnn_error *err)
{
    const cli_options *o = s->options;
    s->net = o->net ? o->net : "thesis";
    cnn_status status = cli_ints("batch", o->batch ? o->batch : thesis_batches, 1, BATCH_MOST, s->batches, BATCHES_MAX,
                                 &s->n_batches, err);
    if (status == CNN_OK) status = cli_types(o, &s->types, err);
    if (status == CNN_OK) status = cli_trainer_params(o, &s->params, err);
    return status;
}

cnn_status batch_sweep_args(const cli_options *options, cnn_error *err)
{
    static batch_sweep s; /* large: kept off the stack */
    s = (batch_sweep){.options = options};
    return read_options(&s, err);
}

/* Once for all batch sizes. */
static cnn_status load_data(batch_sweep *s, const cnn_net *net, cnn_error *err)
{
    cnn_status status = cli_open_data(s->options, net, s->sessions.list[0].threads, &s->data, err);
    for (int i = 0; status == CNN_OK && i < s->n_batches; i++)
        if (s->batches[i] > s->data.train.count)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "--batch %lld is more than the %lld training images",
                              (long long)s->batches[i], (long long)s->data.train.count);
    return status;
}

static cnn_status add_curve(batch_sweep *s, int session, const char *algorithm, const cnn_type *type, cnn_error *err)
{
    if (s->n_curves == CURVES_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep: more than %d algorithms and types; choose with --impl",
                        CURVES_MAX);
    curve *c = &s->curves[s->n_curves++];
    *c = (curve){.session = session, .algorithm = algorithm, .type = *type};
    snprintf(c->label, sizeof c->label, "%s:%s", s->sessions.list[session].impl->name, algorithm);
    if (s->types.count > 1) {
        size_t used = strlen(c->label);
        snprintf(c->label + used, sizeof c->label - used, ":%s:%s", cnn_dtype_name(type->dtype),
                 cnn_layout_name(type->layout));
    }
    return CNN_OK;
}

static cnn_status make_curves(batch_sweep *s, const cnn_network *network, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int t = 0; t < s->types.count; t++)
        for (int i = 0; i < s->sessions.count; i++) {
            const cnn_session *session = &s->sessions.list[i];
            for (int a = 0; status == CNN_OK && a < session->impl->n_algorithms; a++) {
                const cnn_algorithm *algorithm = &session->impl->algorithms[a];
                if (cli_trains(s->sessions.choices, s->sessions.n_choices, session, algorithm, network, &s->params))
                    status = add_curve(s, i, algorithm->name, &s->types.types[t], err);
            }
            if (status == CNN_OK && cli_wants_tuned(&s->sessions, session))
                status = add_curve(s, i, CNN_TUNED, &s->types.types[t], err);
        }
    return status;
}

static cnn_status read_earlier(batch_sweep *s, cnn_error *err)
{
    int bad = 0;
    if (!cli_is_plain_file(s->options->out)) return CNN_OK;
    const cnn_status status = epoch_table_read(&s->table, s->options->out, &bad, err);
    if (status == CNN_OK) cli_say_bad_lines(s->options->out, bad);
    return status;
}

cnn_status batch_sweep_set_up(batch_sweep *s, cnn_error *err)
{
    cnn_network *network = NULL;
    cnn_status status = read_options(s, err);
    if (status == CNN_OK)
        status = cnn_net_load(s->net, &s->types.types[0], s->batches[0], (uint64_t)s->options->seed, &network, err);
    if (status == CNN_OK) epoch_setting_of_net(network, &s->network);
    cnn_build_id(s->options->plugin.items, s->options->plugin.count, s->network.build);
    if (status == CNN_OK) status = cli_sink_open(s->options->out, s->options->json, &s->sink, err);
    if (status == CNN_OK) status = cli_report_lost(s->options, s->sink, &s->options->watch->failed, err);
    if (status == CNN_OK) status = read_earlier(s, err);
    if (status == CNN_OK) status = cli_sessions_open(s->options, true, &s->sessions, err);
    if (status == CNN_OK) cli_say_warnings(&s->sessions);
    if (status == CNN_OK) status = cli_tuned_open(s->options, &s->sessions, false, &s->tuned, err);
    if (status == CNN_OK) status = cli_fitting(&s->sessions, &network->net, err);
    if (status == CNN_OK) status = load_data(s, &network->net, err);
    if (status == CNN_OK) status = make_curves(s, network, err);
    cnn_net_free(network);
    return status;
}
