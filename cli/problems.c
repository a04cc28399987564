/* problems.c: from words and files to problems. */
#include "cli.h"

#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/cnn/shape.h"

#include <errno.h>
#include <regex.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --mb's list; of none, one 0: each problem keeps its own. */
enum { BATCHES_MAX = 64 };
static cnn_status batches_of(const cli_options *o, int64_t list[BATCHES_MAX], int *count, cnn_error *err)
{
    list[0] = 0;
    *count = 1;
    return o->mb == NULL ? CNN_OK : cli_ints("mb", o->mb, 1, INT32_MAX, list, BATCHES_MAX, count, err);
}

/* The list's first; that it is one, cli_one_batch() says; what is wrong with an epilogue, cli_epilogue(). */
cnn_problem_defaults cli_problem_defaults(const cli_options *o, const cnn_type *type)
{
    int64_t batches[BATCHES_MAX];
    cnn_error err;
    int count;
    if (batches_of(o, batches, &count, &err) != CNN_OK) batches[0] = 0;
    cnn_problem_defaults d = {
        .type = *type, .no_bias = o->no_bias, .flip = strcmp(o->mode, "convolution") == 0, .mb = batches[0]};
    if (cli_epilogue(o, &d.epilogue, &err) != CNN_OK) d.epilogue = (cnn_epilogue){CNN_ACT_IDENTITY, false, 0.0};
    return d;
}

cnn_status cli_epilogue(const cli_options *o, cnn_epilogue *epilogue, cnn_error *err)
{
    *epilogue = (cnn_epilogue){CNN_ACT_IDENTITY, false, 0.0};
    if (o->epilogue == NULL) return CNN_OK;
    const cnn_status status = cnn_epilogue_parse(o->epilogue, epilogue, err);
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, CNN_BAD_ARGUMENT, "--epilogue: ");
}

cnn_status cli_one_batch(const cli_options *o, const char *what, cnn_error *err)
{
    int64_t batches[BATCHES_MAX];
    int count;
    const cnn_status status = batches_of(o, batches, &count, err);
    if (status != CNN_OK || count == 1) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--mb %.64s: %s", o->mb, what);
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
    e->op = problem->op;
    cnn_problem_format(problem, e->text);
    return CNN_OK;
}

/* ---- Problems and refusals of files. */

typedef struct gathered {
    problem_list *list;
    void *seen; /* a tree of texts */
    bool given;
} gathered;

static int compare_texts(const void *a, const void *b) { return strcmp(a, b); }

/* Whether it stands there for the first time. */
static bool is_new(gathered *g, const problem_entry *e)
{
    const cnn_type *t = &e->problem.u.type;
    char *text = NULL;
    if (asprintf(&text, "%d %d %d%d%d %d %d %d %u %d %s%s", e->op, e->refused, e->said.dtype, e->said.layout,
                 e->said.math, t->dtype, t->layout, t->math, e->said.dirs,
                 cnn_is_conv(&e->problem) ? e->problem.u.conv.bias : e->op == CNN_OP_FC && e->problem.u.fc.bias,
                 e->text, e->why) < 0)
        return true;
    char **found = tsearch(text, &g->seen, compare_texts);
    const bool fresh = found == NULL || *found == text;
    if (!fresh) free(text);
    return fresh;
}

