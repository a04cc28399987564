/* problem.c: text <-> problem for every operation, on top of the descriptor letters (dims.h). */
#include "problem.h"

#include "dims.h"
#include "names.h"
#include "shape.h"
#include "text_options.h"

#include <stdlib.h>
#include <string.h>

/* "kind:descriptor": copies what stands before the first colon (that is not in a name) and says where the rest starts.
 */
static bool split_kind(const char *text, char *kind, size_t size, size_t *start)
{
    const char *colon = strchr(text, ':'), *quote = strchr(text, '"');
    if (colon == NULL || (quote != NULL && quote < colon) || (size_t)(colon - text) >= size) return false;
    snprintf(kind, size, "%.*s", (int)(colon - text), text);
    *start = (size_t)(colon - text) + 1;
    return true;
}

static cnn_status needs_kind(const char *text, const char *example, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': a kind and a colon are needed in front, as in '%s'",
                    text, example);
}

/* A window's descriptor: its fields of both axes. */
#define AXES(h, w)                                                                                                     \
    .ih = (h).i, .oh = (h).o, .kh = (h).k, .sh = (h).s, .ph = (h).p, .dh = (h).d, .ph_r = (h).p_r, .iw = (w).i,        \
    .ow = (w).o, .kw = (w).k, .sw = (w).s, .pw = (w).p, .dw = (w).d, .pw_r = (w).p_r

static cnn_status parse_conv(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                             cnn_error *err)
{
    const char *letters = "g mb ic id ih iw oc od oh ow kd kh kw sd sh sw pd ph pw dd dh dw";
    cnn_status status;
    if ((status = dims_parse(text, 0, letters, d, err)) != CNN_OK) return status;
    if ((status = dims_deduce_windows(text, d, err)) != CNN_OK) return status;
    p->u.conv = (cnn_conv_desc){.t = defaults->type,
                                .g = d->g,
                                .mb = d->mb,
                                .ic = d->ic,
                                .oc = d->oc,
                                AXES(d->height, d->width),
                                .bias = !defaults->no_bias,
                                .flip = defaults->flip};
    return CNN_OK;
}

static cnn_status parse_pool(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    char kind[CNN_NAME_MAX];
    size_t start;
    cnn_status status;
    if (!split_kind(text, kind, sizeof kind, &start)) return needs_kind(text, "max:mb2ic16ih8kh2sh2", err);
    const int index = cnn_name_find(&cnn_pool_names, kind, err);
    if (index < 0) return err->status;
    const bool global = index == CNN_POOL_GLOBAL_AVG;
    const char *letters = global ? "mb ic ih iw" : "mb ic ih iw oh ow kh kw sh sw ph pw dh dw";
    if ((status = dims_parse(text, start, letters, d, err)) != CNN_OK) return status;
    if (global) {
        d->height.k = d->height.i;
        d->width.k = d->width.i;
    }
    if ((status = dims_deduce_windows(text, d, err)) != CNN_OK) return status;
    p->u.pool =
        (cnn_pool_desc){.t = *type, .kind = (cnn_pool_kind)index, .mb = d->mb, .ic = d->ic, AXES(d->height, d->width)};
    return CNN_OK;
}

static cnn_status parse_plain(const char *text, size_t start, const char *letters, desc_dims *d, cnn_error *err)
{
    cnn_status status = dims_parse(text, start, letters, d, err);
    return status == CNN_OK ? dims_deduce_plain(text, d, err) : status;
}

static cnn_status parse_act(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    static const double usual_alpha[CNN_ACT_COUNT] = {
        [CNN_ACT_LEAKY_RELU] = 0.01, [CNN_ACT_CLIPPED_RELU] = 6, [CNN_ACT_ELU] = 1};
    char kind[CNN_NAME_MAX];
    size_t start;
    if (!split_kind(text, kind, sizeof kind, &start)) return needs_kind(text, "leaky_relu=0.01:mb2ic20ih16", err);
    char *equals = strchr(kind, '=');
    if (equals != NULL) *equals = '\0';
    const int index = cnn_name_find(&cnn_act_names, kind, err);
    if (index < 0) return err->status;
    double alpha = usual_alpha[index];
    if (equals != NULL && (usual_alpha[index] == 0 || !text_real_parse(equals + 1, &alpha)))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': %s takes no parameter '%s'", text, kind,
                        equals + 1);
    cnn_status status = parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    p->u.act = (cnn_act_desc){.t = *type,
                              .kind = (cnn_act_kind)index,
                              .alpha = alpha,
                              .mb = d->mb,
                              .ic = d->ic,
                              .ih = d->height.i,
                              .iw = d->width.i};
    return CNN_OK;
}

