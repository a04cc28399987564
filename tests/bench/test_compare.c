/* Comparing figures: two runs of the same program on a noisy machine are not called different more often than stated,
 * and real differences are found. */
#include "bench/figures/compare.h"
#include "harness/record/identity.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES = 10, PAIRS = 1000, MOST_RUNS = 8 };

typedef enum noise { SKEWED, NEIGHBOURS, DRIFT, NOISES } noise;

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)((*state >> 11) + 1) / 9007199254740993.0;
}

/* Medians of runs of two programs that take turns, this one being at `turn` (0 or 1): a long right tail; a neighbour
 * that stays for whole runs; a drift over all of them. */
static void simulate(figure *f, noise kind, double scale, int turn, double drift, uint64_t *state)
{
    for (int i = 0; i < f->n_runs; i++) {
        double t = 1 - 0.02 * log(uniform(state));
        if (kind == NEIGHBOURS && uniform(state) < 0.3) t *= 1 + uniform(state);
        if (kind == DRIFT) t *= 1 + drift * (2 * i + turn) / (2 * MOST_RUNS);
        f->runs[i] = t * scale;
    }
}

/* How many of PAIRS comparisons, of `figures` each, hold any FASTER or SLOWER; threshold 0, where nothing helps. */
static int alarms(noise kind, double scale, int runs, int figures)
{
    double room[2][MOST_RUNS];
    uint64_t state = 7;
    int count = 0;
    for (int p = 0; p < PAIRS; p++) {
        bool any = false;
        for (int i = 0; i < figures; i++) {
            figure a = {.runs = room[0], .n_runs = runs, .resolution = NAN};
            figure b = {.runs = room[1], .n_runs = runs, .resolution = NAN};
            comparison r;
            const double drift = 0.4 * (uniform(&state) - 0.5);
            simulate(&a, kind, 1, 0, drift, &state);
            simulate(&b, kind, scale, 1, drift, &state);
            compare_figures(&a, &b, figures, 0, &r);
            any = any || r.verdict == COMPARE_FASTER || r.verdict == COMPARE_SLOWER;
        }
        count += any;
    }
    return count;
}

static void test_false_positives(void **state)
{
    for (noise kind = SKEWED; kind < NOISES; kind++)
        for (int runs = COMPARE_RUNS; runs <= MOST_RUNS; runs++) {
            const int ten = alarms(kind, 1, runs, FIGURES), one = alarms(kind, 1, runs, 1);
            print_message("noise %d, %d runs: any alarm in %d of %d comparisons of %d figures, %d of one\n", (int)kind,
                          runs, ten, PAIRS, FIGURES, one);
            /* 5 % and three standard deviations of a count */
            assert_true(ten <= 0.05 * PAIRS + 3 * sqrt(0.05 * 0.95 * PAIRS));
            assert_true(one <= 0.05 * PAIRS + 3 * sqrt(0.05 * 0.95 * PAIRS));
        }
}

static void test_finds_differences(void **state)
{
    assert_true(alarms(SKEWED, 1.1, 5, 1) > 0.95 * PAIRS);
    assert_int_equal(alarms(SKEWED, 1.5, 5, 10), PAIRS);
}

static comparison of(double a, double b, double share, int runs, double resolution)
{
    double as[] = {a * (1 - share), a, a * (1 + share), a, a}, bs[] = {b, b * (1 + share), b * (1 - share), b, b};
    const figure fa = {.runs = as, .n_runs = runs, .resolution = NAN},
                 fb = {.runs = bs, .n_runs = runs, .resolution = resolution};
    comparison r;
    compare_figures(&fa, &fb, 1, 0.05, &r);
    return r;
}

static void test_verdicts(void **state)
{
    assert_int_equal(of(1, 1.2, 0.01, 5, NAN).verdict, COMPARE_SLOWER);
    assert_int_equal(of(1.2, 1, 0.01, 5, NAN).verdict, COMPARE_FASTER);
    assert_int_equal(of(1, 1.01, 0.01, 5, NAN).verdict, COMPARE_SAME);
    assert_int_equal(of(1, 1.06, 0.05, 5, NAN).verdict, COMPARE_CANNOT_TELL);
    assert_int_equal(of(1, 3, 0.001, 2, NAN).verdict, COMPARE_CANNOT_TELL); /* too few runs */
    assert_int_equal(of(1, 3, 0, 1, NAN).verdict, COMPARE_CANNOT_TELL);
    assert_int_equal(of(1, 1.2, 0.01, 5, 0.3).verdict, COMPARE_SAME); /* a control differed from itself by as much */
    assert_true(fabs(of(1, 1.2, 0.01, 5, NAN).ratio - 1.2) < 1e-3);
}

