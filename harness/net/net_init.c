/* net_init.c: `init` lines of a network's text: how the weights of the layers behind it begin. */
#include "harness/problem/names.h"
#include "net_parse.h"

#include <string.h>

/* `init uniform A [bias=]`, or with two bounds. */
static cnn_status read_uniform(net_builder *b, cnn_error *err)
{
    const net_line *line = b->line;
    net_init *init = &b->init;
    int64_t biases = 0;
    const net_option options[] = {{.key = "bias", .integer = &biases}};
    if (line->count < 3) return NET_FAIL(line, err, "expected init uniform A, or init uniform LOW HIGH");
    const bool two = line->count > 3 && strchr(line->words[3], '=') == NULL;
    cnn_status status = net_word_real(line, "init uniform", line->words[2], &init->high, err);
    if (status != CNN_OK) return status;
    if (!two && init->high < 0.0) return NET_FAIL(line, err, "init uniform %g: must not be negative", init->high);
    init->low = two ? init->high : -init->high;
    if (two) status = net_word_real(line, "init uniform", line->words[3], &init->high, err);
    if (status == CNN_OK) status = net_read_options(line, two ? 4 : 3, options, NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (biases > 1) return NET_FAIL(line, err, "bias is %lld, but must be 0 or 1", (long long)biases);
    init->biases = biases == 1;
    if (init->low <= init->high) return CNN_OK;
    return NET_FAIL(line, err, "init uniform %g %g: give the lower bound first", init->low, init->high);
}

cnn_status net_read_init(net_builder *b, cnn_error *err)
{
    static const char *const names[NET_INIT_COUNT] = {"default", "kaiming", "kaiming_uniform", "xavier", "uniform"};
    const cnn_name_set set = {"kind of init", names, NET_INIT_COUNT};
    cnn_error why;
    const int kind = cnn_name_find(&set, b->line->words[1], &why);
    if (kind < 0) return NET_FAIL(b->line, err, "%s", why.message);
    b->init = (net_init){.kind = (net_init_kind)kind};
    if (kind == NET_INIT_UNIFORM) return read_uniform(b, err);
    return b->line->count == 2 ? CNN_OK : NET_FAIL(b->line, err, "init %s takes nothing more", names[kind]);
}
