/* set_up.c: what `train` and `sweep batch` train, on what, with whom, and what --out already holds. */
#include "cli/table.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "harness/data/safetensors.h"
#include "harness/process/watch.h"
#include "parts.h"

#include <string.h>

enum { EPOCHS_UNTIL = 1000 };

static cnn_status read_images(const char *text, int64_t images[2], cnn_error *err)
{
    char copy[64], *rest = copy;
    int count;
    if (text == NULL) return CNN_OK;
    snprintf(copy, sizeof copy, "%s", text);
    for (int i = 0; rest != NULL && i < 2; i++)
        if (cli_ints("images", strsep(&rest, ","), 0, TRAIN_IMAGES_MOST, &images[i], 1, &count, err) != CNN_OK)
            return err->status;
    if (rest == NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--images %.64s: give TRAIN, or TRAIN,TEST", text);
}

cnn_status train_read_options(train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    t->sweep = strcmp(o->command, "train") != 0;
    t->net = o->net != NULL || !t->sweep ? o->net : "thesis";
    if (t->net == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "train needs a network: --net NAME or --net FILE, e.g. --net thesis");
    if (o->impl == NULL && !t->sweep)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "train needs implementations: --impl NAME[:ALGORITHM], e.g. --impl cpu:direct (see `benchcnn "
                        "list`)");
    cnn_status status = train_read_steps(t, err);
    if (status == CNN_OK) status = train_read_goals(t, err);
    if (status == CNN_OK) status = cli_types(o, &t->types, err);
    if (status == CNN_OK) status = read_images(o->images, t->images, err);
    t->params = (trainer_params){.seed = (uint64_t)o->seed,
                                 .no_graph = o->no_graph,
                                 .ranks = t->ranks,
                                 .bucket = o->bucket,
                                 .fuse = o->fuse,
                                 .host_data = strcmp(o->data_on, "host") == 0,
                                 .recompute = o->recompute,
                                 .offload = o->offload,
                                 .streams = o->streams,
                                 .shift = o->shift,
                                 .profile = o->profile,
                                 .workers = t->workers[0]};
    if (status == CNN_OK) status = cnn_optimizer_parse(o->optimizer, &t->params.optimizer, err);
    if (status == CNN_OK) status = train_read_scale(t, err);
    /* --until-loss and the like need room: one epoch is no limit then, unless it was asked for */
    const bool given = cli_given(o, "epochs");
    t->epochs = train_open_ended(o) && !given ? EPOCHS_UNTIL : o->epochs;
    return status == CNN_OK ? rate_schedule_parse(o->schedule, given ? o->epochs : 0, &t->schedule, err) : status;
}

bool train_several(const train *t) { return t->sweep || t->n_batches * t->n_curves > 1; }

/* ---- Curves ---- */

