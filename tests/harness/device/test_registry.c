/* test_registry.c: choosing implementations and algorithms, setting knobs, opening sessions. */
#include "tests/problem_unit.h"

#include "harness/device/registry.h"
#include "harness/problem/names.h"

#include <stdlib.h>

static void choices_take_names_and_globs(void **state)
{
    cnn_choice list[CNN_MAX_CHOICES];
    cnn_error err = {.message = ""};
    int count;
    assert_int_equal(cnn_choices_parse(NULL, "cpu:direct,cp*:na?ve", list, &count, &err), CNN_OK);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].impl->name, "cpu");
    assert_string_equal(list[0].pattern, "direct");
    const cnn_algorithm naive = {.name = "naive"}, direct = {.name = "direct"};
    assert_true(cnn_choice_matches(&list[1], &naive));
    assert_false(cnn_choice_matches(&list[1], &direct));
    assert_int_equal(cnn_choices_parse(NULL, NULL, list, &count, &err), CNN_OK);
    assert_true(count >= 1 && cnn_choice_matches(&list[0], &direct));
}

static void wrong_choices_offer_the_nearest(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {{"cqu", "did you mean 'cpu'"},
                 {"cpu:dirct", "did you mean 'direct'"},
                 {"cpu:DIRECT", "did you mean 'direct'"},
                 {"cpu:", "NAME[:ALGORITHM]"},
                 {"", "NAME[:ALGORITHM]"},
                 {"x*", "no implementation matches"},
                 {"cpu:zzz*", "known are"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_choice list[CNN_MAX_CHOICES];
        cnn_error err = {.message = ""};
        int count;
        assert_int_not_equal(cnn_choices_parse(NULL, cases[i].text, list, &count, &err), CNN_OK);
        assert_message(err, cases[i].word);
    }
}

static void settings_are_checked_against_the_table(void **state)
{
    static const struct {
        const char *text, *word;
    } wrong[] = {{"cpu.isa", "IMPL.KNOB=VALUE"},
                 {"cpu.isa=9", "must be from"},
                 {"cpu.isb=1", "did you mean 'isa'"},
                 {"cpv.isa=1", "did you mean"},
                 {"cpu.IM2COL.BLOCK_KIB=-1", "knob cpu.im2col.block_kib is -1"}, /* that one, in other case */
                 {"cpu.isa=one", "not a whole number"},
                 {"isa=1", "'cpu.isa=1'"},
                 {"im2col.block_kib=1", "'cpu.im2col.block_kib=1'"},
                 {"*.isa=9", "knob cpu.isa is 9"},
                 {"c*.isb=1", "no implementation 'c*' has"},
                 {"x*.isa=1", "no implementation 'x*' has"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cnn_error err = {.message = ""};
        assert_int_equal(cnn_settings_check(NULL, &wrong[i].text, 1, &err), CNN_BAD_ARGUMENT);
        assert_message(err, wrong[i].word);
    }
    static const char *const right[] = {"cpu.isa=0", "c*.isa=0"}, *const passed_over = "other*.isa=7";
    for (size_t r = 0; r < sizeof right / sizeof right[0]; r++) {
        cnn_error err;
        assert_int_equal(cnn_settings_check(NULL, &right[r], 1, &err), CNN_OK);

        const char *const settings[] = {right[r], passed_over};
        const cnn_session_params params = {.threads = 1, .settings = settings, .n_settings = 2};
        cnn_session session;
        assert_int_equal(cnn_session_open(cnn_impl_find(NULL, "cpu", &err), &params, &session, &err), CNN_OK);
        for (int i = 0; i < session.impl->n_knobs; i++)
            assert_int_equal(session.knobs[i],
                             strcmp(session.impl->knobs[i].name, "isa") == 0 ? 0 : session.impl->knobs[i].def);
        cnn_session_close(&session);
    }
}

static void a_foreign_interface_version_is_refused(void **state)
{
    cnn_error err;
    cnn_impl other = *cnn_impl_find(NULL, "cpu", &err);
    cnn_session session;
    const cnn_session_params params = {.threads = 1};
    other.abi_version++;
    assert_int_equal(cnn_session_open(&other, &params, &session, &err), CNN_UNAVAILABLE);
    assert_message(err, "interface version");
    /* of another version nothing else is read, nor need it be there */
    uint32_t *first = malloc(2 * sizeof *first);
    assert_non_null(first);
    first[0] = 1, first[1] = 712;
    assert_int_equal(cnn_impl_check((const cnn_impl *)(const void *)first, &err), CNN_UNAVAILABLE);
    assert_message(err, "interface version 1");
    assert_message(err, "impl_template/README.md");
    free(first);
}

/* ---- Tables: whole, or not there. */

/* Any function: what matters is that the slot is filled. */
static void nothing(void) {}

static const struct {
    const char *table, *function;
    size_t at, offset, size; /* of the table's pointer, of the function in the table, of the table */
} functions[] = {
#define FUNCTION(table, name) #table, #name, offsetof(cnn_impl, table), offsetof(cnn_##table, name), sizeof(cnn_##table)
    {FUNCTION(memory, alloc)},       {FUNCTION(memory, free)},    {FUNCTION(memory, upload)},
    {FUNCTION(memory, download)},    {FUNCTION(memory, copy)},    {FUNCTION(memory, fill)},
    {FUNCTION(memory, available)},   {FUNCTION(timing, start)},   {FUNCTION(timing, stop)},
    {FUNCTION(capture, begin)},      {FUNCTION(capture, end)},    {FUNCTION(capture, run)},
    {FUNCTION(capture, free)},       {FUNCTION(profile, open)},   {FUNCTION(profile, close)},
    {FUNCTION(profile, use)},        {FUNCTION(profile, lap)},    {FUNCTION(profile, read)},
    {FUNCTION(ranges, push)},        {FUNCTION(ranges, pop)},     {FUNCTION(uploads, host_alloc)},
    {FUNCTION(uploads, host_free)},  {FUNCTION(uploads, start)},  {FUNCTION(uploads, use)},
    {FUNCTION(offloads, open)},      {FUNCTION(offloads, close)}, {FUNCTION(offloads, begin)},
    {FUNCTION(offloads, wait)},      {FUNCTION(uploads, drain)},  {FUNCTION(peaks, open)},
    {FUNCTION(peaks, run)},          {FUNCTION(peaks, close)},    {FUNCTION(trainers, supports)},
    {FUNCTION(trainers, open)},      {FUNCTION(trainers, close)}, {FUNCTION(trainers, load)},
    {FUNCTION(trainers, save)},      {FUNCTION(trainers, train)}, {FUNCTION(trainers, test)},
    {FUNCTION(trainers, gradients)}, {FUNCTION(streams, open)},   {FUNCTION(streams, close)},
    {FUNCTION(streams, use)},        {FUNCTION(streams, mark)},   {FUNCTION(streams, wait)},
#undef FUNCTION
};

/* The least that there can be: no table but ops, which has no operation. */
static cnn_impl lone(void)
{
    static const cnn_operations none = {.struct_size = sizeof(cnn_operations)};
    cnn_error err;
    const cnn_impl *cpu = cnn_impl_find(NULL, "cpu", &err);
    return (cnn_impl){.abi_version = CNN_ABI_VERSION,
                      .struct_size = sizeof(cnn_impl),
                      .name = "lone",
                      .doc = "nobody is with it",
                      .algorithms = cpu->algorithms,
                      .n_algorithms = 1,
                      .probe = cpu->probe,
                      .open = cpu->open,
                      .close = cpu->close,
                      .supports = cpu->supports,
                      .ops = &none};
}

static void a_table_is_whole_or_not_there(void **state)
{
    cnn_error err;
    assert_int_equal(cnn_impl_check(cnn_impl_find(NULL, "cpu", &err), &err), CNN_OK);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void (*const some)(void) = nothing, (*const none)(void) = NULL;
        union {
            cnn_trainers trainers; /* the largest */
            cnn_peaks peaks;
        } table;
        const void *const there = &table;
        char sentence[CNN_MESSAGE_MAX];
        cnn_impl impl = lone();
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
        assert_true(functions[i].size <= sizeof table);
        for (size_t k = 0; k < functions[i].size; k += sizeof some) memcpy((char *)&table + k, &some, sizeof some);
        if (strcmp(functions[i].table, "peaks") == 0) table.peaks.count = 1;
        memcpy((char *)&impl + functions[i].at, &there, sizeof there);
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
        memcpy((char *)&table + functions[i].offset, &none, sizeof none);
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        snprintf(sentence, sizeof sentence, "%s has no %s:", functions[i].table, functions[i].function);
        assert_message(err, sentence);
    }
}

static void ceilings_are_counted(void **state)
{
    static const int counts[] = {-1, 1000000};
    cnn_error err;
    cnn_impl impl = *cnn_impl_find(NULL, "cpu", &err);
    cnn_peaks peaks = *impl.peaks;
    impl.peaks = &peaks;
    for (int i = 0; i < 2; i++) {
        char sentence[CNN_MESSAGE_MAX];
        peaks.count = counts[i];
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        snprintf(sentence, sizeof sentence, "peaks->count is %d, but must be", counts[i]);
        assert_message(err, sentence);
    }
}

/* ---- Tables of another size: of an older cnn.h, or of none. */

static void sizes_that_cannot_be_are_refused(void **state)
{
    static const uint32_t sizes[] = {0, 4, 8, sizeof(cnn_impl) + 8, 1000000, UINT32_MAX};
    static const uint32_t ops_sizes[] = {0, 3, sizeof(cnn_operations) + 8, UINT32_MAX};
    cnn_error err;
    cnn_impl impl = *cnn_impl_find(NULL, "cpu", &err);
    cnn_operations ops = *impl.ops;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        impl.struct_size = sizes[i];
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        assert_message(err, "struct_size is ");
    }
    impl.struct_size = sizeof impl, impl.ops = &ops;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
    for (size_t i = 0; i < sizeof ops_sizes / sizeof *ops_sizes; i++) {
        ops.struct_size = ops_sizes[i];
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        assert_message(err, "ops->struct_size is ");
    }
    impl.ops = NULL;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
    assert_message(err, "ops");
}

