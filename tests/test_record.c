/* test_record.c: what is written is read back, and nothing that went wrong before or during a run spoils a record. */
#include "harness/record.h"

#include "harness/impl.h"
#include "harness/problem.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

static char path[64];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/test_record_XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void append_text(const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void read_text(char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void write_one(const char *key, int64_t value)
{
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    cnn_record *record = record_new("peak");
    record_int(record, key, value);
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
}

/* Counts the records and adds up their "n". */
typedef struct tally {
    int count;
    double sum;
} tally;

static cnn_status count_record(void *user, const cnn_record *record, cnn_error *err)
{
    tally *t = user;
    double n;
    (void)err;
    t->count++;
    if (record_get_real(record, "n", &n)) t->sum += n;
    return CNN_OK;
}

static tally read_all(int *bad)
{
    cnn_error err;
    tally t = {0, 0};
    assert_int_equal(record_read(path, count_record, &t, bad, &err), CNN_OK);
    return t;
}

static const char hard_text[] = "say \"x\\y\"\n\ttab, \x01, caf\xC3\xA9, \xE2\x9C\x93, \xF0\x9F\x98\x80";

static cnn_status check_fields(void *user, const cnn_record *record, cnn_error *err)
{
    double value;
    (void)err;
    ++*(int *)user;
    assert_string_equal(record_get_text(record, "kind"), "epoch");
    assert_string_equal(record_get_text(record, "text"), hard_text);
    assert_string_equal(record_get_text(record, "latin"), "caf? \?\? end");
    assert_true(record_get_real(record, "seconds", &value));
    assert_true(fabs(value - 1.23456789e-5) < 1e-14);
    assert_false(record_get_real(record, "nan", &value));
    assert_false(record_get_real(record, "infinite", &value));
    assert_false(record_get_real(record, "text", &value));
    assert_null(record_get_text(record, "seconds"));
    assert_null(record_get_text(record, "absent"));
    return CNN_OK;
}

static void fields_come_back(void **state)
{
    static const double list[] = {0.5, NAN, 3};
    char text[2048];
    cnn_error err;
    record_sink *sink;
    int seen = 0, bad;
    (void)state;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    cnn_record *record = record_new("epoch");
    record_text(record, "text", hard_text);
    record_text(record, "latin", "caf\xE9 \xC0\xAF end"); /* Latin-1, and an overlong '/': no UTF-8 */
    record_real(record, "seconds", 1.23456789e-5);
    record_real(record, "nan", NAN);
    record_real(record, "infinite", -INFINITY);
    record_real(record, "flops", 81920000000.0);
    record_int(record, "big", INT64_MAX);
    record_bool(record, "verified", true);
    record_reals(record, "list", list, 3);
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
    assert_int_equal(record_read(path, check_fields, &seen, &bad, &err), CNN_OK);
    assert_int_equal(seen, 1);
    assert_int_equal(bad, 0);
    read_text(text, sizeof text);
    assert_non_null(strstr(text, "\"big\":9223372036854775807"));
    assert_non_null(strstr(text, "\"flops\":81920000000,"));
    assert_non_null(strstr(text, "\"nan\":null,\"infinite\":null"));
    assert_non_null(strstr(text, "\"verified\":true"));
    assert_non_null(strstr(text, "\"list\":[0.5,null,3]"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line, ended */
}

static void a_torn_line_spoils_no_other(void **state)
{
    int bad;
    (void)state;
    write_one("n", 1);
    append_text("{\"kind\":\"peak\",\"n\":10"); /* a run killed in mid-write */
    write_one("n", 100);
    tally t = read_all(&bad);
    assert_int_equal(t.count, 2);
    assert_true(t.sum == 101);
    assert_int_equal(bad, 0);
    for (int i = 0; i < 6000; i++)
        append_text(i == 0 ? "{\"kind\":\"peak\",\"n\":[" : "1,"); /* longer than a part read */
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_sink_cut(sink), 20 + 2 * 5999);
    record_sink_close(sink);
    append_text("{\"kind\":\"peak\",\"n\":1000}"); /* whole, but for its newline */
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_sink_cut(sink), 0);
    record_sink_close(sink);
    write_one("n", 10000);
    t = read_all(&bad);
    assert_true(t.count == 4 && t.sum == 11101 && bad == 0);
}

/* What fits of a record is taken back: the file stays whole, and goes on when there is room. */
static void a_full_disk_leaves_whole_records(void **state)
{
    const struct rlimit little = {40, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    cnn_error err;
    record_sink *sink;
    int bad;
    (void)state;
    write_one("n", 1); /* 22 bytes */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    cnn_record *record = record_new("peak");
    record_int(record, "n", 123456789);
    assert_int_equal(record_write(sink, record, &err), CNN_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 22);
    record = record_new("peak");
    record_int(record, "n", 2);
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
    assert_true(read_all(&bad).sum == 3 && bad == 0);
}

static void lines_that_are_no_records_are_counted(void **state)
{
    int bad;
    (void)state;
    append_text("\n[1,2]\n{\"n\":5}\n{\"kind\":\"peak\",\"n\":7} trailing\nnull\n");
    append_text("{\"kind\":\"peak\",\"n\":9}"); /* whole, though its newline is missing */
    tally t = read_all(&bad);
    assert_int_equal(t.count, 1);
    assert_true(t.sum == 9);
    assert_int_equal(bad, 4);
}

static void zeros_of_a_crashed_disk_are_one_bad_line(void **state)
{
    static const char zeros[64];
    int bad;
    (void)state;
    write_one("n", 1);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
    close(fd);
    assert_true(read_all(&bad).sum == 1);
    assert_int_equal(bad, 1);
    write_one("n", 2); /* they are cut off like any other half a record */
    assert_true(read_all(&bad).sum == 3);
    assert_int_equal(bad, 0);
}

static void a_full_disk_is_an_error(void **state)
{
    cnn_error err;
    record_sink *sink;
    (void)state;
    assert_int_equal(record_sink_open("/dev/full", false, &sink, &err), CNN_OK);
    assert_int_equal(record_write(sink, record_new("peak"), &err), CNN_IO);
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_non_null(strstr(err.message, "No space left on device"));
    record_sink_close(sink);
}

static void an_unwritable_path_is_an_error_at_once(void **state)
{
    cnn_error err;
    record_sink *sink;
    int bad;
    (void)state;
    assert_int_equal(record_sink_open("/nonexistent/a.jsonl", false, &sink, &err), CNN_IO);
    assert_non_null(strstr(err.message, "/nonexistent/a.jsonl"));
    assert_null(sink);
    assert_int_equal(record_sink_open("/tmp", false, &sink, &err), CNN_IO);
    assert_int_equal(record_read("/nonexistent/a.jsonl", count_record, NULL, &bad, &err), CNN_IO);
    assert_int_equal(record_read("/tmp", count_record, NULL, &bad, &err), CNN_IO);
}

/* A writer killed at an arbitrary moment: every line but perhaps the last is a whole record. */
static void a_kill_leaves_whole_records(void **state)
{
    struct stat info = {0};
    int bad, code;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        for (int64_t i = 0;; i++) write_one("n", i);
    while (stat(path, &info) == 0 && info.st_size < 2000) usleep(1000);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &code, 0), child);
    int before = read_all(&bad).count;
    assert_true(bad <= 1);
    write_one("n", 0);
    assert_int_equal(read_all(&bad).count, before + 1);
}

static void environment_names_machine_and_build(void **state)
{
    char text[8192];
    cnn_error err;
    record_sink *sink;
    static const char *const keys[] = {"\"kind\":\"env\"", "\"date\":\"20", "\"command\":\"benchcnn 'a b'\"",
                                       "\"cpu\":",         "\"cores\":",    "\"memory_bytes\":",
                                       "\"kernel\":",      "\"compiler\":", "\"flags\":",
                                       "\"build_type\":",  "\"commit\":"};
    (void)state;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, NULL, "benchcnn 'a b'", &err), CNN_OK);
    record_sink_close(sink);
    read_text(text, sizeof text);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) assert_non_null(strstr(text, keys[i]));
}