static cnn_status add_curve(train *t, int session, const char *algorithm, const cnn_type *type, cnn_error *err)
{
    for (int i = 0; i < t->n_curves; i++) { /* globs may choose it twice */
        const train_curve *c = &t->curves[i];
        if (c->session == session && strcmp(c->algorithm, algorithm) == 0 && c->type.dtype == type->dtype &&
            c->type.layout == type->layout)
            return CNN_OK;
    }
    if (t->n_curves == CURVES_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d algorithms and types; choose with --impl", CURVES_MAX);
    train_curve *c = &t->curves[t->n_curves++];
    *c = (train_curve){.session = session, .algorithm = algorithm, .type = *type};
    const cnn_session *on = train_session(t, session);
    snprintf(c->label, sizeof c->label, "%s:%s", on->impl->name, algorithm);
    if (t->types.count > 1)
        cnn_append(c->label, sizeof c->label, ":%s:%s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout));
    if (t->n_others > 0 && on->impl->device_kind == CNN_DEVICE_CPU)
        cnn_append(c->label, sizeof c->label, ", %d thread%s", on->threads, on->threads == 1 ? "" : "s");
    return CNN_OK;
}

/* A curve for each number of threads, the implementation's first session being with the first of them. */
static cnn_status add_curves(train *t, int session, const char *algorithm, const cnn_type *type, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int s = session; s >= 0 && status == CNN_OK; s = train_next_session(t, s))
        status = add_curve(t, s, algorithm, type, err);
    return status;
}

/* A choice without an algorithm stands for all in `sweep batch`, in `train` for the default: the implementation's first
 * for the deciding operation. */
static cnn_status add_choice(train *t, const cnn_choice *choice, const cnn_type *type, const cnn_network *network,
                             cnn_error *err)
{
    const cnn_impl *impl = choice->impl;
    int s = 0;
    while (s < t->sessions.count && t->sessions.list[s].impl != impl) s++;
    if (s == t->sessions.count) return CNN_OK; /* not available here, and chosen by a glob */
    if (cnn_choice_tuned(choice)) return add_curves(t, s, CNN_TUNED, type, err);
    if (!t->sweep && choice->pattern[0] == '\0') {
        const char *first = cli_default_trainer(choice, &t->sessions.list[s], network, type, &t->params);
        return first != NULL ? add_curves(t, s, first, type, err) : CNN_OK;
    }
    for (int a = 0; a < impl->n_algorithms; a++) {
        const cnn_algorithm *algorithm = &impl->algorithms[a];
        if (!cli_trains(choice, &t->sessions.list[s], algorithm, network, &t->params)) continue;
        if (add_curves(t, s, algorithm->name, type, err) != CNN_OK) return err->status;
    }
    return CNN_OK;
}

/* A file holds one training. */
static cnn_status check_single(const train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    const char *option = o->checkpoint != NULL ? "checkpoint" : "save";
    const char *path = o->checkpoint != NULL ? o->checkpoint : o->save;
    if (path == NULL || t->n_batches * t->n_curves <= 1) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "--%s %.200s keeps one training, and these are %d: choose one batch size, algorithm and type",
                    option, path, t->n_batches * t->n_curves);
}

static cnn_status make_curves(train *t, const cnn_network *network, cnn_error *err)
{
    for (int i = 0; i < t->types.count; i++)
        for (int c = 0; c < t->sessions.n_choices; c++)
            if (add_choice(t, &t->sessions.choices[c], &t->types.types[i], network, err) != CNN_OK) return err->status;
    if (t->n_curves == 0 && t->sessions.count > 0)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "nothing of --impl %.300s can train network %s so; `benchcnn list` names the algorithms and "
                        "trainers that there are",
                        t->options->impl != NULL ? t->options->impl : "*", network->net.name);
    return check_single(t, err);
}

/* ---- Files ---- */

/* The thesis's batch sizes that the images suffice for; those that are asked for by name must all be had. */
static cnn_status check_batches(train *t, cnn_error *err)
{
    const int64_t images = t->data.train.count;
    const bool named = t->options->batch != NULL || !t->sweep;
    int n = 0;
    for (int b = 0; b < t->n_batches; b++) {
        const int size = rank_size(t->ranks);
        if (t->batches[b] > images && named)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s %lld is more than the %lld training images",
                            t->workers[b] > 0 ? "--workers times --worker-batch:" : "--batch", (long long)t->batches[b],
                            (long long)images);
        if (t->batches[b] % size != 0 && named)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "--batch %lld cannot be shared out evenly among %d ranks: give a multiple of %d",
                            (long long)t->batches[b], size, size);
        if (t->batches[b] > images || t->batches[b] % size != 0) continue;
        t->batches[n] = t->batches[b];
        t->workers[n++] = t->workers[b];
    }
    if (n == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld training images are fewer than the smallest batch; see --images",
                        (long long)images);
    if (n < t->n_batches && !t->options->quiet)
        table_put(stderr, "batch sizes above the %lld training images%s are left out: %d of %d\n", (long long)images,
                  rank_size(t->ranks) > 1 ? ", or no multiple of the ranks," : "", t->n_batches - n, t->n_batches);
    t->n_batches = n;
    return CNN_OK;
}

