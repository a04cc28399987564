/* compile.c: a kernel's file, and a compiler. What NVRTC compiles stays the text that it is. */
#include "parts.h"

#include "harness/process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MAX = 512, FILE_MAX = FOLDER_MAX + 32, WORDS_MAX = 96, OWN_WORDS = 16 };

/* How a language is compiled. */
typedef struct language {
    const char *what, *ending, *compiler, *flags; /* the environment's variables */
    const char *compilers[4];                     /* where the variable is not set: the first that there is */
    const char *otherwise;                        /* flags, where the variable is not set */
    const char *fixed[OWN_WORDS];                 /* further flags */
} language;

static const language c_language = {"C",
                                    ".c",
                                    "CC",
                                    "CFLAGS",
                                    {"cc", "gcc", "clang"},
                                    "-O3 -march=native",
                                    {"-shared", "-fPIC", "-Werror=implicit-function-declaration",
                                     "-Werror=incompatible-pointer-types", "-Werror=int-conversion"}};

/* The emulator's headers are those that the program was built with. */
#ifdef KERNEL_EMULATOR_FOLDER
static const language emulated_language = {"C++",
                                           ".cpp",
                                           "CXX",
                                           "CXXFLAGS",
                                           {"c++", "g++", "clang++"},
                                           "-O2",
                                           {"-shared", "-fPIC", "-std=c++17", "-Wno-unknown-pragmas",
                                            "-DBENCHCNN_CUDA_EMULATED", "-I" KERNEL_EMULATOR_FOLDER,
                                            "-I" KERNEL_EMULATOR_FOLDER "/harness/cuda/emulated/standin"}};
#endif

static const language *language_of(const kernel *k)
{
#ifdef KERNEL_EMULATOR_FOLDER
    if (kernel_compiled_by(k) == KERNEL_EMULATED) return &emulated_language;
#endif
    return kernel_compiled_by(k) == KERNEL_C ? &c_language : NULL;
}

typedef struct compilation {
    const kernel *k;
    const language *in; /* NULL: NVRTC's */
    char folder[FOLDER_MAX], source[FILE_MAX], object[FILE_MAX], include[FILE_MAX];
    char *command;                                                        /* KERNEL_COMMAND_MAX */
    char compiler[KERNEL_COMMAND_MAX / 2], flags[KERNEL_COMMAND_MAX / 2]; /* cut at blanks: words points into them */
    const char *words[WORDS_MAX];
    int n_words;
} compilation;

/* ---- Files. */

static cnn_status make_folder(compilation *c, cnn_error *err)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] == '\0') tmp = "/tmp";
    if (snprintf(c->folder, sizeof c->folder, "%s/benchcnn-kernel-XXXXXX", tmp) >= (int)sizeof c->folder ||
        mkdtemp(c->folder) == NULL)
        return CNN_FAIL(err, CNN_IO, "--kernel: no folder can be made in %.200s (TMPDIR names another): %s", tmp,
                        strerror(errno));
    snprintf(c->source, sizeof c->source, "%s/kernel%s", c->folder, c->in != NULL ? c->in->ending : ".cu");
    snprintf(c->object, sizeof c->object, "%s/kernel.so", c->folder);
    return CNN_OK;
}

static void remove_folder(const compilation *c)
{
    (void)unlink(c->source);
    (void)unlink(c->object);
    (void)rmdir(c->folder);
}

static cnn_status write_source(const compilation *c, cnn_error *err)
{
    FILE *file = fopen(c->source, "we");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "--kernel: %.200s: %s", c->source, strerror(errno));
    const cnn_status status = kernel_put_source(c->k, file, err);
    const bool bad = ferror(file) != 0, open = fclose(file) != 0;
    if (status == CNN_OK && (bad || open))
        return CNN_FAIL(err, CNN_IO, "--kernel: %.200s cannot be written", c->source);
    return status;
}

/* ---- The command. */

static void add(compilation *c, const char *word)
{
    if (c->n_words < WORDS_MAX - 1) c->words[c->n_words++] = word;
    c->words[c->n_words] = NULL;
}

/* Cut at blanks; what must be keeps its room. */
static void add_words(compilation *c, char *text)
{
    char *rest = text;
    while (rest != NULL && c->n_words < WORDS_MAX - 2 * OWN_WORDS) {
        const char *word = strsep(&rest, " \t\n");
        if (*word != '\0') add(c, word);
    }
}

static const char *set_in(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[strspn(value, " \t\n")] != '\0' ? value : NULL;
}

static void make_command(compilation *c, const char *compiler)
{
    const char *flags = set_in(c->in->flags);
    snprintf(c->compiler, sizeof c->compiler, "%s", compiler);
    snprintf(c->flags, sizeof c->flags, "%s", flags != NULL ? flags : c->in->otherwise);
    snprintf(c->command, KERNEL_COMMAND_MAX, "%s %s", c->compiler, c->flags);
    c->n_words = 0;
    add_words(c, c->compiler);
    add_words(c, c->flags);
    for (int i = 0; i < OWN_WORDS && c->in->fixed[i] != NULL; i++) add(c, c->in->fixed[i]);
    const char *const own[] = {"-iquote", c->include, "-o", c->object, c->source, "-lm"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) add(c, own[i]);
}

static int run(compilation *c, const char *compiler)
{
    make_command(c, compiler);
    return program_run(c->words, NULL, stderr, stderr);
}

static cnn_status run_compiler(compilation *c, cnn_error *err)
{
    const language *in = c->in;
    const char *chosen = set_in(in->compiler);
    int status = -1;
    if (chosen != NULL) {
        status = run(c, chosen);
        if (status < 0)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel: the compiler %s=%.200s cannot be started: %s",
                            in->compiler, chosen, strerror(errno));
    }
    for (int i = 0; status < 0 && in->compilers[i] != NULL; i++) status = run(c, in->compilers[i]);
    if (status < 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--kernel: there is no %s compiler (%s, %s, %s): install one, or name it with %s=/path/to/it",
                        in->what, in->compilers[0], in->compilers[1], in->compilers[2], in->compiler);
    if (status == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.200s was not compiled (`%.150s`, see above)", kernel_file(c->k),
                    c->command);
}

cnn_status kernel_compile(const kernel *k, char command[KERNEL_COMMAND_MAX], int *object, cnn_error *err)
{
    compilation c = {.k = k, .in = language_of(k), .command = command};
    snprintf(command, KERNEL_COMMAND_MAX, "NVRTC"); /* which compiles it when it is opened, for the device */
    cnn_status status = make_folder(&c, err);
    if (status != CNN_OK) return status;
    kernel_folder(k, c.include, sizeof c.include);
    status = write_source(&c, err);
    if (status == CNN_OK && c.in != NULL) status = run_compiler(&c, err);
    const char *made = c.in != NULL ? c.object : c.source;
    if (status == CNN_OK && (*object = open(made, O_RDONLY | O_CLOEXEC)) < 0)
        status = CNN_FAIL(err, CNN_IO, "--kernel: %.200s: %s", made, strerror(errno));
    remove_folder(&c);
    return status;
}
