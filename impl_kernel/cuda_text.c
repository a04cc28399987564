/* cuda_text.c: what is put around a .cu, as NVRTC or, for the emulator, a C++ compiler is given it: a check that the
 * kernel's parameters are those of --args, and, emulated, the launch. */
#include "impl_kernel/parts.h"

#include "harness/cnn/shape.h"

#include <ctype.h>
#include <string.h>

/* ---- Dynamic shared memory, which the emulator declares otherwise: `extern __shared__ float tile[];`. */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static bool takes(const char **at, const char *word)
{
    const char *first = skip_blanks(*at);
    const size_t length = strlen(word);
    if (strncmp(first, word, length) != 0) return false;
    *at = first + length;
    return true;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where the declaration of dynamic shared memory at `at` ends, with its type and name; NULL: it is none. */
static const char *read_dynamic(const char *at, char type[64], char name[64])
{
    if (!takes(&at, "extern") || !takes(&at, "__shared__")) return NULL;
    if (takes(&at, "__align__")) at += strcspn(at, ")") + 1;
    const char *first = skip_blanks(at), *end = first + strcspn(first, "[;{}()");
    const char *last = end;
    while (last > first && isspace((unsigned char)last[-1])) last--;
    const char *begin = last;
    while (begin > first && in_name(begin[-1])) begin--;
    if (*end != '[' || begin == last || begin == first || last - begin >= 64 || begin - first >= 64) return NULL;
    snprintf(name, 64, "%.*s", (int)(last - begin), begin);
    snprintf(type, 64, "%.*s", (int)(begin - first), first);
    at = end;
    return takes(&at, "[") && takes(&at, "]") && takes(&at, ";") ? at : NULL;
}

void kernel_put_cuda_text(const char *text, FILE *out)
{
    for (const char *at = text; *at != '\0';) {
        char type[64], name[64];
        const bool word = strncmp(at, "extern", 6) == 0 && (at == text || !in_name(at[-1]));
        const char *end = word ? read_dynamic(at, type, name) : NULL;
        if (end == NULL) {
            fputc(*at++, out);
            continue;
        }
        fprintf(out, "CUDA_DYNAMIC_SHARED(%s, %s);", type, name);
        for (; at < end; at++)
            if (*at == '\n') fputc('\n', out); /* lines keep their numbers */
    }
}

/* ---- The check, and the launch. */

void kernel_put_cuda_begin(FILE *out) { fputs("#include \"harness/cuda/emulated/emulated.h\"\n", out); }

static void put_parameters(const kernel *k, const char *real, FILE *out)
{
    for (int i = 0; i < k->n_args; i++) {
        const bool array = k->args[i].kind == KERNEL_ARRAY;
        fprintf(out, "%s%s%s", i > 0 ? ", " : "",
                k->args[i].kind == KERNEL_SIZE   ? "int"
                : k->args[i].kind == KERNEL_REAL ? real
                                                 : kernel_type(k, k->args[i].text),
                array ? " *" : "");
    }
}

/* "float * for each array"; of a joined type "unsigned char * for x, signed char * for w, int * for y". */
static void put_types(const kernel *k, FILE *out)
{
    const char *before = "";
    if (!cnn_is_joined(k->spec.type.dtype)) {
        fprintf(out, "%s * for each array", kernel_type(k, "x"));
        return;
    }
    for (int i = 0; i < k->n_args; i++) {
        if (k->args[i].kind != KERNEL_ARRAY) continue;
        fprintf(out, "%s%s * for %s", before, kernel_type(k, k->args[i].text), k->args[i].text);
        before = ", ";
    }
}

static void put_check(const kernel *k, FILE *out)
{
    const char *real = kernel_real_type(k);
    fputs("template <class T, class U> struct benchcnn_is { static constexpr bool value = false; };\n"
          "template <class T> struct benchcnn_is<T, T> { static constexpr bool value = true; };\n"
          "template <class T> struct benchcnn_is<const T *, T *> { static constexpr bool value = true; };\n"
          "template <class...> struct benchcnn_list { };\n"
          "template <class F, class L> struct benchcnn_fits { static constexpr bool value = false; };\n"
          "template <> struct benchcnn_fits<void (*)(), benchcnn_list<>> { static constexpr bool value = true; };\n"
          "template <class P, class... Ps, class A, class... As>\n"
          "struct benchcnn_fits<void (*)(P, Ps...), benchcnn_list<A, As...>> {\n"
          "    static constexpr bool value = benchcnn_is<P, A>::value &&\n"
          "                                  benchcnn_fits<void (*)(Ps...), benchcnn_list<As...>>::value;\n"
          "};\n#line 1\n",
          out);
    fprintf(out, "static_assert(benchcnn_fits<decltype(&%s), benchcnn_list<", k->function);
    put_parameters(k, real, out);
    fprintf(out, ">>::value, \"the parameters of %s are not what --args lists: ", k->function);
    put_types(k, out);
    fprintf(out, ", const or not, int for each size, %s for beta and alpha\");\n", real);
}

void kernel_put_cuda_call(const kernel *k, FILE *out)
{
    put_check(k, out);
#ifdef BENCHCNN_CUDA_EMULATED
    fprintf(out, "extern \"C\" const void *const benchcnn_kernel = reinterpret_cast<const void *>(&%s);\n",
            k->function);
    fputs("extern \"C\" int benchcnn_call(const emulated_launch_shape *benchcnn_s, void *const *benchcnn_a,\n"
          "                             const long long *benchcnn_n, const double *benchcnn_r)\n{\n"
          "    (void)benchcnn_a, (void)benchcnn_n, (void)benchcnn_r;\n",
          out);
    fprintf(out, "    return static_cast<int>(emulated_launch(*benchcnn_s, &%s", k->function);
    for (int i = 0; i < k->n_args; i++) {
        if (k->args[i].kind == KERNEL_ARRAY)
            fprintf(out, ", static_cast<%s *>(benchcnn_a[%d])", kernel_type(k, k->args[i].text), i);
        if (k->args[i].kind == KERNEL_SIZE) fprintf(out, ", static_cast<int>(benchcnn_n[%d])", i);
        if (k->args[i].kind == KERNEL_REAL)
            fprintf(out, ", static_cast<%s>(benchcnn_r[%d])", kernel_real_type(k), (int)k->args[i].real);
    }
    fputs("));\n}\n", out);
#endif
}
