/* mock_streams.c: a second stream beside the mock's: what is on it runs as late as cnn.h lets it, when the other stream
 * comes to the wait for it, or as early, when that stream comes to where it was called. */
#include "mock_parts.h"

#include <stdlib.h>

struct cnn_stream {
    int64_t *places; /* one a mark: so many calls of the second stream are before it, the mark among them; 0: it is the
                        other stream's */
};

static cnn_status run_beside(mock *m, int64_t place, cnn_error *err)
{
    cnn_status status = CNN_OK;
    while (m->beside_ran < place && status == CNN_OK) {
        const call *c = &m->beside.list[m->beside_ran++];
        status = c->run(m, c, err);
    }
    if (m->beside_ran == m->beside.count && m->knobs[MOCK_EARLY_UPLOADS]) m->beside.count = m->beside_ran = 0;
    return status;
}

/* Of marks the place is known as soon as they are on the stream. */
static cnn_status run_mark(mock *m, const call *c, cnn_error *err)
{
    if (!c->second) c->args.copy.stream->places[c->args.copy.lane] = 0;
    return CNN_OK;
}

cnn_status mock_beside(mock *m, const call *c, cnn_error *err)
{
    const cnn_status status = mock_append(&m->beside, c, 1, err);
    if (c->run == run_mark) c->args.copy.stream->places[c->args.copy.lane] = m->beside.count;
    return status == CNN_OK && m->knobs[MOCK_EARLY_UPLOADS] ? run_beside(m, m->beside.count, err) : status;
}

/* The first stream is never behind: what it has to do is done when the second one comes to wait for it. */
static cnn_status run_wait(mock *m, const call *c, cnn_error *err)
{
    const int64_t place = c->args.copy.stream->places[c->args.copy.lane];
    return c->second || m->knobs[MOCK_EARLY_UPLOADS] ? CNN_OK : run_beside(m, place, err);
}

static void mock_streams_close(cnn_context *context, cnn_stream *s)
{
    mock *m = mock_of(context);
    m->second = false;
    m->beside.count = m->beside_ran = 0;
    if (s != NULL) free(s->places);
    free(s);
}

static cnn_status mock_streams_open(cnn_context *context, int count, cnn_stream **stream, cnn_error *err)
{
    cnn_stream *s = calloc(1, sizeof *s);
    *stream = s;
    if (s != NULL) s->places = calloc((size_t)count + 1, sizeof *s->places);
    if (s != NULL && s->places != NULL) return CNN_OK;
    mock_streams_close(context, s);
    *stream = NULL;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
}

static cnn_status mock_streams_use(cnn_context *context, cnn_stream *s, bool second, cnn_error *err)
{
    mock_of(context)->second = second;
    return CNN_OK;
}

static cnn_status put(cnn_context *context, cnn_stream *s, int index, runner *run, cnn_error *err)
{
    const call c = {.run = run, .args.copy = {.lane = index, .stream = s}};
    return mock_launch(mock_of(context), &c, err);
}

static cnn_status mock_streams_mark(cnn_context *context, cnn_stream *s, int index, cnn_error *err)
{
    return put(context, s, index, run_mark, err);
}

static cnn_status mock_streams_wait(cnn_context *context, cnn_stream *s, int index, cnn_error *err)
{
    return put(context, s, index, run_wait, err);
}

const cnn_streams mock_streams = {.open = mock_streams_open,
                                  .close = mock_streams_close,
                                  .use = mock_streams_use,
                                  .mark = mock_streams_mark,
                                  .wait = mock_streams_wait};
