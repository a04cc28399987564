/* op_text.c: what the operations share of reading and printing a descriptor. */
#include "op.h"

#include <string.h>

bool op_split_kind(const char *text, char *kind, size_t size, size_t *start)
{
    const char *colon = strchr(text, ':'), *quote = strchr(text, '"');
    /* A colon in a name is none. */
    if (colon == NULL || (quote != NULL && quote < colon) || (size_t)(colon - text) >= size) return false;
    snprintf(kind, size, "%.*s", (int)(colon - text), text);
    *start = (size_t)(colon - text) + 1;
    return true;
}

cnn_status op_needs_kind(const char *text, const char *example, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': a kind and a colon are needed in front, as in '%s'",
                    text, example);
}

void op_put_number(char *text, const char *letters, int64_t value)
{
    op_put(text, "%s%lld", letters, (long long)value);
}

cnn_quantization op_quantization(const desc_dims *d)
{
    return (cnn_quantization){.zero_x = (int16_t)d->zx, .zero_y = (int16_t)d->zy, .per_oc = d->soc != 0};
}

void op_put_quantization(char *text, const cnn_quantization *quant)
{
    if (quant->zero_x != 0) op_put_number(text, "zx", quant->zero_x);
    if (quant->zero_y != 0) op_put_number(text, "zy", quant->zero_y);
    if (quant->per_oc) op_put_number(text, "soc", 1);
}

/* The sizes that an operation without windows has, in the order in which they are printed. */
enum { SIZES = 5 };
typedef struct size_row {
    const char *letters;
    size_t at;
} size_row;

static void sizes_of(const op_row *row, size_row sizes[SIZES])
{
    const op_place *at = &row->at;
    const size_row all[SIZES] = {{"mb", at->mb}, {"ic", at->ic}, {"ih", at->ih}, {"iw", at->iw}, {"oc", at->oc}};
    memcpy(sizes, all, sizeof all);
}

/* Its letters, and depth: rows of all depths lie behind one another, so they count as height. */
static cnn_status parse_sizes(const op_row *row, const char *text, size_t start, cnn_problem *p, desc_dims *d,
                              cnn_error *err)
{
    size_row sizes[SIZES];
    char letters[64];
    const int64_t *const given[SIZES] = {&d->mb, &d->ic, &d->height.i, &d->width.i, &d->oc};
    sizes_of(row, sizes);
    snprintf(letters, sizeof letters, "%s", row->at.ih != 0 ? "id" : "");
    for (int i = 0; i < SIZES; i++)
        if (sizes[i].at != 0) cnn_append(letters, sizeof letters, " %s", sizes[i].letters);
    if (row->at.quant != 0) cnn_append(letters, sizeof letters, " " OP_QUANT_LETTERS);
    cnn_status status = dims_parse(text, start, letters, d, err);
    if (status == CNN_OK && row->at.quant != 0) {
        const cnn_quantization quant = op_quantization(d);
        memcpy((char *)p + row->at.quant, &quant, sizeof quant);
    }
    if (status == CNN_OK) status = dims_deduce_plain(text, d, err);
    for (int i = 0; status == CNN_OK && i < SIZES; i++)
        if (sizes[i].at != 0) memcpy((char *)p + sizes[i].at, given[i], sizeof *given[i]);
    return status;
}

cnn_status op_parse(const op_row *row, const char *text, const cnn_problem_defaults *defaults, cnn_problem *p,
                    desc_dims *d, cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX];
    size_t start = 0;
    if (row->parse != NULL) return row->parse(text, defaults, p, d, err);
    const bool any = row->format != NULL && op_split_kind(text, words, sizeof words, &start);
    if (!any && row->example != NULL) return op_needs_kind(text, row->example, err);
    p->u.type = cnn_type_for(p->op, defaults->type);
    const cnn_status status = row->read != NULL ? row->read(text, any ? words : NULL, defaults, p, err) : CNN_OK;
    return status == CNN_OK ? parse_sizes(row, text, start, p, d, err) : status;
}

/* "mb2ic20ih16iw8oc10": 1 x 1 and iw = ih are left out. */
void op_format(const op_row *row, char *text, const cnn_problem *p)
{
    size_row sizes[SIZES];
    int64_t values[SIZES] = {0, 0, 1, 1, 0};
    if (row->format != NULL) row->format(text, p);
    if (row->parse != NULL) return;
    if (text[0] != '\0') op_put(text, ":");
    sizes_of(row, sizes);
    for (int i = 0; i < SIZES; i++)
        if (sizes[i].at != 0) memcpy(&values[i], (const char *)p + sizes[i].at, sizeof values[i]);
    const bool left_out[SIZES] = {false, false, values[2] == 1 && values[3] == 1, values[2] == values[3], false};
    for (int i = 0; i < SIZES; i++)
        if (sizes[i].at != 0 && !left_out[i]) op_put_number(text, sizes[i].letters, values[i]);
    cnn_quantization quant = {0, 0, false};
    if (row->at.quant != 0) memcpy(&quant, (const char *)p + row->at.quant, sizeof quant);
    op_put_quantization(text, &quant);
}

cnn_status op_check(const op_row *row, const cnn_problem *p, cnn_error *err)
{
    size_row sizes[SIZES];
    cnn_status status = row->check != NULL ? row->check(p, err) : CNN_OK;
    sizes_of(row, sizes);
    for (int i = 0; status == CNN_OK && row->parse == NULL && row->at.mb != 0 && i < SIZES; i++) {
        op_size size = {sizes[i].letters, 1, 1};
        if (sizes[i].at != 0) memcpy(&size.value, (const char *)p + sizes[i].at, sizeof size.value);
        status = op_check_sizes(&size, 1, err);
    }
    return status;
}
