/* test_kernel_nvrtc.c: what NVRTC makes of a .cu of --kernel, without a device: code, or the place of what is wrong. */
#include "harness/cuda/jit.h"
#include "impl_kernel/kernel.h"
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY = 80, SKIPPED = 77 };

/* In a file of its own, deleted when it is read. */
static char *written(const char *text)
{
    static char path[64];
    strcpy(path, "/tmp/benchcnn_nvrtc_XXXXXX.cu");
    const int fd = mkstemps(path, 3);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* The whole way from a file to its code. */
static cnn_status compile(cnn_op op, const char *file, const char *name, const char *args, char **code, cnn_error *err)
{
    char asked[256], *text = NULL;
    size_t size = 0, bytes = 0;
    snprintf(asked, sizeof asked, "%s:%s", file, name);
    const kernel_spec spec = {
        .kernel = asked, .args = args, .grid = "1", .block = "1", .op = op, .type = {CNN_F32, CNN_F32}};
    kernel *k = NULL;
    FILE *out = open_memstream(&text, &size);
    *code = NULL;
    cnn_status status = kernel_new(&spec, &k, err);
    if (status == CNN_OK) status = kernel_put_source(k, out, err);
    fclose(out);
    const cuda_jit_source source = {
        .what = asked, .file = file, .text = text, .entry = name, .include = "/tmp", .refused = CNN_BAD_ARGUMENT};
    if (status == CNN_OK) status = cuda_jit_compile(&source, CAPABILITY, code, &bytes, err);
    if (status == CNN_OK) assert_true(bytes > strlen(*code) + 1000);
    kernel_free(k);
    free(text);
    return status;
}

#define FC                                                                                                             \
    "#include <cuda_runtime.h>\n"                                                                                      \
    "__global__ void fc(const float *__restrict__ x, const float *w, float *y, int mb, int ic, int oc, float beta)\n"  \
    "{\n"                                                                                                              \
    "    extern __shared__ float row[];\n"                                                                             \
    "    float sum = beta;\n"                                                                                          \
    "    for (int i = threadIdx.x; i < ic; i += blockDim.x) row[i] = x[blockIdx.x * ic + i] * w[i];\n"                 \
    "    __syncthreads();\n"                                                                                           \
    "    for (int i = 0; i < ic; i++) sum += row[i];\n"                                                                \
    "    if (blockIdx.x < mb) y[blockIdx.x * oc] = sum;\n"                                                             \
    "}\n"
#define ARGS "x,w,y,mb,ic,oc,beta"

static void code_is_made(void **state)
{
    cnn_error err = {.message = ""};
    char *code;
    const char *path = written(FC);
    if (compile(CNN_OP_FC, path, "fc", ARGS, &code, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_non_null(strstr(code, "fc")); /* the name that C++ gave it */
    assert_string_not_equal(code, "fc");
    free(code);
    remove(path);

    path = written("extern \"C\" "
                   "__global__ void one(float *y, int n) { y[n] = 1; }\n");
    if (compile(CNN_OP_FC, path, "one", "y,mb-1", &code, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_string_equal(code, "one");
    free(code);
    remove(path);
}

static void the_example_compiles(void **state)
{
    cnn_error err = {.message = ""};
    char *code;
    if (compile(CNN_OP_CONV, "impl_template/kernels/conv.cu", "conv",
                "x,w,b,y,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw", &code, &err) != CNN_OK)
        fail_msg("%s", err.message);
    free(code);
}

static void refused(const char *text, const char *name, const char *args, const char *words)
{
    cnn_error err = {.message = ""};
    char *code;
    const char *path = written(text);
    const cnn_status status = compile(CNN_OP_FC, path, name, args, &code, &err);
    remove(path);
    assert_null(code);
    assert_int_equal(status, CNN_BAD_ARGUMENT);
    assert_message(err, words);
    assert_null(strchr(err.message, '\n'));
}

static void what_is_wrong_has_its_place(void **state)
{
    refused("\n__global__ void fc(float *y, int mb)\n{\n    y[mb] = flot;\n}\n", "fc", "y,mb",
            ".cu(4): error: identifier");
    refused(FC, "fc", "x,w,y,mb,ic,oc", "the parameters of fc are not what --args lists");
    refused(FC, "fc", "x,w,y,mb,ic,beta,oc", "the parameters of fc are not what --args lists");
    refused("__global__ void fc(double *y, int mb) { y[mb] = 1; }\n", "fc", "y,mb", "float * for each array");
    refused("__global__ void fc(float *y, long long mb) { y[mb] = 1; }\n", "fc", "y,mb", "int for each size");
    refused(FC, "cf", ARGS, "there is no function 'cf'");
}

int main(void)
{
    cnn_error err;
    if (cuda_jit_available(&err) != CNN_OK) {
        printf("SKIPPED: %s\n", err.message);
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(code_is_made), cmocka_unit_test(the_example_compiles),
                                       cmocka_unit_test(what_is_wrong_has_its_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
