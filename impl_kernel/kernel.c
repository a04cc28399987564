/* kernel.c: from what was asked for to an implementation. */
#include "impl_kernel/parts.h"

#include "harness/base/text.h"
#include "harness/cnn/shape.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool kernel_is_cuda(const kernel *k)
{
    const size_t length = strlen(k->file);
    return length > 3 && strcmp(k->file + length - 3, ".cu") == 0;
}

kernel_language kernel_compiled_by(const kernel *k)
{
    if (!kernel_is_cuda(k)) return KERNEL_C;
#ifdef BENCHCNN_CUDA_EMULATED
    return KERNEL_EMULATED;
#else
    return KERNEL_NVRTC;
#endif
}

void kernel_folder(const kernel *k, char *folder, size_t size)
{
    const char *slash = strrchr(k->file, '/');
    snprintf(folder, size, "%.*s", slash != NULL ? (int)(slash - k->file + 1) : 1, slash != NULL ? k->file : ".");
}

const char *kernel_file(const kernel *k) { return k->file; }
cnn_dir kernel_dir(const kernel *k) { return k->dir; }
const cnn_impl *kernel_impl(const kernel *k) { return &k->impl; }

bool kernel_takes_bias(const kernel *k)
{
    return k->dir == CNN_BWD_D || kernel_array(k, k->dir == CNN_FWD ? "b" : "db") != NULL;
}

/* ---- Parsing. */

/* "FILE:NAME" at its last colon. */
static cnn_status split(kernel *k, cnn_error *err)
{
    const char *text = k->spec.kernel, *colon = strrchr(text, ':'), *name = colon != NULL ? colon + 1 : "";
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_') length++;
    if (colon == NULL || length == 0 || name[length] != '\0' || isdigit((unsigned char)name[0]))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel %.300s is not of the form FILE:NAME, as conv.c:conv_forward",
                        text);
    if ((size_t)(colon - text) >= sizeof k->file || length >= sizeof k->function)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--kernel %.300s: a file's name has up to %zu characters, a function's %zu", text,
                        sizeof k->file - 1, sizeof k->function - 1);
    snprintf(k->file, sizeof k->file, "%.*s", (int)(colon - text), text);
    snprintf(k->function, sizeof k->function, "%s", name);
    const size_t end = strlen(k->file);
    if (kernel_is_cuda(k) || (end > 2 && strcmp(k->file + end - 2, ".c") == 0)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel %.300s: the file's name must end in .c or .cu", k->file);
}

/* Whether this build has the kernel's device. */
static cnn_status check_build(kernel *k, cnn_error *err)
{
#ifdef BENCHCNN_KERNEL_CUDA
    (void)err;
    if (kernel_is_cuda(k)) kernel_leave_cuda_knobs(&k->spec);
#else
    if (kernel_is_cuda(k))
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "--kernel %.200s: CUDA is not in this build: configure it with -DBENCHCNN_CUDA=ON, or, without "
                        "a GPU, EMULATED",
                        k->file);
#endif
    return CNN_OK;
}

static cnn_status check_launch(kernel *k, cnn_error *err)
{
    const char *const texts[] = {k->spec.grid, k->spec.block, k->spec.shared};
    static const char *const names[] = {"--grid", "--block", "--shared"};
    kernel_names user = {.k = k};
    const expr_scope scope = {kernel_find_name, &user, true, k->known};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < 3; i++) {
        int64_t values[3];
        int count;
        if (!kernel_is_cuda(k) && texts[i] != NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is of kernels that are launched: %.200s is C", names[i],
                            k->file);
        if (kernel_is_cuda(k) && texts[i] == NULL && i < 2)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "%.200s is launched: --grid and --block say with how many blocks and threads", k->file);
        if (texts[i] != NULL) status = expr_eval(names[i], texts[i], &scope, values, i < 2 ? 3 : 1, &count, err);
    }
    k->named |= user.seen;
    k->named_knobs |= user.seen_knobs;
    return status;
}

/* A setting that nothing reads would be ignored. */
static cnn_status check_knobs(const kernel *k, cnn_error *err)
{
    for (int i = 0; i < k->spec.n_knobs; i++)
        if (!(k->named_knobs >> i & 1u))
            return CNN_FAIL(
                err, CNN_BAD_ARGUMENT,
                "kernel.%s: no expression of --args, --grid, --block or --shared names it, or it is a size's name",
                k->spec.knobs[i].name);
    return CNN_OK;
}

bool kernel_has_knob(const kernel *k, const char *name)
{
    static const char prefix[] = "kernel."; /* of a pair */
    if (strncmp(name, prefix, strlen(prefix)) == 0) name += strlen(prefix);
    for (int i = 0; i < k->spec.n_knobs; i++)
        if (strcmp(k->spec.knobs[i].name, name) == 0) return true;
    return false;
}