static cnn_status add_word(void *user, const char *text, cnn_op op, const cnn_problem_said *said,
                           const cnn_problem *problem, cnn_error *err)
{
    gathered *g = user;
    const cnn_error why = *err;
    problem_entry *e;
    if (problem != NULL) {
        if (cli_put_problem(g->list, problem, err) != CNN_OK) return err->status;
        e = &g->list->items[g->list->count - 1];
        e->said = *said;
    } else {
        if (g->given) return err->status;
        e = add(g->list, err);
        if (e == NULL) return err->status;
        e->op = op;
        e->refused = true;
        e->malformed = why.status != CNN_UNSUPPORTED;
        snprintf(e->text, sizeof e->text, "%s", text);
        snprintf(e->why, sizeof e->why, "%s", why.message);
    }
    if (g->given)
        e->given = true;
    else if (!is_new(g, e))
        g->list->count--;
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

/* A word of --problem, braces apart. */
typedef struct given_word {
    gathered *g;
    cnn_op op;
    const cnn_problem_defaults *defaults;
} given_word;

static cnn_status add_given(void *user, const char *word, cnn_error *err)
{
    const given_word *w = user;
    cnn_status status = CNN_OK;
    if (cnn_problem_line(word, w->defaults, add_word, w->g, &status, err)) return status;
    return cli_add_problem(w->g->list, w->op, word, w->defaults, true, err);
}

/* All of --problem, then all of --problems, with one batch. */
static cnn_status read_with(const cli_options *o, cnn_op op, const cnn_problem_defaults *defaults, gathered *g,
                            cnn_error *err)
{
    given_word word = {g, op, defaults};
    cnn_status status = CNN_OK;
    g->given = true;
    for (int i = 0; status == CNN_OK && i < o->problem.count; i++)
        status = cli_expand(o->problem.items[i], add_given, &word, err);
    g->given = false;
    for (int i = 0; status == CNN_OK && i < o->problems.count; i++)
        status = cnn_problem_file(o->problems.items[i], op, o->op != NULL, defaults, add_word, g, err);
    return status;
}

cnn_status cli_read_problems(const cli_options *o, const cnn_type *type, problem_list *list, cnn_error *err)
{
    cnn_problem_defaults defaults = cli_problem_defaults(o, type);
    const uint32_t ops = cli_ops(o, err);
    gathered g = {.list = list};
    int64_t batches[BATCHES_MAX];
    int op = 0, count;
    if (ops == 0) return err->status;
    if (o->problem.count + o->problems.count > 0 && ops & (ops - 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--op %s: a descriptor belongs to one operation; name just that", o->op);
    while (!(ops & 1u << op)) op++;
    cnn_status status = cli_epilogue(o, &defaults.epilogue, err);
    if (status == CNN_OK) status = batches_of(o, batches, &count, err);
    for (int i = 0; status == CNN_OK && i < count; i++) {
        defaults.mb = batches[i];
        status = read_with(o, (cnn_op)op, &defaults, &g, err);
    }
    tdestroy(g.seen, free);
    return status;
}

static cnn_type type_of(const problem_entry *e, const cnn_type *asked)
{
    const cnn_type *own = &e->problem.u.type;
    cnn_type type = *asked;
    if (e->said.dtype) type.dtype = own->dtype;
    if (e->said.layout) type.layout = own->layout;
    if (e->said.math) type.math = own->math;
    return cnn_type_for(e->op, type);
}

bool cli_type_of(const problem_entry *e, const cli_type_set *set, int index, cnn_type *type)
{
    *type = type_of(e, &set->types[index]);
    for (int i = 0; i < index; i++) {
        const cnn_type other = type_of(e, &set->types[i]);
        if (other.dtype == type->dtype && other.layout == type->layout && other.math == type->math) return false;
    }
    return true;
}

uint32_t cli_dirs_of(const problem_entry *e, const cnn_type *type, uint32_t dirs)
{
    cnn_problem typed = e->problem;
    typed.u.type.dtype = CNN_F32;
    const uint32_t asked = dirs & cnn_op_dirs(&typed) & (e->said.dirs != 0 ? e->said.dirs : UINT32_MAX);
    if (type == NULL) return asked;
    typed.u.type = *type;
    return asked & cnn_op_dirs(&typed);
}

cnn_status cli_keep_matching(const cli_options *o, problem_list *list, cnn_error *err)
{
    regex_t match;
    char why[128];
    int kept = 0;
    if (o->match == NULL) return CNN_OK;
    const int code = regcomp(&match, o->match, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, &match, why, sizeof why);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match '%.128s' is no regular expression: %s", o->match, why);
    }
    for (int i = 0; i < list->count; i++)
        if (regexec(&match, list->items[i].text, 0, NULL, 0) == 0) list->items[kept++] = list->items[i];
    list->count = kept;
    regfree(&match);
    return CNN_OK;
}

cnn_status cli_take_standard_input(cli_options *o, cnn_error *err)
{
    char bytes[1 << 16];
    ssize_t count = 0;
    int at = 0;
    while (at < o->problems.count && strcmp(o->problems.items[at], "-") != 0) at++;
    if (at == o->problems.count) return CNN_OK;
    const int fd = memfd_create("standard input", 0);
    while (fd >= 0 && (count = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        if (write(fd, bytes, (size_t)count) != count) break;
    if (fd < 0 || count != 0)
        return CNN_FAIL(err, CNN_IO, "--problems -: standard input cannot be read: %s", strerror(errno));
    snprintf(o->standard_input, sizeof o->standard_input, "/proc/self/fd/%d", fd);
    o->problems.items[at] = o->standard_input;
    return CNN_OK;
}
