/* rank_peaks.c: `mpirun -n N benchcnn peaks`: what it takes to add up an array over the ranks, from one number to 64
 * MiB, on each device as training does it. Behind it stands the line alpha + bytes / beta that is nearest to all sizes:
 * latency and bandwidth, and how far the sizes are off it. */
#include "cli/ranks.h"
#include "harness/base/clock.h"
#include "harness/device/group.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES = 10, WARM_UPS = 3, ROUNDS = 9, REPEATS_MOST = 1000 };
static const double default_seconds = 0.02; /* a round */

typedef struct rank_size_time {
    int64_t count; /* numbers, of f32 */
    double best, median;
} rank_size_time;

static double bytes_of(const rank_size_time *t) { return (double)t->count * sizeof(float); }

/* One number; then 1 KiB, 4 KiB ... 64 MiB. */
static int64_t count_of(int size) { return size == 0 ? 1 : INT64_C(256) << 2 * (size - 1); }

/* Whole numbers that f32 adds up exactly: rank r has i mod 7 + r. */
static cnn_status check_sum(cnn_group *g, float *host, void *buffer, int64_t count, cnn_error *err)
{
    const ranks *r = g->ranks;
    const size_t bytes = (size_t)count * sizeof *host;
    for (int64_t i = 0; i < count; i++) host[i] = (float)(i % 7 + r->rank);
    cnn_status status = cnn_mem_upload(g->session, buffer, host, bytes, err);
    if (status == CNN_OK) status = cnn_group_sum(g, buffer, count, CNN_F32, err);
    if (status == CNN_OK) status = cnn_sync(g->session, err);
    if (status == CNN_OK) status = cnn_mem_download(g->session, host, buffer, bytes, err);
    for (int64_t i = 0; i < count && status == CNN_OK; i++) {
        const double expected = (double)(i % 7) * r->size + r->size * (r->size - 1) / 2.0;
        if ((double)host[i] != expected)
            status = CNN_FAIL(err, CNN_INTERNAL, "the sum of %d ranks (%s) is %g at element %lld, expected %g", r->size,
                              g->way, (double)host[i], (long long)i, expected);
    }
    return status;
}

