/* invalid.c: `benchcnn verify --fuzz-invalid N`: descriptors that are mostly wrong. Reaches no
 * implementation. */
#include "fuzz.h"

#include "harness/base/clock.h"
#include "harness/problem/names.h"

#include <string.h>

enum { BLOCK = 4096, SECONDS = 60, TOLD = 20 };

typedef struct invalid_run {
    const cli_options *options;
    cli_progress progress;
    double started;
    int64_t counts[FUZZ_WRONG + 1], died;
} invalid_run;

static void *start(void *user) { return user; }

static void finish(void *state) { (void)state; }

static cnn_status work(void *user, void *state, int64_t index, crew_message *message)
{
    const invalid_run *r = user;
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_op op;
    (void)state;
    fuzz_invalid_text((uint64_t)r->options->seed, index, &op, text);
    message->result = (int)fuzz_invalid_try(op, text, message->outcome.reason);
    return CNN_OK;
}

/* The text as a C string would hold it: whatever it is made of, a terminal shows it. */
static void escape(const char *text, char *to, size_t size)
{
    size_t used = 0;
    for (; *text != '\0' && used + 5 < size; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool plain = c >= ' ' && c < 127 && c != '\\' && c != '"';
        used += (size_t)snprintf(to + used, size - used, plain ? "%c" : "\\%03o", c);
    }
    to[used] = '\0';
}

static bool take(void *user, const crew_message *message)
{
    invalid_run *r = user;
    const bool died = message->result == CREW_DIED;
    if (died)
        r->died++;
    else
        r->counts[message->result]++;
    const int64_t bad = r->died + r->counts[FUZZ_WRONG];
    if ((died || message->result == FUZZ_WRONG) && bad <= TOLD) {
        char text[CNN_PROBLEM_TEXT_MAX], shown[4 * CNN_PROBLEM_TEXT_MAX];
        cnn_op op;
        fuzz_invalid_text((uint64_t)r->options->seed, message->index, &op, text);
        escape(text, shown, sizeof shown);
        cli_progress_end(&r->progress);
        printf("FAILED      --op %s --problem \"%s\" (case %lld)\n    %s\n", cnn_op_name(op), shown,
               (long long)message->index, message->outcome.reason);
    }
    cli_progress_show(&r->progress, (double)(bad + r->counts[FUZZ_REFUSED] + r->counts[FUZZ_ACCEPTED]),
                      (double)r->options->fuzz_invalid, "");
    return true;
}

static bool enough(void *user)
{
    const invalid_run *r = user;
    return cli_interrupted() || (r->options->fuzz_time > 0.0 && cnn_now() - r->started > r->options->fuzz_time);
}

int verify_fuzz_invalid(const cli_options *options, cnn_error *err)
{
    invalid_run r = {.options = options, .started = cnn_now()};
    const crew_job job = {.workers = options->jobs > 0 ? (int)options->jobs : 1,
                          .count = options->fuzz_invalid,
                          .block = BLOCK,
                          .seconds = SECONDS,
                          .user = &r,
                          .start = start,
                          .finish = finish,
                          .work = work,
                          .each = take,
                          .stop = enough};
    if (cli_no_words(options, err) != CNN_OK) return cli_fail(err);
    cli_progress_start(&r.progress, "fuzz", options->quiet);
    cnn_status status = crew_run(&job, err);
    cli_progress_end(&r.progress);
    if (status == CNN_OK && cli_interrupted())
        status = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was found stands above");
    printf("%lld invalid descriptors: %lld refused, %lld accepted (and read back alike), %lld FAILED (seed %lld)\n",
           (long long)(r.counts[FUZZ_REFUSED] + r.counts[FUZZ_ACCEPTED] + r.counts[FUZZ_WRONG] + r.died),
           (long long)r.counts[FUZZ_REFUSED], (long long)r.counts[FUZZ_ACCEPTED],
           (long long)(r.counts[FUZZ_WRONG] + r.died), (long long)options->seed);
    if (status != CNN_OK) return cli_fail(err);
    return r.counts[FUZZ_WRONG] + r.died > 0 ? EXIT_FAILED : EXIT_HELD;
}
