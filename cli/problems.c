/* problems.c: from words and files to problems. */
#include "cli.h"

#include "harness/base/grow.h"

#include <string.h>

cnn_problem_defaults cli_problem_defaults(const cli_options *o, const cnn_type *type)
{
    return (cnn_problem_defaults){
        .type = *type, .no_bias = o->no_bias, .flip = strcmp(o->mode, "convolution") == 0, .mb = o->mb};
}

static problem_entry *add(problem_list *list, cnn_error *err)
{
    return cnn_add_item(&list->items, &list->count, &list->capacity, sizeof *list->items, "problems", err);
}

cnn_status cli_put_problem(problem_list *list, const cnn_problem *problem, cnn_error *err)
{
    problem_entry *e = add(list, err);
    if (e == NULL) return err->status;
    e->problem = *problem;
    cnn_problem_format(problem, e->text);
    return CNN_OK;
}

static cnn_status add_word(void *user, const char *text, const cnn_problem *problem, cnn_error *err)
{
    const cnn_error why = *err;
    if (problem != NULL) return cli_put_problem(user, problem, err);
    problem_entry *e = add(user, err);
    if (e == NULL) return err->status;
    e->refused = true;
    e->malformed = why.status != CNN_UNSUPPORTED;
    snprintf(e->text, sizeof e->text, "%s", text);
    snprintf(e->why, sizeof e->why, "%s", why.message);
    return CNN_OK;
}

cnn_status cli_add_problem(problem_list *list, cnn_op op, const char *text, const cnn_problem_defaults *defaults,
                           bool given, cnn_error *err)
{
    cnn_problem problem;
    cnn_status status = cnn_problem_parse(op, text, defaults, &problem, err);
    if (status == CNN_OK) status = cli_put_problem(list, &problem, err);
    if (status == CNN_OK) list->items[list->count - 1].given = given;
    return status;
}

cnn_status cli_read_problems(const cli_options *o, cnn_op op, const cnn_problem_defaults *defaults, problem_list *list,
                             cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < o->problem.count; i++)
        status = cli_add_problem(list, op, o->problem.items[i], defaults, true, err);
    for (int i = 0; status == CNN_OK && i < o->problems.count; i++)
        status = cnn_problem_file(o->problems.items[i], op, defaults, add_word, list, err);
    return status;
}