/* What lies behind a smaller table is not read, whatever it is. */
static void a_smaller_table_is_taken(void **state)
{
    const size_t end = offsetof(cnn_impl, memory);
    cnn_error err;
    cnn_impl old = *cnn_impl_find(NULL, "cpu", &err);
    assert_true(old.profile != NULL && old.peaks != NULL);
    memset((char *)&old + end, 0xff, sizeof old - end);
    old.struct_size = (uint32_t)end, old.n_algorithms = 1; /* none that trains: it has no trainers */
    assert_int_equal(cnn_impl_check(&old, &err), CNN_OK);
    cnn_impl_copy copy;
    assert_int_equal(cnn_impl_take(&old, &copy, &err), CNN_OK);
    const cnn_impl *now = &copy.impl;
    assert_true(now->memory == NULL && now->timing == NULL && now->capture == NULL && now->profile == NULL);
    assert_true(now->ranges == NULL && now->uploads == NULL && now->peaks == NULL && now->trainers == NULL);
    assert_true(now->offloads == NULL && now->streams == NULL);
    assert_string_equal(now->name, "cpu");
    assert_ptr_equal(now->ops->conv_fwd, old.ops->conv_fwd);
    assert_ptr_equal(now->ops->gather, old.ops->gather);
}

/* Only types that it says it takes are asked for; who says nothing takes f32 and f64. */
static void types_are_taken_as_said(void **state)
{
    (void)state;
    static const struct {
        uint64_t said;
        cnn_dtype asked;
        const char *no;
    } rows[] = {{0, CNN_F32, NULL},
                {0, CNN_F64, NULL},
                {0, CNN_BF16, "does not take bf16: its types are f32, f64"},
                {1u << CNN_F16, CNN_F16, NULL},
                {1u << CNN_F16 | 1u << CNN_F64, CNN_F32, "does not take f32: its types are f64, f16"}};
    const cnn_session_params params = {.threads = 1};
    cnn_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cnn_impl impl = *cnn_impl_find(NULL, "cpu", &err);
        cnn_session session;
        const cnn_problem problem = problem_of(CNN_OP_ACT, "relu:mb1ic2ih2", rows[i].asked, CNN_NCHW);
        impl.dtypes = rows[i].said;
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
        assert_int_equal(cnn_session_open(&impl, &params, &session, &err), CNN_OK);
        const cnn_request request = {&problem, CNN_FWD, &impl.algorithms[0], NULL};
        assert_int_equal(cnn_supports(&session, &request, &err), rows[i].no == NULL ? CNN_OK : CNN_UNSUPPORTED);
        if (rows[i].no != NULL) assert_message(err, rows[i].no);
        cnn_session_close(&session);
        impl.dtypes = 1u << CNN_DTYPE_COUNT;
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        assert_message(err, "takes types that there are not");
    }
}

