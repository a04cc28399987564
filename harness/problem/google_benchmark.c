/* google_benchmark.c: sources with problems for Google Benchmark, as XNNPACK's: ArgNames({"N", "H", ...}) names the
 * columns of the lines Args({1, 224, ...}) behind it. PH and PW are the padding of both sides together, of which the
 * left gets the smaller half; D is 1 where taps are dense. */
#include "foreign.h"

#include <string.h>

static const char names_are[] = "ArgNames({", values_are[] = "Args({";

bool google_benchmark_is(const char *line)
{
    return strstr(line, names_are) != NULL || strstr(line, values_are) != NULL;
}

static void take_names(google_benchmark *state, const char *text)
{
    state->count = 0;
    for (const char *at = strchr(text, '"'); at != NULL && state->count < GOOGLE_COLUMNS;) {
        const char *end = strchr(at + 1, '"');
        if (end == NULL) break;
        snprintf(state->names[state->count++], sizeof *state->names, "%.*s", (int)(end - at - 1), at + 1);
        at = strchr(end + 1, '"');
    }
}

/* The number in the column of this name, or what it is where there is none. */
static int64_t value_of(const google_benchmark *state, const int64_t *values, const char *name, int64_t without)
{
    for (int i = 0; i < state->count; i++)
        if (strcmp(state->names[i], name) == 0) return values[i];
    return without;
}

static void put_axis(const google_benchmark *state, const int64_t *v, char letter, bool transposed, dims_axis *a)
{
    const char k[] = {'K', letter, 0}, p[] = {'P', letter, 0}, s[] = {'S', letter, 0}, i[] = {letter, 0};
    const int64_t pad = value_of(state, v, p, 0), stride = value_of(state, v, "S", 1);
    *a = (dims_axis){.i = value_of(state, v, i, 0),
                     .k = value_of(state, v, k, 0),
                     .s = value_of(state, v, s, stride),
                     .d = value_of(state, v, "D", 1) - 1,
                     .p = pad / 2};
    const int64_t extent = (a->k - 1) * (a->d + 1) + 1;
    if (a->s > 0) a->o = (a->i + pad - extent) / a->s + 1;
    if (transposed) a->o = (a->i - 1) * a->s + value_of(state, v, "A", 0) + extent - pad;
}

static void put_words(const google_benchmark *state, const int64_t *v, problem_words *words)
{
    const int64_t group = value_of(state, v, "G", 1);
    const bool transposed = value_of(state, v, "A", -1) >= 0;
    desc_dims d = {.g = group, .mb = value_of(state, v, "N", 1)};
    d.ic = value_of(state, v, "Cin", group * value_of(state, v, "GCin", 1));
    d.oc = value_of(state, v, "Cout", group * value_of(state, v, "GCout", 1));
    put_axis(state, v, 'H', transposed, &d.height);
    put_axis(state, v, 'W', transposed, &d.width);
    words->op = transposed ? CNN_OP_DECONV : CNN_OP_CONV;
    words->said.dirs = 1u << CNN_FWD;
    if (d.height.k > 0 && d.width.k > 0) {
        foreign_letters(&d, words->text);
        return;
    }
    words->op = CNN_OP_COUNT;
    snprintf(words->why_not, sizeof words->why_not, "its columns are not those of a convolution (H, W, KH, KW ...)");
}

cnn_status google_benchmark_read(google_benchmark *state, problem_reader *reader, const char *line, cnn_error *err)
{
    int64_t values[GOOGLE_COLUMNS];
    problem_words words = {.op = CNN_OP_COUNT};
    const char *end, *at = strstr(line, names_are);
    if (at != NULL) return take_names(state, at), CNN_OK;
    at = strstr(line, values_are) + strlen(values_are);
    const int count = foreign_numbers(at + strspn(at, " "), ',', values, GOOGLE_COLUMNS, &end);
    if (count == state->count && count > 0 && *end == '}')
        put_words(state, values, &words);
    else
        snprintf(words.why_not, sizeof words.why_not, "it has %d numbers for %d columns", count, state->count);
    return problem_give(reader, line + strspn(line, " "), &words, err);
}
