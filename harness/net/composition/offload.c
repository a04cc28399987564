/* offload.c: values that go to host memory in the forward pass and come back in the backward pass: less memory on the
 * device, the same numbers.
 *
 * (Rhu et al., vDNN, 2016; here for any network.) A value that moves is copied out behind the call that writes it last.
 * Its memory on the device is free behind its last reader of the forward pass, once the copy is done; it comes back
 * into a buffer of its own, and the copy is begun a layer at least before the first call that reads it. Copies run
 * beside the operations, one after another. What is computed, and on which numbers, stays as it was.
 *
 * Which values move: all of those that may, but that single ones stay as long as that takes no more memory. Then each
 * copy gets as much time as the memory allows: the device waits for it later, or it is begun earlier. */
#include "harness/base/grow.h"
#include "parts.h"

#include <stdlib.h>

/* A value's way, by calls of the list without copies. */
typedef struct route {
    bool moves;
    int written, read; /* the last calls of the forward pass that write and use it */
    int needed;        /* the first call of the backward pass that uses it */
    int gone;          /* behind this call the copy out is waited for; at least `read` */
    int fetched;       /* before this call the copy back is begun */
    size_t host_at;
    int copy; /* the copy out is this one, the one back the next */
} route;

typedef struct search {
    cnn_trainer *t;
    const call_list *from;
    route *routes; /* one a value */
    int *order;    /* the values that may move, as they are needed */
    int n_order;
    call_list scratch;
    size_t least, placed; /* bytes: that are alive at once; that places take */
    cnn_error *err;
} search;

/* ---- What a value's way is ---- */

static bool uses(const step_call *call, size_t at, bool writing)
{
    for (int o = 0; o < call->n_operands; o++)
        if (call->at[o] == at && (!writing || call->written >> o & 1u)) return true;
    return false;
}

/* The layer whose operation it is; -1: a sum or a copy, which goes with the calls around it. */
static int layer_of(const cnn_trainer *t, const step_call *call)
{
    return call->plan >= 0 && t->plans[call->plan].layer >= 0 ? t->plans[call->plan].layer : -1;
}

/* Where the calls of the layer before that of call `at` begin: the copy has their time. -1: there is none. */
static int a_layer_before(const cnn_trainer *t, const call_list *list, int at, int first)
{
    int layers = 0, layer = layer_of(t, &list->calls[at]);
    while (at > first) {
        const int before = layer_of(t, &list->calls[at - 1]);
        if (before >= 0 && before != layer) {
            if (layers++ == 1) break;
            layer = before;
        }
        at--;
    }
    return layers > 0 ? at : -1;
}

static route find_route(const cnn_trainer *t, const call_list *list, int value)
{
    route r = {.written = -1, .read = -1, .needed = -1};
    const size_t at = t->value_at[value];
    const int n_layers = t->net->n_layers;
    bool changed = false;
    for (int i = 0; i < list->count; i++) {
        if (i < n_layers && uses(&list->calls[i], at, true)) r.written = i;
        if (i < n_layers && uses(&list->calls[i], at, false)) r.read = i;
        if (i >= n_layers && r.needed < 0 && uses(&list->calls[i], at, false)) r.needed = i;
        changed = changed || (i >= n_layers && uses(&list->calls[i], at, true));
    }
    if (!step_is_buffer(at) || r.written < 0 || r.needed < 0 || changed) return r;
    r.gone = r.read;
    r.fetched = a_layer_before(t, list, r.needed, n_layers);
    r.moves = r.fetched > r.gone;
    return r;
}

/* Of two that one call needs, either may be the first. */
static void find_routes(search *s)
{
    for (int v = 1; v < s->t->net->n_values; v++) {
        int place = s->n_order;
        s->routes[v] = find_route(s->t, s->from, v);
        if (!s->routes[v].moves) continue;
        for (; place > 0 && s->routes[s->order[place - 1]].needed > s->routes[v].needed; place--)
            s->order[place] = s->order[place - 1];
        s->order[place] = v;
        s->n_order++;
    }
}

/* ---- A list with copies ---- */