/* Runs `act`, or `add`, through a table. */
static cnn_status run_one(const cnn_impl *impl, cnn_op op, const char *text, cnn_error *err)
{
    const cnn_session_params params = {.threads = 1};
    float x[2][8] = {{-1, 2, -3, 4, -5, 6, -7, 8}, {0}}, y[8] = {0};
    void *const operands[CNN_MAX_OPERANDS] = {x[0], op == CNN_OP_ADD ? x[1] : y, y};
    cnn_session session;
    cnn_algorithm algorithm;
    const cnn_problem problem = problem_of(op, text, CNN_F32, CNN_NCHW);
    cnn_plan plan;
    assert_int_equal(cnn_session_open(impl, &params, &session, err), CNN_OK);
    assert_int_equal(cnn_algorithm_pick(&session, &problem, CNN_FWD, NULL, &algorithm, err), CNN_OK);
    assert_int_equal(cnn_plan_make(&session, &(cnn_request){&problem, CNN_FWD, &algorithm, NULL}, &plan, err), CNN_OK);
    const cnn_status status = cnn_run(&session, &plan, operands, &(cnn_run_extra){.beta = 0}, err);
    for (int i = 0; status == CNN_OK && i < 8; i++)
        assert_true(y[i] == (x[0][i] > 0 || op == CNN_OP_ADD ? x[0][i] : 0));
    cnn_plan_release(&session, &plan);
    cnn_session_close(&session);
    return status;
}