/* Table values of the two-sided quantiles. */
static void test_student(void **state)
{
    static const struct {
        double alpha, t;
        int df;
    } table[] = {{0.05, 12.706, 1}, {0.05, 4.303, 2},  {0.05, 2.776, 4},
                 {0.05, 2.571, 5},  {0.001, 6.869, 5}, {0.01, 3.169, 10}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(student_quantile(table[i].alpha, table[i].df) - table[i].t) < 1e-3);
}

static cnn_status read_lines(const char *const *lines, size_t count, const char *across, figure_set *set,
                             cnn_error *err)
{
    char path[] = "/tmp/test_compare_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    for (size_t i = 0; i < count; i++) fprintf(file, "%s\n", lines[i]);
    fclose(file);
    const cnn_status status = figures_read(path, &(figure_choice){.across = across}, set, err);
    remove(path);
    return status;
}
#define READ(lines, set, err) read_lines(lines, sizeof lines / sizeof *lines, NULL, set, err)

/* Without a bias, or flipped, it is another figure; records that do not say are of the usual. */
static void test_variants(void **state)
{
#define CONV "{\"kind\":\"conv\",\"median_s\":1,"
    static const char *const lines[] = {CONV "\"impl\":\"a\"}",
                                        CONV "\"impl\":\"a\",\"bias\":true,\"mode\":\"cross_correlation\"}",
                                        CONV "\"impl\":\"a\",\"bias\":false,\"mode\":\"cross_correlation\"}",
                                        CONV "\"impl\":\"a\",\"bias\":true,\"mode\":\"convolution\"}"};
    figure_set set;
    cnn_error err;
    assert_int_equal(READ(lines, &set, &err), CNN_OK);
    assert_int_equal(set.count, 3);
    assert_int_equal(figures_find(&set, "kind=conv impl=a")->n_runs, 2);
    assert_non_null(figures_find(&set, "kind=conv impl=a bias=false"));
    assert_non_null(figures_find(&set, "kind=conv impl=a mode=convolution"));
    figures_free(&set);
}

/* Training on moved images is another figure; records that do not say how far are of images as they are. */
static void test_shifts(void **state)
{
#define RUN "{\"kind\":\"env\",\"cpu\":\"x\"}"
#define EPOCH_OF(shift) "{\"kind\":\"epoch\",\"impl\":\"a\",\"seconds\":1" shift "}"
    static const char *const lines[] = {RUN, EPOCH_OF(""),
                                        RUN, EPOCH_OF(",\"shift\":0"),
                                        RUN, EPOCH_OF(",\"shift\":2"),
                                        RUN, EPOCH_OF(",\"shift\":2"),
                                        RUN, EPOCH_OF(",\"shift\":20"),
                                        RUN, EPOCH_OF("")};
    figure_set set;
    cnn_error err;
    assert_int_equal(READ(lines, &set, &err), CNN_OK);
    assert_int_equal(set.count, 3);
    assert_non_null(figures_find(&set, "kind=epoch impl=a"));
    assert_non_null(figures_find(&set, "kind=epoch impl=a shift=2"));
    assert_int_equal(figures_find(&set, "kind=epoch impl=a")->n_runs, 3);
    assert_int_equal(figures_find(&set, "kind=epoch impl=a shift=2")->n_runs, 2);
    figures_free(&set);
}

