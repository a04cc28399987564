/* problem_file.c: files of descriptors, as benchdnn reads its --batch files: words, and comments from a '#' that starts
 * a word to the end of the line. */
#include "find_file.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "problem.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_MAX = 128 };

/* The next word of a line: up to white space outside double quotes. Ends it in place; NULL at the end or a comment. */
static char *next_word(char **at)
{
    char *start = *at;
    while (isspace((unsigned char)*start)) start++;
    if (*start == '\0' || *start == '#') return NULL;
    char *end = start;
    for (bool quoted = false; *end != '\0' && (quoted || !isspace((unsigned char)*end)); end++)
        if (*end == '"') quoted = !quoted;
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    return start;
}

/* FILE:LINE, for the front of a message: of a long path its end is kept, which says more than its beginning. */
static void place_text(const char *path, int number, char text[PLACE_MAX])
{
    const size_t length = strlen(path), room = PLACE_MAX - sizeof "...:2147483647";
    if (length <= room)
        snprintf(text, PLACE_MAX, "%s:%d", path, number);
    else
        snprintf(text, PLACE_MAX, "...%s:%d", path + length - room, number);
}

static cnn_status give_word(const char *where, const char *word, cnn_op op, const cnn_problem_defaults *defaults,
                            cnn_problem_each *each, void *user, cnn_error *err)
{
    cnn_problem problem;
    cnn_status status;
    if (strncmp(word, "--", 2) == 0)
        status = CNN_FAIL(err, CNN_BAD_FORMAT,
                          "'%.100s' is an option, not a descriptor: give options on the command line", word);
    else
        status = cnn_problem_parse(op, word, defaults, &problem, err);
    if (status == CNN_OK) return each(user, word, &problem, err);

    cnn_error_before(err, status, "%s: ", where);
    return each(user, word, NULL, err);
}

cnn_status cnn_problem_file(const char *name, cnn_op op, const cnn_problem_defaults *defaults, cnn_problem_each *each,
                            void *user, cnn_error *err)
{
    cnn_status status = CNN_OK;
    char *line = NULL;
    size_t capacity = 0;
    char path[FOUND_PATH_MAX];
    const char *why;
    if (cnn_find_file(&cnn_problem_files, name, path, err) != CNN_OK) return err->status;
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read problem file '%s': %s", path, why);

    errno = 0;
    for (int number = 1; status == CNN_OK && input_line(&line, &capacity, file) >= 0; number++) {
        char where[PLACE_MAX], *at = line, *word;
        line[strcspn(line, "\r\n")] = '\0'; /* a name whose quote is missing ends with its line */
        place_text(path, number, where);
        while (status == CNN_OK && (word = next_word(&at)) != NULL)
            status = give_word(where, word, op, defaults, each, user, err);
    }
    if (status == CNN_OK && !feof(file))
        status = CNN_FAIL(err, CNN_IO, "cannot read problem file '%s': %s", path, input_line_why());
    free(line);
    fclose(file);
    return status;
}
