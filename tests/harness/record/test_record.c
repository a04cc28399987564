/* test_record.c: what a record is told comes back from its line, and memory that runs out leaves no half of one. */
#include "record_unit.h"

#include "harness/device/impl.h"
#include "harness/record/identity.h"
#include "tests/problem_unit.h"

#include <math.h>

#include <cjson/cJSON.h>

static const char hard_text[] = "say \"x\\y\"\n\ttab, \x01, caf\xC3\xA9, \xE2\x9C\x93, \xF0\x9F\x98\x80";

static cnn_status check_fields(void *user, const cnn_record *record, cnn_error *err)
{
    ++*(int *)user;
    assert_string_equal(record_get_text(record, "kind"), "epoch");
    assert_string_equal(record_get_text(record, "text"), hard_text);
    assert_string_equal(record_get_text(record, "latin"), "caf? \?\? end");
    assert_true(fabs(record_get_real(record, "seconds") - 1.23456789e-5) < 1e-14);
    assert_true(isnan(record_get_real(record, "nan")));
    assert_true(isnan(record_get_real(record, "infinite")));
    assert_true(isnan(record_get_real(record, "text")));
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
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
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

/* A choice is the tuning file's first; what the algorithm found within it stands beside. */
static void choices_are_told_apart(void **state)
{
    static const struct {
        const char *tuned, *settled, *choice, *inner;
    } cases[] = {{NULL, NULL, "", ""},
                 {NULL, "", "", ""},
                 {NULL, "eng7", "\"eng7\"", ""},
                 {"find", NULL, "\"find\"", ""},
                 {"find", "eng7", "\"find\"", "\"eng7\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_record *record = record_new("test");
        record_choice(record, cases[i].tuned, cases[i].settled);
        char *choice = record_json(record, "choice"), *inner = record_json(record, "inner_choice");
        record_free(record);
        assert_string_equal(choice ? choice : "", cases[i].choice);
        assert_string_equal(inner ? inner : "", cases[i].inner);
        free(choice);
        free(inner);
    }
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
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, NULL, "benchcnn 'a b'", &err), CNN_OK);
    record_sink_close(sink);
    read_text(text, sizeof text);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) assert_non_null(strstr(text, keys[i]));
}

static void knobs_at_their_default_are_left_out(void **state)
{
    static const cnn_knob knobs[] = {{"tile", "", 1, 64, 8, NULL, 0, false}, {"isa", "", 0, 2, 2, NULL, 0, true}};
    cnn_impl impl = {.name = "fake", .knobs = knobs, .n_knobs = 2};
    cnn_session session = {.impl = &impl, .threads = 3, .knobs = (int64_t[]){16, 2}};
    char text[1024];
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
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
    put(user, "library", "1.0");
    put(user, "device", "none");
}

static void memory_that_runs_out_leaves_no_record(void **state)
{
    cnn_impl impl = {.name = "fake", .describe = describe_fake};
    const cnn_session session = {.impl = &impl, .threads = 1};
    char text[8192];
    cnn_error err;
    record_sink *sink;
    cnn_status status = CNN_OUT_OF_MEMORY;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
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

/* What a descriptor does not say stands beside it. */
static void what_descriptors_leave_out_is_told(void **state)
{
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
            .type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, .no_bias = cases[i].no_bias, .flip = cases[i].flip};
        const cnn_problem problem = problem_with(cases[i].op, cases[i].text, &defaults);
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

/* However long: two records that differ in the last of thousands of bytes are two. */
static void keys_are_whole(void **state)
{
    enum { KNOBS = 100 };
    record_pair knobs[KNOBS];
    char *keys[4];
    for (int i = 0; i < KNOBS; i++) {
        snprintf(knobs[i].key, sizeof knobs[i].key, "knob_%050d", i);
        strcpy(knobs[i].value, "1");
    }
    for (int k = 0; k < 4; k++) { /* one; the same without what goes without saying; another knob; another field */
        cnn_record *record = record_new(k == 0 ? "this" : "that");
        if (k == 2) strcpy(knobs[KNOBS - 1].value, "2");
        record_text(record, "impl", "fake");
        record_int_pairs(record, "knobs", knobs, KNOBS);
        if (k != 1) record_bool(record, "bias", k != 3);
        keys[k] = record_identity(record, IDENTITY_POINT, NULL);
        assert_non_null(keys[k]);
        assert_true(strlen(keys[k]) > 5000);
        record_free(record);
    }
    assert_string_equal(keys[0], keys[1]);
    assert_string_not_equal(keys[0], keys[2]);
    assert_string_not_equal(keys[2], keys[3]);
    for (int k = 0; k < 4; k++) free(keys[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(fields_come_back),
        WITH_FILE(environment_names_machine_and_build),
        WITH_FILE(knobs_at_their_default_are_left_out),
        WITH_FILE(memory_that_runs_out_leaves_no_record),
        cmocka_unit_test(what_descriptors_leave_out_is_told),
        cmocka_unit_test(keys_are_whole),
        cmocka_unit_test(choices_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