static void knobs_at_their_default_are_left_out(void **state)
{
    static const cnn_knob knobs[] = {{"tile", "", 1, 64, 8, NULL, 0}, {"isa", "", 0, 2, 2, NULL, 0}};
    cnn_impl impl = {.name = "fake", .knobs = knobs, .n_knobs = 2};
    cnn_session session = {&impl, NULL, 3, 0, (int64_t[]){16, 2}};
    char text[1024];
    cnn_error err;
    record_sink *sink;
    (void)state;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    cnn_record *record = record_new("conv");
    record_session(record, &session, "direct");
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
    read_text(text, sizeof text);
    assert_string_equal(text, "{\"kind\":\"conv\",\"impl\":\"fake\",\"algorithm\":\"direct\",\"threads\":3,"
                              "\"knobs\":{\"tile\":16}}\n");
}

/* cJSON's memory, which runs out for one allocation, after so many; what was freed is overwritten and kept until the
 * end, so that whoever still uses it goes astray. */
enum { MOST_BLOCKS = 1024 };
static struct {
    int left, count;
    union block {
        size_t size;
        max_align_t align;
    } * blocks[MOST_BLOCKS];
} scarce;

static void *scarce_alloc(size_t size)
{
    if (scarce.left-- == 0 || scarce.count == MOST_BLOCKS) return NULL;
    union block *block = malloc(sizeof *block + size);
    assert_non_null(block);
    block->size = size;
    scarce.blocks[scarce.count++] = block;
    return block + 1;
}

static void scarce_free(void *memory)
{
    if (memory) memset(memory, 0x5A, ((union block *)memory - 1)->size);
}

