/* source.c: the text that is compiled: the file's, under its own name and line numbers, and behind it the one function
 * that is called, which hands each argument to the kernel as what it is. */
#include "impl_kernel/parts.h"

#include "harness/base/input.h"
#include "harness/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 16 << 20 };

cnn_status kernel_read_file(const char *path, char **text, cnn_error *err)
{
    const char *why;
    FILE *file = input_stream(path, &why);
    *text = NULL;
    if (file == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel %.300s: %s", path, why);
    char *all = malloc(SOURCE_MOST + 1);
    const size_t length = all != NULL ? fread(all, 1, SOURCE_MOST + 1, file) : 0;
    const bool whole = !ferror(file);
    fclose(file);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %.300s", path);
    if (!whole || length > SOURCE_MOST || memchr(all, '\0', length) != NULL) {
        free(all);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel %.300s: it is no text of up to 16 MiB", path);
    }
    all[length] = '\0';
    *text = all;
    return CNN_OK;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether the name comes before a '(' anywhere; the compiler finds out the rest. */
static bool has_function(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        const char *behind = at + length;
        if ((at > text && in_name(at[-1])) || in_name(*behind)) continue;
        if (behind[strspn(behind, " \t\r\n")] == '(') return true;
    }
    return false;
}

/* A name in quotes, as C reads it. */
static void put_line(FILE *out, int line, const char *name)
{
    fprintf(out, "\n#line %d \"", line);
    for (; *name != '\0'; name++) fprintf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    fputs("\"\n", out);
}

/* Names that no macro of the file's has. */
static void put_c_call(const kernel *k, FILE *out)
{
    static const char head[] =
        "void benchcnn_call(void *const *benchcnn_a, const long long *benchcnn_n, const double *benchcnn_r)";
    fprintf(out, "__attribute__((visibility(\"default\"))) %s;\n#line 1\n%s\n{\n", head, head);
    fputs("    (void)benchcnn_a, (void)benchcnn_n, (void)benchcnn_r;\n#line 1\n    ", out);
    fprintf(out, "%s(", k->function);
    for (int i = 0; i < k->n_args; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (k->args[i].kind == KERNEL_ARRAY) fprintf(out, "(%s *)benchcnn_a[%d]", kernel_type(k, k->args[i].text), i);
        if (k->args[i].kind == KERNEL_SIZE) fprintf(out, "benchcnn_n[%d]", i);
        if (k->args[i].kind == KERNEL_REAL) fprintf(out, "benchcnn_r[%d]", (int)k->args[i].real);
    }
    fputs(");\n}\n", out);
}

cnn_status kernel_put_source(const kernel *k, FILE *out, cnn_error *err)
{
    char *text;
    if (kernel_read_file(k->file, &text, err) != CNN_OK) return err->status;
    cnn_status status = CNN_OK;
    if (!has_function(text, k->function)) {
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel %.300s: there is no function '%s' in it", k->file, k->function);
    } else {
        const kernel_language language = kernel_compiled_by(k);
        if (language == KERNEL_EMULATED) kernel_put_cuda_begin(out);
        if (kernel_header(k) != NULL) fprintf(out, "#include <%s>\n", kernel_header(k));
        put_line(out, 1, k->file);
        if (language == KERNEL_EMULATED)
            kernel_put_cuda_text(text, out);
        else
            fputs(text, out);
        put_line(out, 1, "--args");
        (language == KERNEL_C ? put_c_call : kernel_put_cuda_call)(k, out);
    }
    free(text);
    return status;
}
