/* net_repeat.c: `repeat N ... end` in a network's text: the lines between are read N times, one pass behind the other.
 *
 * Layers count on from pass to pass, so their names stay unique. Names that a pass gave to values are gone at its end,
 * so the next pass may give them again. */
#include "net_parse.h"

#include <string.h>

/* Lines in repeats, of which any number may make no layer: more than a network of NET_MAX_LAYERS needs. */
enum { MAX_REPEATED = 64 * NET_MAX_LAYERS };

cnn_status net_read_repeat(net_builder *b, cnn_error *err)
{
    net_repeats *r = &b->repeats;
    int64_t passes;
    const cnn_status status = net_word_int(b->line, "the number of passes", b->line->words[1], 1, &passes, err);
    if (status != CNN_OK) return status;
    if (passes > NET_MAX_LAYERS)
        return NET_FAIL(b->line, err, "repeat %lld: a network has at most %d layers", (long long)passes,
                        NET_MAX_LAYERS);
    if (r->depth == NET_MAX_NESTED)
        return NET_FAIL(b->line, err, "more than %d repeats in one another", NET_MAX_NESTED);
    r->open[r->depth++] = (struct net_repeat){.body = b->text, .number = b->line->number, .pass = 1, .passes = passes};
    return CNN_OK;
}

static void forget_names(net_builder *b)
{
    for (int i = 0; i < b->network->net.n_values; i++)
        if (b->states[i].depth >= b->repeats.depth) b->states[i].forgotten = true;
}

cnn_status net_read_end(net_builder *b, cnn_error *err)
{
    net_repeats *r = &b->repeats;
    if (r->depth == 0) return NET_FAIL(b->line, err, "`end`, but no `repeat N` is open");
    struct net_repeat *innermost = &r->open[r->depth - 1];
    forget_names(b);
    if (innermost->pass++ < innermost->passes) {
        b->text = innermost->body;
        b->number = innermost->number + 1;
    } else {
        r->depth--;
    }
    return CNN_OK;
}

cnn_status net_repeat_count(net_builder *b, cnn_error *err)
{
    if (b->repeats.depth == 0 || b->repeats.lines++ < MAX_REPEATED) return CNN_OK;
    return NET_FAIL(b->line, err, "the repeats come to more than %d lines", MAX_REPEATED);
}

cnn_status net_repeat_finish(const net_builder *b, const char *file, cnn_error *err)
{
    if (b->repeats.depth == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: this repeat has no `end`", file,
                    b->repeats.open[b->repeats.depth - 1].number);
}
