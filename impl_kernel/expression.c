/* expression.c: recursive descent, straight from the text to the value: sums of products of signed primaries. */
#include "impl_kernel/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, NAME_MOST = 64 };

typedef struct parser {
    const char *what, *text, *at;
    const expr_scope *scope;
    cnn_error *err;
    int depth;
    bool failed;
} parser;

static int64_t sum(parser *p);

/* No value: the first reason is kept. */
static int64_t fail(parser *p, cnn_status status, const char *why)
{
    if (!p->failed) CNN_FAIL(p->err, status, "%s '%.200s': %s", p->what, p->text, why);
    p->failed = true;
    return 1;
}

/* Something is missing at this place of the text. */
static int64_t misses(parser *p, const char *what)
{
    char why[CNN_MESSAGE_MAX];
    if (*p->at != '\0')
        snprintf(why, sizeof why, "%s is missing before '%.40s'", what, p->at);
    else
        snprintf(why, sizeof why, "%s is missing at its end", what);
    return fail(p, CNN_BAD_ARGUMENT, why);
}

static bool take(parser *p, char c)
{
    while (isspace((unsigned char)*p->at)) p->at++;
    if (*p->at != c) return false;
    p->at++;
    return true;
}

/* ---- Values. */

static int64_t divide(parser *p, char op, int64_t a, int64_t b)
{
    int64_t up;
    if (p->scope->dry) return 1;
    if (b == 0)
        return fail(p, CNN_UNSUPPORTED, op == '%' ? "the remainder of a division by zero" : "a division by zero");
    if (b == -1)
        return __builtin_sub_overflow(0, op == '%' ? 0 : a, &up) ? fail(p, CNN_OVERFLOW, "more than 64 bits") : up;
    if (op == '%') return a % b;
    return a / b + (op == '^' && a % b != 0 && (a < 0) == (b < 0)); /* '^': rounded up */
}

static int64_t combine(parser *p, char op, int64_t a, int64_t b)
{
    int64_t result = 1;
    bool over = false;
    if (p->failed) return 1;
    switch (op) {
    case '+':
        over = __builtin_add_overflow(a, b, &result);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, &result);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, &result);
        break;
    case '<':
        return a < b ? a : b;
    case '>':
        return a > b ? a : b;
    default:
        return divide(p, op, a, b);
    }
    return over && !p->scope->dry ? fail(p, CNN_OVERFLOW, "more than 64 bits") : result;
}

/* ---- Grammar. */

static int64_t number(parser *p)
{
    char *end;
    errno = 0;
    const int64_t value = strtoll(p->at, &end, 10);
    if (errno == ERANGE) return fail(p, CNN_OVERFLOW, "a number of more than 64 bits");
    p->at = end;
    return value;
}

/* Behind "NAME(". */
static int64_t function(parser *p, const char *name)
{
    static const struct {
        const char *name;
        char op;
    } table[] = {{"cdiv", '^'}, {"ceil", '^'}, {"min", '<'}, {"max", '>'}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(name, table[i].name) != 0) continue;
        const int64_t a = sum(p);
        if (!take(p, ',')) return misses(p, "the ',' between two values of cdiv, ceil, min or max");
        const int64_t b = sum(p);
        if (!take(p, ')')) return misses(p, "a ')'");
        return combine(p, table[i].op, a, b);
    }
    char why[CNN_MESSAGE_MAX];
    snprintf(why, sizeof why, "there is no function '%s'; there are cdiv, ceil, min, max", name);
    return fail(p, CNN_BAD_ARGUMENT, why);
}

static int64_t named(parser *p)
{
    char name[NAME_MOST], why[CNN_MESSAGE_MAX];
    size_t length = 0;
    int64_t value = 1;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') length++;
    if (length == 0 || length >= sizeof name) return misses(p, "a number, a name or a '('");
    memcpy(name, p->at, length);
    name[length] = '\0';
    p->at += length;
    if (take(p, '(')) return function(p, name);
    if (p->failed || p->scope->find(p->scope->user, name, &value)) return value;
    snprintf(why, sizeof why, "there is no '%s'; there are %.300s", name, p->scope->known);
    return fail(p, CNN_BAD_ARGUMENT, why);
}

static int64_t primary(parser *p)
{
    if (take(p, '-')) {
        const int64_t value =
            ++p->depth < DEPTH_MOST ? primary(p) : fail(p, CNN_BAD_ARGUMENT, "it is nested too deeply");
        p->depth--;
        return combine(p, '-', 0, value);
    }
    if (!take(p, '(')) return isdigit((unsigned char)*p->at) ? number(p) : named(p);
    const int64_t value = sum(p);
    return take(p, ')') || p->failed ? value : misses(p, "a ')'");
}

static int64_t product(parser *p)
{
    int64_t value = primary(p);
    while (!p->failed) {
        const char op = take(p, '*') ? '*' : take(p, '/') ? '/' : take(p, '%') ? '%' : '\0';
        if (op == '\0') break;
        value = combine(p, op, value, primary(p));
    }
    return value;
}

static int64_t sum(parser *p)
{
    if (++p->depth >= DEPTH_MOST) return fail(p, CNN_BAD_ARGUMENT, "it is nested too deeply");
    int64_t value = product(p);
    while (!p->failed) {
        const char op = take(p, '+') ? '+' : take(p, '-') ? '-' : '\0';
        if (op == '\0') break;
        value = combine(p, op, value, product(p));
    }
    p->depth--;
    return value;
}

cnn_status expr_eval(const char *what, const char *text, const expr_scope *scope, int64_t *values, int most, int *count,
                     cnn_error *err)
{
    parser p = {.what = what, .text = text, .at = text, .scope = scope, .err = err};
    *count = 0;
    do {
        if (*count == most)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s '%.200s': more than %d value%s", what, text, most,
                            most == 1 ? "" : "s");
        values[(*count)++] = sum(&p);
    } while (!p.failed && take(&p, ','));
    if (!p.failed && *p.at != '\0') misses(&p, "an operator or a ','");
    return p.failed ? err->status : CNN_OK;
}