/* "RATE,seed=N" or "inference,rate=...". */
static cnn_status parse_dropout(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX], *rest = words;
    size_t start;
    cnn_dropout_desc desc = {.t = *type, .rate = CNN_DROPOUT_RATE, .seed = CNN_DROPOUT_SEED};
    const text_option options[] = {{"rate", &desc.rate, NULL}, {"seed", NULL, &desc.seed}};
    if (!split_kind(text, words, sizeof words, &start)) return needs_kind(text, "0.2:mb2ic20ih16", err);
    const char *rate = strsep(&rest, ",");
    desc.inference = strcmp(rate, "inference") == 0;
    if (!desc.inference && !text_real_parse(rate, &desc.rate))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' is no dropout rate", text, rate);
    cnn_status status = text_options_parse("dropout option", rest, options, 2, err);
    if (status == CNN_OK) status = parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    desc.mb = d->mb;
    desc.ic = d->ic;
    desc.ih = d->height.i;
    desc.iw = d->width.i;
    p->u.dropout = desc;
    return CNN_OK;
}

static cnn_status parse_concat(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    char list[CNN_NAME_MAX], *at = list;
    size_t start;
    cnn_concat_desc desc = {.t = *type};
    if (!split_kind(text, list, sizeof list, &start)) return needs_kind(text, "3+5+7:mb2ih16", err);
    do {
        char *end;
        const long long channels = strtoll(at, &end, 10);
        if (end == at || (*end != '+' && *end != '\0') || desc.n_inputs == CNN_MAX_INPUTS)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%s' is no list of up to %d channel counts",
                            text, list, CNN_MAX_INPUTS);
        desc.ic[desc.n_inputs++] = channels;
        at = *end == '+' ? end + 1 : NULL;
    } while (at != NULL);
    cnn_status status = parse_plain(text, start, "mb ih iw", d, err);
    if (status != CNN_OK) return status;
    desc.mb = d->mb;
    desc.ih = d->height.i;
    desc.iw = d->width.i;
    p->u.concat = desc;
    return CNN_OK;
}

/* "inference", options, or both in front of a colon; or nothing. */
static cnn_status parse_batchnorm(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    static const char inference[] = "inference";
    char words[CNN_PROBLEM_TEXT_MAX], *rest = words;
    const size_t length = sizeof inference - 1;
    size_t start = 0;
    cnn_batchnorm_desc desc = {.t = *type, .eps = CNN_BATCHNORM_EPS, .momentum = CNN_BATCHNORM_MOMENTUM};
    const text_option options[] = {{"eps", &desc.eps, NULL}, {"momentum", &desc.momentum, NULL}};
    cnn_status status = CNN_OK;
    if (split_kind(text, words, sizeof words, &start)) {
        desc.inference = strncmp(words, inference, length) == 0 && (words[length] == ',' || words[length] == '\0');
        if (desc.inference) strsep(&rest, ",");
        if (!desc.inference && strchr(words, '=') == NULL)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' should be 'inference' or an option",
                            text, words);
        status = text_options_parse("batch norm option", rest, options, 2, err);
    }
    if (status == CNN_OK) status = parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    desc.mb = d->mb;
    desc.ic = d->ic;
    desc.ih = d->height.i;
    desc.iw = d->width.i;
    p->u.batchnorm = desc;
    return CNN_OK;
}

