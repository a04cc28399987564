/* optimizer_text.c: "adam,lr=0.001,l2=1e-4" <-> cnn_optimizer_desc. One table declares every option. */
#include "harness/base/text.h"
#include "names.h"
#include "op.h"
#include "problem.h"

#include <string.h>

/* The usual defaults: thesis section on Adam; momentum 0.9 and RMSProp 0.9 as in most frameworks. */
static const cnn_optimizer_desc defaults[CNN_OPTIMIZER_COUNT] = {
    [CNN_SGD] = {.kind = CNN_SGD, .lr = 0.01},
    [CNN_MOMENTUM] = {.kind = CNN_MOMENTUM, .lr = 0.01, .beta1 = 0.9},
    [CNN_ADAGRAD] = {.kind = CNN_ADAGRAD, .lr = 0.01, .eps = 1e-8},
    [CNN_RMSPROP] = {.kind = CNN_RMSPROP, .lr = 0.001, .beta2 = 0.9, .eps = 1e-8},
    [CNN_ADAM] = {.kind = CNN_ADAM, .lr = 0.001, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
};

static const char *const option_names[] = {"lr", "beta1", "beta2", "eps", "l1", "l2", "decay_steps"};
enum { OPTION_COUNT = sizeof option_names / sizeof option_names[0] };

static double *option_field(cnn_optimizer_desc *desc, int option)
{
    double *const fields[OPTION_COUNT] = {&desc->lr, &desc->beta1, &desc->beta2,      &desc->eps,
                                          &desc->l1, &desc->l2,    &desc->decay_steps};
    return fields[option];
}

cnn_status cnn_optimizer_parse(const char *text, cnn_optimizer_desc *desc, cnn_error *err)
{
    char copy[CNN_PROBLEM_TEXT_MAX], *rest = copy;
    if (strlen(text) >= sizeof copy) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "optimizer '%.64s...' is too long", text);
    strcpy(copy, text);

    const int kind = cnn_name_find(&cnn_optimizer_names, strsep(&rest, ","), err);
    if (kind < 0) return err->status;
    const cnn_optimizer_desc keep = *desc;
    *desc = defaults[kind];
    desc->t = keep.t;
    desc->count = keep.count;
    text_option options[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) options[i] = (text_option){option_names[i], option_field(desc, i), NULL};
    return text_options_parse("optimizer option", rest, options, OPTION_COUNT, err);
}

void cnn_optimizer_format(const cnn_optimizer_desc *desc, char text[CNN_PROBLEM_TEXT_MAX])
{
    cnn_optimizer_desc given = *desc, usual = defaults[desc->kind];
    snprintf(text, CNN_PROBLEM_TEXT_MAX, "%s", cnn_optimizer_name(desc->kind));
    for (int i = 0; i < OPTION_COUNT; i++) {
        const double value = *option_field(&given, i);
        char real[TEXT_REAL_MAX];
        if (value != *option_field(&usual, i))
            cnn_append(text, CNN_PROBLEM_TEXT_MAX, ",%s=%s", option_names[i], text_real(value, real));
    }
}
