/* A tuning file: refused with the line that is wrong, or read; then any problem finds a choice that can be used, or
 * is told why not. */
#include "target.h"

#include "harness/problem/problem.h"
#include "harness/record/tuning.h"

static cnn_status probe(cnn_error *err)
{
    (void)err;
    return CNN_OK;
}

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    (void)params, (void)context, (void)err;
    return CNN_OK;
}

static void close_context(cnn_context *context) { (void)context; }

static cnn_status supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context, (void)request, (void)err;
    return CNN_OK;
}

static const cnn_knob knobs[] = {{"tile", "", 1, 64, 8, NULL, 0, false}};
static const cnn_algorithm algorithms[] = {{.name = "direct", .doc = "", .ops = ~0u, .amplification = 1.0}};
static const cnn_operations none = {.struct_size = sizeof(cnn_operations)};
static const cnn_impl fake = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "fake",
                              .doc = "",
                              .device_kind = CNN_DEVICE_EMULATED, /* no facts of this machine */
                              .knobs = knobs,
                              .n_knobs = 1,
                              .algorithms = algorithms,
                              .n_algorithms = 1,
                              .probe = probe,
                              .open = open_context,
                              .close = close_context,
                              .supports = supports,
                              .ops = &none};

static void find(const tuning *t)
{
    const cnn_session_params params = {.threads = 4};
    const cnn_problem_defaults defaults = {.no_bias = false};
    cnn_session session;
    cnn_problem problem;
    cnn_error err;
    char why[CNN_MESSAGE_MAX];
    require(cnn_problem_parse(CNN_OP_CONV, "mb2ic3ih8oc4oh8kh3ph1", &defaults, &problem, &err) == CNN_OK, "a problem");
    require(cnn_session_open(&fake, &params, &session, &err) == CNN_OK, "a session");
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        const tuning_choice *choice = NULL;
        const tuning_state state = tuning_find(t, &session, &problem, (cnn_dir)dir, &choice, why);
        require((state == TUNING_KEPT) == (choice != NULL), "a choice that is kept");
        if (state != TUNING_KEPT) continue;
        require(strcmp(choice->algorithm, "direct") == 0, "an algorithm that is there");
        const int threads = tuning_threads(choice, &fake, session.threads);
        require(choice->threads >= 1 && threads >= 1 && threads <= 4, "as many threads as there are");
        require(choice->n_settings >= 0 && choice->n_settings <= TUNING_SETTINGS, "settings");
    }
    cnn_session_close(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file file = input_file_make(data, size);
    tuning *t = NULL;
    cnn_error err = {.message = ""};
    const cnn_status status = tuning_read(file.path, &t, &err);
    if (status == CNN_OK)
        find(t);
    else
        require(err.message[0] != '\0', "a reason");
    tuning_free(t);
    input_file_free(&file);
    return 0;
}
