/* problems.c: from words and files to problems. */
#include "problems.h"

#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static cnn_status add_problem(problem_list *list, const char *text, const cnn_problem *problem, const cnn_error *why,
                              bool given, cnn_error *err)
{
    if (list->count == list->capacity) {
        int64_t capacity = list->capacity > 0 ? 2 * list->capacity : 32;
        struct problem_entry *items = realloc(list->items, (size_t)capacity * sizeof *items);
        if (items == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the list of problems");
        list->items = items;
        list->capacity = capacity;
    }
    struct problem_entry *e = &list->items[list->count++];
    *e = (struct problem_entry){.refused = problem == NULL, .given = given};
    if (problem != NULL) {
        e->problem = *problem;
        cnn_problem_format(problem, e->text);
    } else {
        snprintf(e->text, sizeof e->text, "%s", text);
        snprintf(e->why, sizeof e->why, "%s", why->message);
        e->malformed = why->status != CNN_UNSUPPORTED;
    }
    return CNN_OK;
}

static cnn_status each_in_file(void *user, const char *text, const cnn_problem *problem, cnn_error *err)
{
    cnn_error why = *err;
    return add_problem(user, text, problem, &why, false, err);
}

cnn_status verify_list_problems(const cli_options *o, cnn_op op, const cnn_type *type, problem_list *list,
                                cnn_error *err)
{
    const cnn_problem_defaults defaults = {
        .type = *type, .no_bias = o->no_bias, .flip = strcmp(o->mode, "convolution") == 0, .mb = o->mb};
    bool given = o->problem.count + o->problems.count > 0;
    cnn_status status = CNN_OK;
    cnn_problem problem;
    list->count = 0;
    for (int i = 0; status == CNN_OK && i < o->problem.count; i++) {
        status = cnn_problem_parse(op, o->problem.items[i], &defaults, &problem, err);
        if (status == CNN_OK) status = add_problem(list, o->problem.items[i], &problem, NULL, true, err);
    }
    for (int i = 0; status == CNN_OK && i < o->problems.count; i++)
        status = cnn_problem_file(o->problems.items[i], op, &defaults, each_in_file, list, err);
    for (int i = 0; status == CNN_OK && !given && i < verify_default_count(op); i++) {
        status = cnn_problem_parse(op, verify_default_text(op, i), &defaults, &problem, err);
        if (status == CNN_OK) status = add_problem(list, verify_default_text(op, i), &problem, NULL, false, err);
    }
    return status;
}
