/* run.c: one guarded run of an implementation on a case. Everything that a kernel must not rely on is garbage before
 * it, everything that it must not touch is looked at after it. */
#include "engine.h"

#include "harness/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const int vf_garbage[2] = {0xFF, 0x7F};

enum { LOOKS = 64 };

typedef struct running {
    vf_place *place;
    const vf_case *c;
    const vf_run_options *options;
    void *image[CNN_MAX_OPERANDS]; /* what was uploaded */
    void *pointer[CNN_MAX_OPERANDS];
    bool left[CNN_MAX_OPERANDS][LOOKS]; /* at first as it was uploaded */
} running;

/* With in_place: the operand whose buffer operand i uses; else i. */
static int home(const running *r, int i)
{
    const vf_call *call = &r->c->call;
    const char *input = NULL, *name = call->operands[i].name;
    if (!r->options->in_place) return i;
    if (strcmp(name, "y") == 0 && call->dir == CNN_FWD) input = call->problem->op == CNN_OP_ADD ? "x0" : "x";
    if (strcmp(name, "dx") == 0) input = "dy";
    return input == NULL ? i : vf_index(call->operands, call->count, input);
}

static void fault(vf_run *run, const char *name, const char *what, long long where)
{
    if (run->fault[0] == '\0') snprintf(run->fault, sizeof run->fault, what, name, where);
}

/* A buffer with this content, where it was before. */
static cnn_status put(vf_guarded *g, const cnn_session *session, size_t bytes, vf_fence fence, const void *content,
                      cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (g->memory == NULL || g->bytes != bytes || (g->fence != fence && (fence | g->fence) >= VF_PAGE_BEHIND)) {
        vf_guarded_free(g, session);
        status = vf_guarded_alloc(g, session, bytes, fence, err);
    }
    g->fence = fence;
    return status == CNN_OK ? vf_guarded_upload(g, session, content, err) : status;
}