static cnn_status add_move(const search *s, call_list *to, const route *r, step_move move, size_t at)
{
    step_call *call = cnn_add_item(&to->calls, &to->count, &to->capacity, sizeof *call, "calls of a step", s->err);
    const bool back = move == MOVES_BACK || move == IS_BACK;
    if (call == NULL) return s->err->status;
    *call = (step_call){.plan = -1,
                        .move = move,
                        .n_operands = 1,
                        .written = back, /* there when the copy is begun, and its values when it is waited for */
                        .at = {at},
                        .host_at = r->host_at,
                        .copy = r->copy + back,
                        .copy_bytes = s->t->buffers[at - BUFFER].bytes,
                        .range = PROFILE_OFFLOAD};
    return CNN_OK;
}

/* Those that stand before a call of the list, or behind it. */
static cnn_status add_moves(const search *s, call_list *to, int call, bool behind)
{
    const cnn_trainer *t = s->t;
    cnn_status status = CNN_OK;
    for (int i = 0; i < s->n_order && status == CNN_OK; i++) {
        const route *r = &s->routes[s->order[i]];
        const size_t at = t->value_at[s->order[i]], back = t->back_at[s->order[i]];
        if (!r->moves) continue;
        if (behind && r->written == call) status = add_move(s, to, r, MOVES_OUT, at);
        if (behind && r->gone == call && status == CNN_OK) status = add_move(s, to, r, IS_OUT, at);
        if (!behind && r->fetched == call) status = add_move(s, to, r, MOVES_BACK, back);
        if (!behind && r->needed == call && status == CNN_OK) status = add_move(s, to, r, IS_BACK, back);
    }
    return status;
}

/* The buffers that a call of the backward pass uses: those that values came back to. */
static void turn_to_copies(const search *s, step_call *call)
{
    for (int o = 0; o < call->n_operands; o++) {
        const int value = step_is_buffer(call->at[o]) ? s->t->buffers[call->at[o] - BUFFER].value : 0;
        if (value > 0 && s->routes[value].moves && call->at[o] == s->t->value_at[value])
            call->at[o] = s->t->back_at[value];
    }
}

static cnn_status make_list(const search *s, const call_list *from, call_list *to)
{
    cnn_status status = CNN_OK;
    to->count = 0;
    for (int i = 0; i < from->count && status == CNN_OK; i++) {
        status = add_moves(s, to, i, false);
        step_call *call = status != CNN_OK ? NULL
                                           : cnn_add_item(&to->calls, &to->count, &to->capacity, sizeof *call,
                                                          "calls of a step", s->err);
        if (call == NULL) return s->err->status;
        *call = from->calls[i];
        if (i >= s->t->net->n_layers) turn_to_copies(s, call);
        status = add_moves(s, to, i, true);
    }
    return status;
}

/* ---- Which values, and when ---- */

static cnn_status bytes_of(search *s, size_t *bytes)
{
    const cnn_status status = make_list(s, s->from, &s->scratch);
    return status == CNN_OK ? step_peak(s->t, &s->scratch, bytes, s->err) : status;
}

static cnn_status placed_bytes(search *s, size_t *bytes)
{
    const cnn_status status = make_list(s, s->from, &s->scratch);
    return status == CNN_OK ? step_placed(s->t, &s->scratch, bytes, s->err) : status;
}

/* A value that moves never takes more memory than one that stays, so nothing takes less than all of them do; each of
 * the others stays unless that takes more: first those that are needed first, whose copies have the least time. */
static cnn_status choose(search *s)
{
    size_t kept = 0, placed = 0;
    cnn_status status = step_placed(s->t, s->from, &kept, s->err);
    if (status == CNN_OK) status = bytes_of(s, &s->least);
    for (int i = 0; i < s->n_order && status == CNN_OK; i++) {
        size_t bytes = 0;
        s->routes[s->order[i]].moves = false;
        status = bytes_of(s, &bytes);
        s->routes[s->order[i]].moves = bytes > s->least;
    }
    if (status == CNN_OK) status = placed_bytes(s, &placed);
    s->placed = placed;
    for (int i = 0; i < s->n_order && placed >= kept; i++) s->routes[s->order[i]].moves = false; /* no gain */
    return status;
}