/* What an expression may name. */
static void list_known(kernel *k)
{
    int count;
    const kernel_field *fields = kernel_fields(k->spec.op, &count);
    for (int i = 0; i < count; i++) cnn_append(k->known, sizeof k->known, "%s ", fields[i].name);
    if (k->spec.op != CNN_OP_FC) cnn_append(k->known, sizeof k->known, "flip ");
    cnn_append(k->known, sizeof k->known,
               "threads, arrays x w b y dx dw db dy z, scale of a quantized result, beta, alpha");
    for (int i = 0; i < k->spec.n_knobs; i++)
        cnn_append(k->known, sizeof k->known, "%s%s", i > 0 ? " " : ", and knobs ", k->spec.knobs[i].name);
    cnn_append(k->known, sizeof k->known,
               "; a name of your own is a knob once --set kernel.NAME=VALUE gives it a value");
}

/* ---- The table. */

static void fill_identity(kernel *k)
{
    cnn_impl *impl = &k->impl;
    const uint32_t op = 1u << k->spec.op;
    char shown[sizeof k->doc];
    snprintf(k->doc, sizeof k->doc, "%s, of a file given by --kernel", k->function);
    /* what the program adds behind a kernel that does not add by itself would be rounded twice in f16 and bf16; of s32
     * it adds nothing */
    k->algorithm = (cnn_algorithm){.doc = k->doc,
                                   .ops = op,
                                   .flags = CNN_ALGO_EPILOGUES | CNN_ALGO_QUANTIZED_EPILOGUES |
                                            (k->takes[KERNEL_BETA] ? 0 : CNN_ALGO_REPLACES),
                                   .amplification = 1};
    snprintf(k->algorithm.name, sizeof k->algorithm.name, "%s", k->function);
    for (int i = 0; i < k->spec.n_knobs; i++)
        k->knobs[k->n_device_knobs + i] = (cnn_knob){.name = k->spec.knobs[i].name,
                                                     .doc = "a value of --args, --grid, --block or --shared",
                                                     .max = INT_MAX,
                                                     .def = k->spec.knobs[i].def};
    snprintf(k->label, sizeof k->label, "%s", cnn_visible(k->spec.kernel, shown, sizeof shown));
    impl->abi_version = CNN_ABI_VERSION;
    impl->struct_size = sizeof *impl;
    impl->name = "kernel";
    impl->doc = "one function of a source file (--kernel)";
    impl->algorithms = &k->algorithm;
    impl->n_algorithms = 1;
    impl->n_knobs = k->n_device_knobs + k->spec.n_knobs;
    impl->knobs = impl->n_knobs > 0 ? k->knobs : NULL;
    impl->ops = &k->ops;
    impl->dtypes = (1u << CNN_DTYPE_COUNT) - 1; /* it is compiled for one of them: kernel_evaluate() */
}

const char *kernel_type(const kernel *k, const char *array)
{
    static const char *const c[CNN_NUMBER_COUNT] = {
        [CNN_F32] = "float", [CNN_F64] = "double",       [CNN_F16] = "void", /* any pointer */
        [CNN_BF16] = "void", [CNN_U8] = "unsigned char", [CNN_S8] = "signed char", [CNN_S32] = "int"};
    const cnn_dtype dtype = cnn_part_dtype(k->spec.type.dtype, cnn_part_of(array));
    if (!kernel_is_cuda(k) || c[dtype][0] != 'v') return c[dtype];
    return dtype == CNN_F16 ? "__half" : "__nv_bfloat16";
}

const char *kernel_real_type(const kernel *k) { return k->spec.type.dtype == CNN_F64 ? "double" : "float"; }

const char *kernel_header(const kernel *k)
{
    const cnn_dtype factor = cnn_part_dtype(k->spec.type.dtype, CNN_PART_FACTOR);
    if (!kernel_is_cuda(k)) return NULL;
    return factor == CNN_F16 ? "cuda_fp16.h" : factor == CNN_BF16 ? "cuda_bf16.h" : NULL;
}

static void fill_device(kernel *k)
{
#ifdef BENCHCNN_KERNEL_CUDA
    if (kernel_is_cuda(k)) {
        kernel_fill_cuda(k);
        return;
    }
#endif
    kernel_fill_host(k);
}

static cnn_status check_op(const kernel_spec *spec, cnn_error *err)
{
    if (spec->op == CNN_OP_CONV || spec->op == CNN_OP_CONV3D || spec->op == CNN_OP_FC) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "--kernel takes a kernel of --op conv, conv3d or fc; for others write a plug-in (impl_template)");
}

cnn_status kernel_new(const kernel_spec *spec, kernel **result, cnn_error *err)
{
    *result = NULL;
    if (check_op(spec, err) != CNN_OK) return err->status;
    kernel *k = calloc(1, sizeof *k);
    if (k == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a kernel");
    k->spec = *spec;
    cnn_status status = split(k, err);
    if (status == CNN_OK) status = check_build(k, err);
    list_known(k);
    if (status == CNN_OK) status = kernel_parse_args(k, err);
    if (status == CNN_OK) status = check_launch(k, err);
    if (status == CNN_OK) status = check_knobs(k, err);
    if (status != CNN_OK) {
        kernel_free(k);
        return status;
    }
    fill_device(k);
    fill_identity(k);
    *result = k;
    return CNN_OK;
}