/* Pointers come last: in place, two operands share a buffer. */
static cnn_status set_up(running *r, cnn_error *err)
{
    vf_place *place = r->place;
    const vf_call *call = &r->c->call;
    cnn_status status;
    for (int i = 0; i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        if ((r->image[i] = malloc(o->bytes)) == NULL)
            return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an image of %s", o->name);
        if (r->c->before[i] != NULL)
            vf_pack_by(place->pool, call->problem, o, r->c->before[i], r->image[i]);
        else
            memset(r->image[i], vf_garbage[r->options->garbage], o->bytes);
        if (home(r, i) != i) continue;
        status = put(&place->buffer[i], place->session, o->bytes, r->options->fence, r->image[i], err);
        if (status != CNN_OK) return status;
    }
    for (int i = 0; i < call->count; i++) r->pointer[i] = place->buffer[home(r, i)].data;
    if (r->c->without_x) r->pointer[vf_index(call->operands, call->count, "x")] = NULL;

    const size_t bytes = place->plan->workspace_bytes;
    if (bytes == 0) return CNN_OK; /* the workspace is NULL */
    void *dirt = malloc(bytes);
    if (dirt == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of workspace", bytes);
    memset(dirt, vf_garbage[r->options->garbage], bytes);
    status = put(&place->workspace, place->session, bytes, r->options->fence, dirt, err);
    free(dirt);
    return status;
}

/* The content of a buffer (free it), and what was written around it. */
static cnn_status fetch(const vf_place *place, const vf_guarded *g, const char *name, vf_run *run, void **bytes,
                        cnn_error *err)
{
    vf_damage damage;
    *bytes = malloc(g->bytes);
    if (*bytes == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to fetch %s", name);
    const cnn_status status = vf_guarded_download(g, place->session, *bytes, &damage, err);
    if (status == CNN_OK && run->fault[0] == '\0') vf_damage_text(&damage, name, run->fault, sizeof run->fault);
    return status;
}

/* Fetches operand i; an output goes to run->bytes, an input is compared to what it was. */
static cnn_status collect(running *r, int i, vf_run *run, cnn_error *err)
{
    const cnn_operand *o = &r->c->call.operands[i];
    bool written = o->access != CNN_IN, overwritten = false;
    void *bytes;
    for (int k = 0; k < r->c->call.count; k++) overwritten = overwritten || (k != i && home(r, k) == i);
    cnn_status status = fetch(r->place, &r->place->buffer[home(r, i)], o->name, run, &bytes, err);
    if (status == CNN_OK && !written && !overwritten && memcmp(bytes, r->image[i], o->bytes) != 0) {
        size_t at = 0;
        while (((const char *)bytes)[at] == ((const char *)r->image[i])[at]) at++;
        fault(run, o->name, "changed its input %s at byte %lld", (long long)at);
    }
    if (status == CNN_OK && written) {
        run->bytes[i] = bytes;
        bytes = NULL;
        run->after[i] = malloc((size_t)o->count * sizeof(double));
        if (run->after[i] == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s", o->name);
        if (status == CNN_OK) vf_unpack_by(r->place->pool, r->c->call.problem, o, run->bytes[i], run->after[i]);
    }
    free(bytes);
    return status;
}

static cnn_status check_workspace(const vf_place *place, vf_run *run, cnn_error *err)
{
    void *bytes = NULL;
    if (place->workspace.data == NULL) return CNN_OK;
    const cnn_status status = fetch(place, &place->workspace, "the workspace", run, &bytes, err);
    free(bytes);
    return status;
}

/* Outputs on the host that are written after the call has returned. The first thing after it is to look at some
 * elements, evenly spread, the last thing of the run to look again: nobody else writes in between. How many of those
 * that were not written at first still are not. */
static int look(running *r, vf_run *run, bool first)
{
    int waiting = 0;
    for (int i = 0; i < r->c->call.count; i++) {
        const cnn_operand *o = &r->c->call.operands[i];
        const size_t size = o->bytes / (size_t)o->count;
        if (r->place->session->impl->memory != NULL || o->access == CNN_IN || home(r, i) != i) continue;
        for (int k = 0; k < LOOKS; k++) {
            const size_t at = (size_t)((double)(o->count - 1) * k / (LOOKS - 1)) * size;
            const char *now = (const char *)r->place->buffer[i].data + at;
            const bool same = memcmp((const char *)r->image[i] + at, now, size) == 0;
            if (first) r->left[i][k] = same;
            if (r->left[i][k] && !same)
                fault(run, o->name, "wrote %s after it had returned, at byte %lld", (long long)at);
            waiting += r->left[i][k] && same;
        }
    }
    return waiting;
}

/* What is not there yet, while another thread is at work that is not the check's own, may be late: it gets its time,
 * lest it comes when the memory is somebody else's. */
static void wait_for_late(running *r, vf_run *run)
{
    const struct timespec pause = {.tv_nsec = 200000};
    const vf_run_options *o = r->options;
    const double start = cnn_now(), longest = 1;
    while (look(r, run, false) > 0 && host_others_busy(r->place->session, o->own, o->n_own) &&
           cnn_now() - start < longest)
        nanosleep(&pause, NULL);
}

/* The kernel alone, with its pages watched, and what is around its buffers out of bounds. */
static cnn_status call_kernel(running *r, const cnn_run_extra *extra, vf_run *run, cnn_error *err)
{
    vf_place *place = r->place;
    const bool on_host = place->session->impl->memory == NULL;
    vf_around around = {.on_host = on_host, .pages = on_host && r->options->fence >= VF_PAGE_BEHIND};
    for (int i = 0; i < r->c->call.count; i++)
        if (home(r, i) == i) vf_around_add(&around, r->c->call.operands[i].name, &place->buffer[i]);
    if (place->workspace.data != NULL) vf_around_add(&around, "the workspace", &place->workspace);
    cnn_error after;
    cnn_status status = vf_around_begin(&around, place->session, err);
    if (status != CNN_OK) return status;
    status = cnn_run(place->session, place->plan, r->pointer, extra, err);
    if (status == CNN_OK && around.pages) status = cnn_sync(place->session, err);
    return vf_around_end(&around, place->session, run, status == CNN_OK ? err : &after) == CNN_OK || status != CNN_OK
               ? status
               : err->status;
}

static cnn_status run_once(running *r, vf_run *run, cnn_error *err)
{
    vf_place *place = r->place;
    const vf_call *call = &r->c->call;
    const cnn_run_extra extra = {.beta = call->beta, .scale = call->scale, .workspace = place->workspace.data};
    const char *late = NULL;
    cnn_status status = vf_glimpse_open(&place->glimpse, place->session, call, err);
    if (status == CNN_OK) status = call_kernel(r, &extra, run, err);
    if (status == CNN_OK) status = vf_glimpse_take(&place->glimpse, place->session, call, r->pointer, err);
    if (status == CNN_OK) status = cnn_sync(place->session, err);
    if (status == CNN_OK) look(r, run, true);
    if (status == CNN_OK) status = vf_glimpse_judge(&place->glimpse, place->session, call, r->pointer, &late, err);
    if (late && run->fault[0] == '\0') snprintf(run->fault, sizeof run->fault, VF_GLIMPSE_LATE, late);
    return status;
}

cnn_status vf_run_make(vf_run *run, vf_place *place, const vf_case *c, const vf_run_options *options, cnn_error *err)
{
    running r = {.place = place, .c = c, .options = options};
    memset(run, 0, sizeof *run);
    cnn_status status = set_up(&r, err);
    if (status == CNN_OK) status = run_once(&r, run, err);
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) status = collect(&r, i, run, err);
    if (status == CNN_OK) status = check_workspace(place, run, err);
    if (status == CNN_OK) wait_for_late(&r, run);
    for (int i = 0; i < c->call.count; i++) free(r.image[i]);
    if (status != CNN_OK) vf_run_free(run);
    return status;
}

void vf_place_leave(vf_place *place)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) vf_guarded_free(&place->buffer[i], place->session);
    vf_guarded_free(&place->workspace, place->session);
    vf_glimpse_close(&place->glimpse, place->session);
}

const char *vf_run_difference(const vf_case *c, const vf_run *a, const vf_run *b)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (a->bytes[i] != NULL && memcmp(a->bytes[i], b->bytes[i], o->bytes) != 0) return o->name;
    }
    return NULL;
}

void vf_run_describe(const vf_case *c, const vf_run *a, const vf_run *b, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < c->call.count && text[0] == '\0'; i++) {
        const cnn_operand *o = &c->call.operands[i];
        int64_t count = 0, first = -1;
        char name[128];
        for (int64_t e = 0; a->after[i] != NULL && e < o->count; e++) {
            if (memcmp(&a->after[i][e], &b->after[i][e], sizeof(double)) == 0) continue;
            if (count++ == 0) first = e;
        }
        if (first < 0) continue;
        vf_element_name(o, first, name, sizeof name);
        snprintf(text, size, "%lld of %lld elements, the first %s: %.9g, then %.9g", (long long)count,
                 (long long)o->count, name, vf_shown(a->after[i][first]), vf_shown(b->after[i][first]));
    }
}