/* Time for a copy, call by call until `last`, as long as that takes no more memory. */
static cnn_status give(search *s, int *when, int step, int last)
{
    const int before = *when;
    size_t bytes = 0;
    cnn_status status = CNN_OK;
    while ((last - *when) * step > 0 && status == CNN_OK && bytes <= s->least) {
        *when += step;
        status = bytes_of(s, &bytes);
    }
    if (bytes > s->least) *when -= step;
    if (*when != before && status == CNN_OK) status = placed_bytes(s, &bytes);
    if (*when != before && bytes > s->placed) *when = before; /* what is alive at once has gaps between it */
    return status;
}

/* Copies run in the order in which they are begun, so none is begun before those that are needed earlier. */
static int begun_before(const search *s, int place)
{
    int first = s->t->net->n_layers;
    for (int i = 0; i < place; i++) {
        const route *r = &s->routes[s->order[i]];
        if (r->moves && r->fetched > first) first = r->fetched;
    }
    return first;
}

static cnn_status give_time(search *s)
{
    const int n_layers = s->t->net->n_layers;
    cnn_status status = CNN_OK;
    for (int i = 0; i < s->n_order && status == CNN_OK; i++) {
        route *r = &s->routes[s->order[i]];
        if (r->moves) status = give(s, &r->fetched, -1, begun_before(s, i));
    }
    for (int i = 0; i < s->n_order && status == CNN_OK; i++) {
        route *r = &s->routes[s->order[i]];
        if (r->moves) status = give(s, &r->gone, 1, n_layers - 1);
    }
    return status;
}

/* ---- All lists ---- */

static void place_copies(const search *s)
{
    cnn_trainer *t = s->t;
    for (int v = 1; v < t->net->n_values; v++) {
        route *r = &s->routes[v];
        if (!r->moves) continue;
        const size_t bytes = t->buffers[t->value_at[v] - BUFFER].bytes;
        r->copy = t->n_copies;
        r->host_at = t->loop->bytes.offload;
        t->n_copies += 2;
        if (__builtin_add_overflow(r->host_at, step_rounded(bytes), &t->loop->bytes.offload)) t->loop->overflow = true;
    }
}

/* Of a batch that is not full, the images that there are: they stand first. */
static void fit_batch(const cnn_trainer *t, call_list *list, int64_t mb)
{
    for (int i = 0; i < list->count; i++)
        if (list->calls[i].move != STAYS)
            list->calls[i].copy_bytes = list->calls[i].copy_bytes / (size_t)t->net->batch * (size_t)mb;
}

static cnn_status rewrite_all(const search *s)
{
    cnn_trainer *t = s->t;
    cnn_status status = CNN_OK;
    for (int list = 0; list < t->n_lists; list++)
        for (int b = 0; b < t->n_batches && status == CNN_OK; b++) {
            call_list *calls = &t->batches[list][b].calls[TRAIN], made = {0};
            if (calls->count == 0) continue;
            status = make_list(s, calls, &made);
            fit_batch(t, &made, t->batches[list][b].mb);
            free(status == CNN_OK ? calls->calls : made.calls);
            if (status == CNN_OK) *calls = made;
        }
    return status;
}

cnn_status step_offload(cnn_trainer *t, cnn_error *err)
{
    const call_list *list = step_first_list(t);
    if (!t->loop->params.offload || list == NULL) return CNN_OK;
    search s = {.t = t, .from = list, .err = err};
    s.routes = calloc((size_t)t->net->n_values, sizeof *s.routes);
    s.order = calloc((size_t)t->net->n_values, sizeof *s.order);
    cnn_status status =
        s.routes != NULL && s.order != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    if (status == CNN_OK) find_routes(&s);
    if (status == CNN_OK) status = choose(&s);
    if (status == CNN_OK) status = give_time(&s);
    if (status == CNN_OK) place_copies(&s);
    if (status == CNN_OK) status = rewrite_all(&s);
    free(s.scratch.calls);
    free(s.routes);
    free(s.order);
    return status;
}