static cnn_status parse_optimizer(const char *text, const cnn_type *type, cnn_problem *p, desc_dims *d, cnn_error *err)
{
    char kind[CNN_PROBLEM_TEXT_MAX];
    size_t start;
    if (!split_kind(text, kind, sizeof kind, &start)) return needs_kind(text, "adam:ic1000", err);
    cnn_status status = cnn_optimizer_parse(kind, &p->u.optimizer, err);
    if (status == CNN_OK) status = parse_plain(text, start, "ic", d, err);
    if (status != CNN_OK) return status;
    p->u.optimizer.t = *type;
    p->u.optimizer.count = d->ic;
    return CNN_OK;
}

static cnn_status parse_op(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                           cnn_error *err)
{
    const cnn_type *type = &defaults->type;
    cnn_status status;
    switch (p->op) {
    case CNN_OP_CONV:
        return parse_conv(text, defaults, p, d, err);
    case CNN_OP_POOL:
        return parse_pool(text, type, p, d, err);
    case CNN_OP_ACT:
        return parse_act(text, type, p, d, err);
    case CNN_OP_DROPOUT:
        return parse_dropout(text, type, p, d, err);
    case CNN_OP_CONCAT:
        return parse_concat(text, type, p, d, err);
    case CNN_OP_BATCHNORM:
        return parse_batchnorm(text, type, p, d, err);
    case CNN_OP_OPTIMIZER:
        return parse_optimizer(text, type, p, d, err);
    case CNN_OP_FC:
        if ((status = parse_plain(text, 0, "mb ic id ih iw oc", d, err)) != CNN_OK) return status;
        p->u.fc = (cnn_fc_desc){.t = *type,
                                .mb = d->mb,
                                .ic = d->ic,
                                .ih = d->height.i,
                                .iw = d->width.i,
                                .oc = d->oc,
                                .bias = !defaults->no_bias};
        return CNN_OK;
    case CNN_OP_LOSS:
        if ((status = parse_plain(text, 0, "mb ic", d, err)) != CNN_OK) return status;
        p->u.loss = (cnn_loss_desc){.t = *type, .mb = d->mb, .ic = d->ic};
        return CNN_OK;
    case CNN_OP_ADD:
        if ((status = parse_plain(text, 0, "mb ic ih iw", d, err)) != CNN_OK) return status;
        p->u.add = (cnn_add_desc){.t = *type, .mb = d->mb, .ic = d->ic, .ih = d->height.i, .iw = d->width.i};
        return CNN_OK;
    case CNN_OP_COUNT:
        break;
    }
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)p->op);
}

/* Of an operation that has one. */
static void set_batch(cnn_problem *p, int64_t mb)
{
    int64_t *const batches[CNN_OP_COUNT] = {
        [CNN_OP_CONV] = &p->u.conv.mb, [CNN_OP_FC] = &p->u.fc.mb,         [CNN_OP_POOL] = &p->u.pool.mb,
        [CNN_OP_ACT] = &p->u.act.mb,   [CNN_OP_LOSS] = &p->u.loss.mb,     [CNN_OP_DROPOUT] = &p->u.dropout.mb,
        [CNN_OP_ADD] = &p->u.add.mb,   [CNN_OP_CONCAT] = &p->u.concat.mb, [CNN_OP_BATCHNORM] = &p->u.batchnorm.mb};
    if (batches[p->op] != NULL) *batches[p->op] = mb;
}

cnn_status cnn_problem_parse(cnn_op op, const char *text, const cnn_problem_defaults *defaults, cnn_problem *problem,
                             cnn_error *err)
{
    desc_dims dims;
    memset(problem, 0, sizeof *problem);
    problem->op = op;
    if (strlen(text) >= CNN_PROBLEM_TEXT_MAX)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "the descriptor '%.64s...' is longer than %d characters", text,
                        CNN_PROBLEM_TEXT_MAX - 1);
    cnn_status status = parse_op(text, defaults, problem, &dims, err);
    if (status != CNN_OK) return status;
    memcpy(problem->name, dims.name, sizeof problem->name);
    if (defaults->mb != 0) set_batch(problem, defaults->mb);
    status = cnn_problem_check(problem, err);
    if (status == CNN_OK) return CNN_OK;
    const cnn_error why = *err;
    return CNN_FAIL(err, why.status, "bad descriptor '%.200s': %.250s", text, why.message);
}