/* Seconds of one of `repeats` in a row, begun together. */
static cnn_status time_sums(cnn_group *g, void *buffer, int64_t count, int repeats, double *seconds, cnn_error *err)
{
    cnn_status status = ranks_barrier(g->ranks, err);
    const double start = cnn_now();
    for (int i = 0; i < repeats && status == CNN_OK; i++) status = cnn_group_sum(g, buffer, count, CNN_F32, err);
    if (status == CNN_OK) status = cnn_sync(g->session, err);
    *seconds = (cnn_now() - start) / repeats;
    return status;
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of zeros, which stay what they are. Rank 0 says how often. */
static cnn_status time_size(const rank_peaks *p, cnn_group *g, void *buffer, rank_size_time *t, cnn_error *err)
{
    const double wanted = p->options->min_time >= 0 ? p->options->min_time : default_seconds;
    double times[ROUNDS], one = 0.0;
    cnn_status status = cnn_mem_fill(g->session, buffer, 0, (size_t)t->count * sizeof(float), err);
    if (status == CNN_OK) status = time_sums(g, buffer, t->count, WARM_UPS, &one, err);
    int repeats = one * REPEATS_MOST > wanted ? (int)(wanted / one) : REPEATS_MOST;
    if (repeats < 1) repeats = 1;
    if (status == CNN_OK) status = ranks_broadcast(g->ranks, &repeats, sizeof repeats, err);
    for (int i = 0; i < ROUNDS && status == CNN_OK; i++)
        status = time_sums(g, buffer, t->count, repeats, &times[i], err);
    if (status != CNN_OK) return status;
    qsort(times, ROUNDS, sizeof *times, by_time);
    t->best = times[0];
    t->median = times[ROUNDS / 2];
    return CNN_OK;
}

/* ---- What is told. */

static cnn_record *new_record(const cnn_group *g, const char *kind, const record_pair *devices)
{
    cnn_record *record = record_new(kind);
    record_text(record, "impl", g->session->impl->name);
    record_int(record, "ranks", g->ranks->size);
    record_text_pairs(record, "rank_devices", devices, g->ranks->size);
    record_text(record, "rank_library", g->ranks->library);
    record_text(record, "comm_way", g->way);
    return record;
}

static cnn_status tell_size(const rank_peaks *p, const cnn_group *g, const record_pair *devices,
                            const rank_size_time *t, cnn_error *err)
{
    const double bytes = bytes_of(t);
    cnn_record *record = new_record(g, "all_reduce", devices);
    record_int(record, "bytes", (int64_t)bytes);
    record_real(record, "best_s", t->best);
    record_real(record, "median_s", t->median);
    p->sums->timed++;
    if (!p->options->json)
        printf("  %10.0f bytes  %12.2f µs  %10.3f GB/s\n", bytes, t->best * 1e6, bytes / t->best * 1e-9);
    return record_write(p->sink, record, err);
}

/* Least squares of (alpha + bytes / beta) / time - 1: each size counts alike, whatever it takes. Returns the largest.
 */
static double fit_line(const rank_size_time times[SIZES], double *alpha, double *per_byte)
{
    double xx = 0.0, xy = 0.0, yy = 0.0, x1 = 0.0, y1 = 0.0, off = 0.0;
    for (int i = 0; i < SIZES; i++) {
        const double x = 1.0 / times[i].best, y = bytes_of(&times[i]) / times[i].best;
        xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
    }
    const double det = xx * yy - xy * xy;
    *alpha = (yy * x1 - xy * y1) / det;
    *per_byte = (xx * y1 - xy * x1) / det;
    for (int i = 0; i < SIZES; i++)
        off = fmax(off, fabs((*alpha + bytes_of(&times[i]) * *per_byte) / times[i].best - 1.0));
    return off;
}

static cnn_status tell_line(const rank_peaks *p, const cnn_group *g, const record_pair *devices,
                            const rank_size_time times[SIZES], cnn_error *err)
{
    double alpha, per_byte;
    const double off = fit_line(times, &alpha, &per_byte);
    cnn_record *record = new_record(g, "all_reduce_line", devices);
    record_real(record, "alpha_s", alpha);
    record_real(record, "beta_bytes_per_s", 1.0 / per_byte);
    record_real(record, "off", off);
    if (!p->options->json)
        printf("  about %.2f µs + bytes / %.3f GB/s, off by up to %.0f %%\n", alpha * 1e6, 1e-9 / per_byte,
               off * 100.0);
    return record_write(p->sink, record, err);
}

/* ---- Measuring. */

static cnn_status measure_sizes(const rank_peaks *p, cnn_group *g, const record_pair *devices, float *host,
                                void *buffer, cnn_error *err)
{
    rank_size_time times[SIZES];
    cnn_status status = CNN_OK;
    if (!p->options->json) printf("%s, adding up f32 over %d ranks: %s\n", devices[0].value, g->ranks->size, g->way);
    for (int i = 0; i < SIZES && status == CNN_OK; i++) {
        if (interrupt_seen()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        times[i] = (rank_size_time){.count = count_of(i)};
        status = check_sum(g, host, buffer, times[i].count, err);
        if (status == CNN_OK) status = time_size(p, g, buffer, &times[i], err);
        if (status == CNN_OK) status = tell_size(p, g, devices, &times[i], err);
    }
    return status == CNN_OK ? tell_line(p, g, devices, times, err) : status;
}

static cnn_status measure_session(const rank_peaks *p, const cnn_session *session, const record_pair *devices,
                                  cnn_error *err)
{
    const size_t bytes = (size_t)count_of(SIZES - 1) * sizeof(float);
    cnn_group group = {.session = session};
    void *buffer = NULL;
    float *host = malloc(bytes);
    cnn_status status = host != NULL ? cnn_mem_alloc(session, bytes, &buffer, err)
                                     : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    status = ranks_agree(p->ranks, status, err);
    if (status == CNN_OK) status = cnn_group_open(session, p->ranks, bytes, &group, err);
    if (status == CNN_OK) status = measure_sizes(p, &group, devices, host, buffer, err);
    cli_ranks_abort(p->ranks, status, err); /* before a wait for a device that waits for other ranks */
    cnn_group_close(&group);
    cnn_mem_free(session, buffer);
    free(host);
    return status;
}

cnn_status cli_rank_peaks(const rank_peaks *p, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < p->sessions->count; i++) {
        record_pair *devices;
        if (!cli_first_of_device(p->sessions, i)) continue;
        status = cli_ranks_devices(p->ranks, &p->sessions->list[i], &devices, err);
        if (status == CNN_OK) status = cli_sessions_environment(p->sessions, i, p->options->command_line, p->sink, err);
        if (status == CNN_OK) status = measure_session(p, &p->sessions->list[i], devices, err);
        free(devices);
    }
    return status;
}