static void operations_that_came_later_are_not_there(void **state)
{
    const size_t end = offsetof(cnn_operations, add_fwd);
    cnn_error err;
    cnn_impl old = *cnn_impl_find(NULL, "cpu", &err);
    cnn_operations ops = *old.ops;
    cnn_impl_copy copy;
    old.ops = &ops;
    assert_int_equal(cnn_impl_take(&old, &copy, &err), CNN_OK);
    assert_int_equal(run_one(&copy.impl, CNN_OP_ADD, "mb1ic2ih2", &err), CNN_OK);
    memset((char *)&ops + end, 0xff, sizeof ops - end);
    ops.struct_size = (uint32_t)end;
    assert_int_equal(cnn_impl_take(&old, &copy, &err), CNN_OK);
    assert_true(copy.impl.ops->add_fwd == NULL && copy.impl.ops->optimizer_step == NULL);
    assert_null(copy.impl.ops->gather);
    assert_int_equal(run_one(&copy.impl, CNN_OP_ACT, "relu:mb1ic2ih2", &err), CNN_OK);
    assert_int_not_equal(run_one(&copy.impl, CNN_OP_ADD, "mb1ic2ih2", &err), CNN_OK);
    assert_message(err, "cpu has no add_fwd");
}

static cnn_status opens_without_a_word(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    return CNN_DEVICE;
}

