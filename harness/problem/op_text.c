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

cnn_status op_parse_plain(const char *text, size_t start, const char *letters, desc_dims *d, cnn_error *err)
{
    cnn_status status = dims_parse(text, start, letters, d, err);
    return status == CNN_OK ? dims_deduce_plain(text, d, err) : status;
}

void op_put(op_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, CNN_PROBLEM_TEXT_MAX - w->used, format, args);
    va_end(args);
    if (n > 0) w->used += (size_t)n;
    if (w->used >= CNN_PROBLEM_TEXT_MAX) w->used = CNN_PROBLEM_TEXT_MAX - 1;
}

void op_put_number(op_writer *w, const char *letters, int64_t value) { op_put(w, "%s%lld", letters, (long long)value); }

void op_put_plain(op_writer *w, int64_t mb, int64_t ic, int64_t ih, int64_t iw)
{
    if (mb > 0) op_put_number(w, "mb", mb);
    if (ic > 0) op_put_number(w, "ic", ic);
    if (ih != 1 || iw != 1) op_put_number(w, "ih", ih);
    if (iw != ih) op_put_number(w, "iw", iw);
}
