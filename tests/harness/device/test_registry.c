/* test_registry.c: choosing implementations and algorithms, setting knobs, opening sessions. */
#include "tests/unit.h"

#include "harness/device/impl.h"
#include "harness/problem/names.h"

static void choices_take_names_and_globs(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
    static const struct {
        const char *text, *word;
    } wrong[] = {{"cpu.isa", "IMPL.KNOB=VALUE"},
                 {"cpu.isa=9", "must be from"},
                 {"cpu.isb=1", "did you mean 'isa'"},
                 {"cpv.isa=1", "did you mean"},
                 {"cpu.IM2COL.BLOCK_KIB=-1", "knob cpu.im2col.block_kib is -1"}, /* that one, in other case */
                 {"cpu.isa=one", "not a whole number"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cnn_error err = {.message = ""};
        assert_int_equal(cnn_settings_check(NULL, &wrong[i].text, 1, &err), CNN_BAD_ARGUMENT);
        assert_message(err, wrong[i].word);
    }
    const char *right = "cpu.isa=0";
    cnn_error err;
    assert_int_equal(cnn_settings_check(NULL, &right, 1, &err), CNN_OK);

    const cnn_session_params params = {.threads = 1, .settings = &right, .n_settings = 1};
    cnn_session session;
    assert_int_equal(cnn_session_open(cnn_impl_find(NULL, "cpu", &err), &params, &session, &err), CNN_OK);
    for (int i = 0; i < session.impl->n_knobs; i++)
        assert_int_equal(session.knobs[i],
                         strcmp(session.impl->knobs[i].name, "isa") == 0 ? 0 : session.impl->knobs[i].def);
    cnn_session_close(&session);
}

static void a_foreign_interface_version_is_refused(void **state)
{
    (void)state;
    cnn_error err;
    cnn_impl other = *cnn_impl_find(NULL, "cpu", &err);
    cnn_session session;
    const cnn_session_params params = {.threads = 1};
    other.abi_version++;
    assert_int_equal(cnn_session_open(&other, &params, &session, &err), CNN_UNAVAILABLE);
    assert_message(err, "interface version");
}

/* Any function: what matters is that the slot is filled. */
static void nothing(void) {}

static void slots_that_go_together_are_refused_alone(void **state)
{
    (void)state;
    static const struct {
        const char *has, *lacks;
        size_t offset;
    } alone[] = {{"alloc", "free", offsetof(cnn_impl, alloc)},
                 {"memory_free", "alloc", offsetof(cnn_impl, memory_free)},
                 {"timer_start", "timer_stop", offsetof(cnn_impl, timer_start)},
                 {"capture_begin", "capture_end", offsetof(cnn_impl, capture_begin)},
                 {"lap", "laps_open", offsetof(cnn_impl, lap)},
                 {"range_pop", "range_push", offsetof(cnn_impl, range_pop)},
                 {"upload_async", "host_alloc", offsetof(cnn_impl, upload_async)},
                 {"prepare", "release", offsetof(cnn_impl, prepare)},
                 {"step_open", "step_run", offsetof(cnn_impl, step_open)},
                 {"peak_run", "n_peaks", offsetof(cnn_impl, peak_run)}};
    cnn_error err;
    const cnn_impl *cpu = cnn_impl_find(NULL, "cpu", &err);
    assert_int_equal(cnn_impl_check(cpu, &err), CNN_OK);
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        char sentence[CNN_MESSAGE_MAX];
        void (*const some)(void) = nothing;
        cnn_impl impl = {.abi_version = CNN_ABI_VERSION,
                         .struct_size = sizeof impl,
                         .name = "lone",
                         .doc = "nobody is with it",
                         .algorithms = cpu->algorithms,
                         .n_algorithms = 1,
                         .probe = cpu->probe,
                         .open = cpu->open,
                         .close = cpu->close,
                         .supports = cpu->supports};
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_OK);
        memcpy((char *)&impl + alone[i].offset, &some, sizeof some);
        assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
        snprintf(sentence, sizeof sentence, "lone has %s, but no %s:", alone[i].has, alone[i].lacks);
        assert_message(err, sentence);
    }
    cnn_impl impl = *cpu;
    impl.peak_open = NULL;
    assert_int_equal(cnn_impl_check(&impl, &err), CNN_UNAVAILABLE);
    assert_message(err, "has n_peaks, but no peak_open");
}

static cnn_status opens_without_a_word(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    (void)params, (void)context, (void)err;
    return CNN_DEVICE;
}

static void a_slot_that_fails_without_a_word_gets_a_sentence(void **state)
{
    (void)state;
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
    (void)state;
    cnn_error err;
    cnn_impl none = *cnn_impl_find(NULL, "cpu", &err);
    none.n_algorithms = 0;
    none.enumerate = NULL;
    assert_int_equal(cnn_impl_check(&none, &err), CNN_UNAVAILABLE);
    assert_message(err, "cpu has no algorithms");
}

static void memory_that_does_not_fit_is_refused_before_it_is_taken(void **state)
{
    (void)state;
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
        cmocka_unit_test(slots_that_go_together_are_refused_alone),
        cmocka_unit_test(a_slot_that_fails_without_a_word_gets_a_sentence),
        cmocka_unit_test(an_implementation_without_algorithms_is_refused),
        cmocka_unit_test(memory_that_does_not_fit_is_refused_before_it_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