static void describe_fake(cnn_context *context, cnn_put_fn *put, void *user)
{
    (void)context;
    put(user, "library", "1.0");
    put(user, "device", "none");
}

static void memory_that_runs_out_leaves_no_record(void **state)
{
    cnn_impl impl = {.name = "fake", .describe = describe_fake};
    const cnn_session session = {&impl, NULL, 1, 0, NULL};
    char text[8192];
    cnn_error err;
    record_sink *sink;
    cnn_status status = CNN_OUT_OF_MEMORY;
    (void)state;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    for (int allocations = 0; status != CNN_OK && allocations < MOST_BLOCKS; allocations++) {
        cJSON_InitHooks(&(cJSON_Hooks){scarce_alloc, scarce_free});
        scarce.left = allocations;
        status = record_environment(sink, &session, "benchcnn", &err);
        cJSON_InitHooks(NULL);
        for (; scarce.count > 0; scarce.count--) free(scarce.blocks[scarce.count - 1]);
        read_text(text, sizeof text);
        if (status != CNN_OK) assert_string_equal(text, "");
        if (status != CNN_OK) assert_int_equal(status, CNN_OUT_OF_MEMORY);
    }
    record_sink_close(sink);
    assert_int_equal(status, CNN_OK);
    assert_non_null(strstr(text, "\"device\":\"none\""));
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

/* What stands in the file, and whether records may be appended. */
static void only_records_are_appended_to(void **state)
{
    static const struct {
        const char *text;
        cnn_status status;
    } rows[] = {{"", CNN_OK},
                {"\n\n", CNN_OK},
                {"{\"kind\":\"env\"}\nwhatever\n", CNN_OK},
                {"{ \"cores\": 2, \"kind\": \"env\" }\r\n", CNN_OK},
                {"{\"ki", CNN_OK},                                /* a kill came early */
                {"{\"kind\":\"en\n{\"kind\":\"env\"}\n", CNN_OK}, /* and a later run went on */
                {"# benchcnn\n", CNN_BAD_FORMAT},
                {"\n# benchcnn\n", CNN_BAD_FORMAT},
                {"{\"name\":\"package\"}\n", CNN_BAD_FORMAT},
                {"\177ELF\2\1\1", CNN_BAD_FORMAT}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];
        record_sink *sink;
        cnn_error err;
        assert_int_equal(truncate(path, 0), 0);
        append_text(rows[i].text);
        assert_int_equal(record_sink_open(path, false, &sink, &err), rows[i].status);
        record_sink_close(sink);
        if (rows[i].status == CNN_OK) continue;
        assert_non_null(strstr(err.message, path));
        read_text(text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

/* What a descriptor does not say stands beside it. */
static void what_descriptors_leave_out_is_told(void **state)
{
    (void)state;
    static const struct {
        cnn_op op;
        const char *text, *bias, *mode; /* NULL: no such field */
        bool no_bias, flip;
    } cases[] = {{CNN_OP_CONV, "ic3ih5oc4kh3", "true", "\"cross_correlation\"", false, false},
                 {CNN_OP_CONV, "ic3ih5oc4kh3", "false", "\"convolution\"", true, true},
                 {CNN_OP_FC, "ic3oc4", "false", NULL, true, false},
                 {CNN_OP_ACT, "relu:ic3", NULL, NULL, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cnn_problem_defaults defaults = {
            .type = {CNN_F32, CNN_NCHW, CNN_MATH_F32}, .no_bias = cases[i].no_bias, .flip = cases[i].flip};
        cnn_problem problem;
        cnn_error err;
        assert_int_equal(cnn_problem_parse(cases[i].op, cases[i].text, &defaults, &problem, &err), CNN_OK);
        cnn_record *record = record_new("test");
        record_problem(record, &problem, CNN_FWD);
        char *bias = record_json(record, "bias"), *mode = record_json(record, "mode");
        assert_int_equal(bias != NULL, cases[i].bias != NULL);
        assert_int_equal(mode != NULL, cases[i].mode != NULL);
        if (bias) assert_string_equal(bias, cases[i].bias);
        if (mode) assert_string_equal(mode, cases[i].mode);
        free(bias);
        free(mode);
        record_free(record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(fields_come_back),
        WITH_FILE(a_torn_line_spoils_no_other),
        WITH_FILE(a_full_disk_leaves_whole_records),
        WITH_FILE(lines_that_are_no_records_are_counted),
        WITH_FILE(zeros_of_a_crashed_disk_are_one_bad_line),
        WITH_FILE(only_records_are_appended_to),
        WITH_FILE(a_full_disk_is_an_error),
        WITH_FILE(an_unwritable_path_is_an_error_at_once),
        WITH_FILE(a_kill_leaves_whole_records),
        WITH_FILE(environment_names_machine_and_build),
        WITH_FILE(knobs_at_their_default_are_left_out),
        WITH_FILE(memory_that_runs_out_leaves_no_record),
        cmocka_unit_test(what_descriptors_leave_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