static void test_machines(void **state)
{
#define ENV(gpu)                                                                                                       \
    "{\"kind\":\"env\",\"cpu\":\"x\",\"impl\":\"i\",\"implementation\":{\"gpu\":\"" gpu "\",\"driver\":\"5\"}}"
#define EPOCH "{\"kind\":\"epoch\",\"impl\":\"i\",\"seconds\":1}"
    static const char *const epochs[] = {ENV("H"), EPOCH, ENV("H"), EPOCH, ENV("A"), EPOCH};
    static const char *const both[] = {ENV("H"), CONV "\"impl\":\"i\",\"machine\":\"H\"}",
                                       CONV "\"impl\":\"cpu\",\"machine\":\"x\"}"};
    static const char *const two[] = {CONV "\"machine\":\"H\"}", CONV "\"machine\":\"A\"}"};
    figure_set set;
    cnn_error err;
    assert_int_equal(READ(epochs, &set, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "H and A");
    assert_int_equal(READ(two, &set, &err), CNN_BAD_ARGUMENT);
    assert_int_equal(read_lines(epochs, 4, NULL, &set, &err), CNN_OK);
    assert_string_equal(figures_fact(&set, "i.gpu"), "H");
    assert_string_equal(figures_fact(&set, "i.driver"), "5");
    figures_free(&set);
    assert_int_equal(READ(both, &set, &err), CNN_OK); /* the host's figures and the GPU's are two anyway */
    assert_int_equal(set.count, 2);
    figures_free(&set);
}

/* Records of a key are runs; a run's epochs are one. */
static void test_reading(void **state)
{
    static const char *const lines[] = {
        "{\"kind\":\"env\",\"cpu\":\"x\"}",
        "{\"kind\":\"conv\",\"impl\":\"a\",\"median_s\":1e-3}",
        "{\"kind\":\"conv\",\"impl\":\"a\",\"median_s\":2e-3,\"resolution\":0.1}",
        "{\"kind\":\"conv\",\"impl\":\"b\",\"median_s\":5}",
        "{\"kind\":\"epoch\",\"impl\":\"a\",\"seconds\":3}",
        "{\"kind\":\"epoch\",\"impl\":\"a\",\"seconds\":1}",
        "{\"kind\":\"env\",\"cpu\":\"x\"}",
        "{\"kind\":\"epoch\",\"impl\":\"a\",\"seconds\":7}",
    };
    cnn_error err;
    figure_set set;
    assert_int_equal(READ(lines, &set, &err), CNN_OK);
    const figure *conv = figures_find(&set, "kind=conv impl=a"), *epoch = figures_find(&set, "kind=epoch impl=a");
    assert_non_null(conv);
    assert_non_null(epoch);
    assert_int_equal(set.count, 3);
    assert_int_equal(conv->n_runs, 2);
    assert_true(conv->runs[1] > 1.9e-3 && conv->resolution > 0.09);
    assert_int_equal(epoch->n_runs, 2);
    assert_true(fabs(epoch->runs[0] - 2) < 1e-9 && fabs(epoch->runs[1] - 7) < 1e-9);
    figures_free(&set);
}

/* Two thread counts are one figure when that is asked for, if each file holds one of them. */
static void test_across(void **state)
{
#define THREADS(n) "{\"kind\":\"conv\",\"median_s\":1,\"impl\":\"a\",\"dir\":\"FWD\",\"threads\":" #n "}"
    static const char *const one[] = {THREADS(1), THREADS(1)}, *const two[] = {THREADS(2)},
                             *const both[] = {THREADS(1), THREADS(2)};
    figure_set a, b;
    cnn_error err;
    assert_int_equal(read_lines(one, 2, "knobs,threads", &a, &err), CNN_OK);
    assert_int_equal(read_lines(two, 1, "knobs,threads", &b, &err), CNN_OK);
    assert_int_equal(a.list[0].n_runs, 2);
    assert_non_null(figures_find(&b, a.list[0].key));
    assert_string_equal(a.list[0].key, "kind=conv impl=a dir=FWD");
    assert_non_null(strstr(b.list[0].whole, "threads=2"));
    figures_free(&a);
    figures_free(&b);
    assert_int_equal(read_lines(both, 2, "threads", &a, &err), CNN_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "--across threads"));
    assert_int_equal(record_identity_fields("threads,knob", IDENTITY_FIGURE, &err), CNN_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "knobs"));
    assert_int_equal(record_identity_fields("threads,knobs", IDENTITY_FIGURE, &err), CNN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_positives), cmocka_unit_test(test_finds_differences),
                                       cmocka_unit_test(test_verdicts),        cmocka_unit_test(test_student),
                                       cmocka_unit_test(test_reading),         cmocka_unit_test(test_variants),
                                       cmocka_unit_test(test_across),          cmocka_unit_test(test_machines),
                                       cmocka_unit_test(test_shifts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
