/* invalid_texts.c: descriptors that are meant to be wrong. Each is a valid one with a few damages (a character, a
 * number out of every range, a part of another operation's), or garbage from the start. What the parser makes of it is
 * judged here: refused with a sentence, or accepted with a meaning that its own text keeps; numbers are not misread. */
#include "invalid_texts.h"

#include "harness/problem/names.h"
#include "harness/problem/shape.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = CNN_PROBLEM_TEXT_MAX };

static const char *const numbers[] = {"0",
                                      "-1",
                                      "1",
                                      "65536",
                                      "2147483647",
                                      "2147483648",
                                      "4294967297",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551617",
                                      "1e9",
                                      "0x10",
                                      "1.5",
                                      "+3",
                                      " 4",
                                      "007",
                                      "",
                                      "nan",
                                      "inf"};
static const char *const pieces[] = {"mb", "g",  "ic", "oc",  "ih",    "iw",  "oh",   "ow",        "kh",   "kw",
                                     "kd", "id", "sh", "sw",  "ph",    "pw",  "dh",   "dw",        "n\"",  "_",
                                     ":",  ",",  "+",  "=",   "#",     "max", "adam", "inference", "%s%n", "\"",
                                     "'",  "/",  "-",  "nan", "1e999", "\n",  "\t"};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], PIECES = sizeof pieces / sizeof pieces[0] };

/* ---- Damage. */

/* Puts `piece` in the place of `cut` characters at `at`; what would not fit is left out. */
static void splice(char text[TEXT], size_t at, size_t cut, const char *piece)
{
    char tail[TEXT];
    const size_t length = strlen(text);
    if (at > length) at = length;
    if (cut > length - at) cut = length - at;
    snprintf(tail, sizeof tail, "%s", text + at + cut);
    snprintf(text + at, TEXT - at, "%s%s", piece, tail);
}

static void damage_character(cnn_rng *rng, char text[TEXT])
{
    const size_t at = (size_t)rng_int(rng, 0, (int64_t)strlen(text));
    const char piece[2] = {(char)rng_int(rng, 1, 255), '\0'};
    splice(text, at, (size_t)rng_int(rng, 0, 2), rng_u64(rng) & 1 ? piece : "");
}

/* Another number in the place of one that stands there. */
static void damage_number(cnn_rng *rng, char text[TEXT])
{
    size_t starts[64], count = 0;
    for (size_t i = 0; text[i] != '\0' && count < 64; i++)
        if (isdigit((unsigned char)text[i]) && (i == 0 || !isdigit((unsigned char)text[i - 1]))) starts[count++] = i;
    if (count == 0) return;
    const size_t at = starts[rng_int(rng, 0, (int64_t)count - 1)];
    splice(text, at, strspn(text + at, "0123456789"), numbers[rng_int(rng, 0, NUMBERS - 1)]);
}

static void damage_piece(cnn_rng *rng, char text[TEXT])
{
    char piece[64];
    snprintf(piece, sizeof piece, "%s%s", pieces[rng_int(rng, 0, PIECES - 1)],
             rng_u64(rng) & 1 ? numbers[rng_int(rng, 0, NUMBERS - 1)] : "");
    splice(text, (size_t)rng_int(rng, 0, (int64_t)strlen(text)), (size_t)rng_int(rng, 0, 3), piece);
}

static void garbage(cnn_rng *rng, char text[TEXT])
{
    const int length = (int)rng_int(rng, 0, rng_u64(rng) & 7 ? 40 : TEXT - 1);
    for (int i = 0; i < length; i++) text[i] = (char)rng_int(rng, 1, 255);
    text[length] = '\0';
}

static void repeat(cnn_rng *rng, char text[TEXT])
{
    char copy[TEXT];
    snprintf(copy, sizeof copy, "%s", text);
    for (int times = (int)rng_int(rng, 1, 12); times > 0; times--) splice(text, strlen(text), 0, copy);
}

void fuzz_invalid_text(uint64_t seed, int64_t index, cnn_op *op, char text[CNN_PROBLEM_TEXT_MAX])
{
    cnn_rng rng = rng_stream(seed ^ 0x5DEECE66Du, (uint64_t)index);
    const int source = (int)rng_int(&rng, 0, CNN_OP_COUNT - 1);
    int count = 0;
    for (const verify_default *d = verify_defaults; d->text != NULL; d++) count += (int)d->op == source;
    const int64_t which = rng_int(&rng, 0, count - 1);
    *op = rng_int(&rng, 1, 10) == 1 ? (cnn_op)rng_int(&rng, 0, CNN_OP_COUNT - 1) : (cnn_op)source;
    for (const verify_default *d = verify_defaults; d->text != NULL; d++)
        if ((int)d->op == source && --count == which) snprintf(text, TEXT, "%s", d->text);
    for (int64_t times = rng_int(&rng, 1, 4); times > 0; times--) switch (rng_int(&rng, 0, 9)) {
        case 0:
        case 1:
        case 2:
            damage_character(&rng, text);
            break;
        case 3:
        case 4:
        case 5:
            damage_number(&rng, text);
            break;
        case 6:
        case 7:
            damage_piece(&rng, text);
            break;
        case 8:
            text[rng_int(&rng, 0, (int64_t)strlen(text))] = '\0';
            break;
        default:
            if (rng_int(&rng, 1, 4) == 1)
                garbage(&rng, text);
            else if (rng_int(&rng, 1, 4) == 1)
                repeat(&rng, text);
        }
}

/* ---- Judging. */