/* Once for all points. */
static cnn_status open_data(train *t, const cnn_net *net, cnn_error *err)
{
    const cnn_value *input = &net->values[0];
    dataset_params params = {.c = input->c,
                             .h = input->h,
                             .w = input->w,
                             .train_images = t->images[0],
                             .test_images = t->images[1],
                             .threads = t->sessions.list[0].threads};
    cnn_status status = cli_dataset(t->options, &params, err);
    if (status == CNN_OK) status = dataset_open(&params, &t->data, err);
    if (status == CNN_OK && !t->options->quiet) table_put(stderr, "data: %s\n", t->data.source);
    return status;
}

/* With --plan nothing is recorded. */
static cnn_status open_output(train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    int bad = 0;
    if (o->plan) return record_sink_open(NULL, NULL, &t->output.sink, err);
    cnn_status status = cli_output_open(o, true, &t->output, err);
    t->table.goals = &t->held;
    if (status == CNN_OK && cnn_is_plain_file(o->out)) status = epoch_table_read(&t->table, o->out, &bad, err);
    if (status == CNN_OK) cli_say_bad_lines(o->out, bad);
    return status;
}

/* What is to be written can be, and is no file of another kind. */
static cnn_status check_files(const train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    if (rank_number(t->ranks) > 0) return CNN_OK; /* it writes none */
    cnn_status status = cli_keep_apart(o->out, "--save", o->save, err);
    if (status == CNN_OK) status = cli_keep_apart(o->out, "--load", o->load, err);
    if (status == CNN_OK && o->checkpoint != NULL && o->save != NULL && cli_same_file(o->checkpoint, o->save))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--checkpoint and --save are one file, %.200s: name two", o->save);
    if (status == CNN_OK && o->checkpoint != NULL) status = checkpoint_check(o->checkpoint, err);
    if (status == CNN_OK && o->save != NULL) status = st_write_check(o->save, err);
    return status;
}

cnn_status train_set_up(train *t, cnn_error *err)
{
    cnn_network *network = NULL;
    const cli_options *o = t->options;
    cnn_status status = train_read_options(t, err);
    if (status == CNN_OK)
        status = cnn_net_load(t->net, &t->types.types[0], t->batches[0], (uint64_t)o->seed, &network, err);
    if (status == CNN_OK && o->energy && rank_size(t->ranks) > 1)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                          "--energy measures the device of one process, and %d ranks train: start one process",
                          rank_size(t->ranks));
    if (status == CNN_OK && o->bucket > 0 && t->ranks == NULL)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                          "--bucket is of sums over ranks, and one process has none: start several, with mpirun");
    cnn_build_id(o->plugin.items, o->plugin.count, t->build);
    if (status == CNN_OK) status = open_output(t, err);
    if (status == CNN_OK) status = cli_report_lost(o, t->output.sink, &o->watch->failed, err);
    if (status == CNN_OK) status = check_files(t, err);
    if (status == CNN_OK) status = cli_sessions_open(o, t->sweep, &t->sessions, err);
    if (status == CNN_OK && !o->plan) cli_say_warnings(&t->sessions);
    if (status == CNN_OK) status = cli_tuned_open(o, &t->sessions, false, &t->tuned, err);
    if (status == CNN_OK) status = cli_fitting(&t->sessions, &network->net, err);
    if (status == CNN_OK) status = open_data(t, &network->net, err);
    status = ranks_agree(t->ranks, status, err); /* before they compare: who cannot begin compares nothing */
    if (status == CNN_OK) status = train_ranks_data(t, err);
    if (status == CNN_OK) status = check_batches(t, err);
    if (status == CNN_OK) status = train_open_others(t, err);
    if (status == CNN_OK) status = make_curves(t, network, err);
    cnn_net_free(network);
    if (status == CNN_OK) status = cli_output_begin(o, &t->output, err);
    return status;
}