static void a_slot_that_fails_without_a_word_gets_a_sentence(void **state)
{
    cnn_error err;
    cnn_impl mute = *cnn_impl_find(NULL, "cpu", &err);
    cnn_session session;
    const cnn_session_params params = {.threads = 1};
    CNN_FAIL(&err, CNN_IO, "something else, before");
    mute.open = opens_without_a_word;
    assert_int_equal(cnn_session_open(&mute, &params, &session, &err), CNN_DEVICE);
    assert_int_equal(err.status, CNN_DEVICE);
    assert_message(err, "cpu: open returned");
    assert_message(err, "device error");
}

static void an_implementation_without_algorithms_is_refused(void **state)
{
    cnn_error err;
    cnn_impl none = *cnn_impl_find(NULL, "cpu", &err);
    none.n_algorithms = 0;
    none.enumerate = NULL;
    assert_int_equal(cnn_impl_check(&none, &err), CNN_UNAVAILABLE);
    assert_message(err, "cpu has no algorithms");
}

static void a_row_that_trains_needs_its_table(void **state)
{
    cnn_error err;
    cnn_impl impl = *cnn_impl_find(NULL, "cpu", &err);
    cnn_algorithm row = {.name = "steps", .doc = "it trains", .ops = CNN_TRAINS};
    cnn_trainers trainers;
    void (*const some)(void) = nothing;
    for (size_t k = 0; k < sizeof trainers; k += sizeof some) memcpy((char *)&trainers + k, &some, sizeof some);
    impl.algorithms = &row, impl.n_algorithms = 1, impl.trainers = &trainers;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
    trainers.profile = NULL; /* only who says so must have it */
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
    row.flags |= CNN_ALGO_PROFILES;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
    assert_message(err,
                   "cpu: its algorithm steps has the flag CNN_ALGO_PROFILES, and its table trainers has no profile");
    impl.trainers = NULL;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
    assert_message(err, "cpu: its algorithm steps trains, but there is no table trainers");
    row.ops = ~0u; /* whatever comes: every operation, and so no trainer */
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
}

static void memory_that_does_not_fit_is_refused_before_it_is_taken(void **state)
{
    cnn_error err;
    const cnn_session_params params = {.threads = 1};
    cnn_session session;
    assert_int_equal(cnn_session_open(cnn_impl_find(NULL, "cpu", &err), &params, &session, &err), CNN_OK);
    assert_int_equal(cnn_mem_check(&session, (size_t)1 << 50, &err), CNN_OUT_OF_MEMORY);
    assert_message(err, "1125899906842624 bytes");
    assert_int_equal(cnn_mem_check(&session, 1000, &err), CNN_OK);
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_take_names_and_globs),
        cmocka_unit_test(wrong_choices_offer_the_nearest),
        cmocka_unit_test(settings_are_checked_against_the_table),
        cmocka_unit_test(a_foreign_interface_version_is_refused),
        cmocka_unit_test(a_table_is_whole_or_not_there),
        cmocka_unit_test(ceilings_are_counted),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(types_are_taken_as_said),
        cmocka_unit_test(a_smaller_table_is_taken),
        cmocka_unit_test(operations_that_came_later_are_not_there),
        cmocka_unit_test(a_slot_that_fails_without_a_word_gets_a_sentence),
        cmocka_unit_test(an_implementation_without_algorithms_is_refused),
        cmocka_unit_test(a_row_that_trains_needs_its_table),
        cmocka_unit_test(memory_that_does_not_fit_is_refused_before_it_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