/* Where the dimensions start: behind the words and their colon, if there are any. A colon in a name is none. */
static const char *dimensions(cnn_op op, const char *text)
{
    const bool wordless = op == CNN_OP_ADD || op == CNN_OP_DECONV;
    const char *colon = strchr(text, ':'), *quote = strchr(text, '"');
    return !wordless && colon != NULL && (quote == NULL || colon < quote) ? colon + 1 : text;
}

/* What the text itself says of a dimension: the number behind its last mention. False: it is not mentioned. Reads a
 * text that was accepted, so letters and numbers take turns up to the name. */
static bool stated(cnn_op op, const char *text, const char *letters, int64_t *value)
{
    bool found = false;
    for (const char *at = dimensions(op, text); *at != '\0' && *at != 'n';) {
        const size_t length = strcspn(at, "0123456789_"), digits = strspn(at + length, "0123456789");
        if (length == strlen(letters) && strncmp(at, letters, length) == 0) {
            *value = strtoll(at + length, NULL, 10);
            found = true;
        }
        at += length + digits + (length + digits == 0); /* one '_' */
    }
    return found;
}

typedef struct size_row {
    const char *letters;
    int64_t value;
} size_row;

/* NULL, or the letters of the first size whose stated number is another. A 0 means "not given", as in benchdnn. */
static const char *first_misread(cnn_op op, const char *text, const size_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (stated(op, text, rows[i].letters, &value) && value != 0 && value != rows[i].value) return rows[i].letters;
    }
    return NULL;
}

#define AXIS(d, letter)                                                                                                \
    {"i" #letter, (d).i##letter}, {"o" #letter, (d).o##letter}, {"k" #letter, (d).k##letter},                          \
        {"s" #letter, (d).s##letter}, {"p" #letter, (d).p##letter},                                                    \
    {                                                                                                                  \
        "d" #letter, (d).d##letter                                                                                     \
    }

static const char *misread_conv(const char *text, const cnn_problem *p)
{
    const cnn_conv_desc d = cnn_with_depth(p);
    const size_row rows[] = {{"g", d.g}, {"mb", d.mb}, {"ic", d.ic}, {"oc", d.oc}, AXIS(d, d), AXIS(d, h), AXIS(d, w)};
    return first_misread(p->op, text, rows, sizeof rows / sizeof rows[0]);
}

static const char *misread_pool(const char *text, const cnn_problem *p)
{
    const cnn_pool_desc d = cnn_pool_with_depth(p);
    const size_row rows[] = {{"mb", d.mb}, {"ic", d.ic}, AXIS(d, d), AXIS(d, h), AXIS(d, w)};
    return first_misread(p->op, text, rows, sizeof rows / sizeof rows[0]);
}

/* Every dimension that the text states is the problem's; NULL, or the letters of the one that is not. */
static const char *misread(const char *text, const cnn_problem *p)
{
    cnn_operand list[CNN_MAX_OPERANDS];
    cnn_error err;
    if (p->op == CNN_OP_CONV || p->op == CNN_OP_CONV3D) return misread_conv(text, p);
    if (p->op == CNN_OP_POOL || p->op == CNN_OP_POOL3D) return misread_pool(text, p);
    if (p->op == CNN_OP_OPTIMIZER || p->op == CNN_OP_CONCAT || cnn_operands(p, CNN_FWD, list, &err) < 0) return NULL;
    int64_t depth = 1;
    if (!stated(p->op, text, "id", &depth) || depth == 0) depth = 1; /* counts as height */
    const int64_t *x = list[0].dims, height = x[2] % depth == 0 ? x[2] / depth : -1;
    const size_row rows[] = {{"mb", x[0]}, {"ic", x[1]}, {"ih", height}, {"iw", x[3]}};
    return first_misread(p->op, text, rows, p->op == CNN_OP_LOSS ? 2 : 4);
}

static bool is_bad_input(cnn_status status)
{
    return status == CNN_BAD_ARGUMENT || status == CNN_BAD_FORMAT || status == CNN_OVERFLOW ||
           status == CNN_UNSUPPORTED;
}

fuzz_verdict fuzz_invalid_try(cnn_op op, const char *text, char why[VERIFY_TEXT_MAX])
{
    const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}};
    char first[TEXT], second[TEXT];
    cnn_problem problem, again;
    cnn_error err = {.message = ""};
    why[0] = '\0';
    cnn_status status = cnn_problem_parse(op, text, &defaults, &problem, &err);
    if (status != CNN_OK) {
        if (is_bad_input(status) && status == err.status && strlen(err.message) > 10) return FUZZ_REFUSED;
        snprintf(why, VERIFY_TEXT_MAX, "refused with status '%s' and '%.300s'", cnn_status_name(status), err.message);
        return FUZZ_WRONG;
    }
    cnn_problem_format(&problem, first);
    const char *wrong = misread(text, &problem);
    if (wrong != NULL) {
        snprintf(why, VERIFY_TEXT_MAX, "%s was read as another number: '%.300s'", wrong, first);
        return FUZZ_WRONG;
    }
    status = cnn_problem_parse(op, first, &defaults, &again, &err);
    if (status != CNN_OK) {
        snprintf(why, VERIFY_TEXT_MAX, "accepted as '%.200s', which is refused: %.250s", first, err.message);
        return FUZZ_WRONG;
    }
    cnn_problem_format(&again, second);
    if (strcmp(first, second) == 0) return FUZZ_ACCEPTED;
    snprintf(why, VERIFY_TEXT_MAX, "accepted as '%.200s', which reads back as '%.200s'", first, second);
    return FUZZ_WRONG;
}
