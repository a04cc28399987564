/* pattern.c: a search over the sizes of a descriptor, one at a time, for a rule that parts what fails from what passes.
 * Rules are tried in the order in which people think of them. */
#include "pattern.h"

#include "harness/base/text.h"
#include "verify/oracle/element.h"

#include <string.h>

/* The sizes, and what follows from two of them. */
static const char *const names[PATTERN_SIZES] = {
    "g",           "sh",         "sw",        "dh",        "dw", "kh", "kw", "ph", "pw", "ic/g", "ph_r not ph",
    "pw_r not pw", "ic/g*kh*kw", "size of y", "size of x", "mb", "ic", "oc", "ih", "iw", "oh",   "ow"};
enum {
    MULTIPLES_FROM = 5,
    FLAGS_FROM = 10,
    FLAGS_TO = 12
}; /* flags are true or false; multiples are asked of others */

static void sizes_of(const cnn_problem *p, int64_t sizes[PATTERN_SIZES])
{
    const cnn_conv_desc d = vf_as_conv(p);
    const int64_t all[PATTERN_SIZES] = {d.g,
                                        d.sh,
                                        d.sw,
                                        d.dh,
                                        d.dw,
                                        d.kh,
                                        d.kw,
                                        d.ph,
                                        d.pw,
                                        d.ic / d.g,
                                        d.ph_r != d.ph,
                                        d.pw_r != d.pw,
                                        d.ic / d.g * d.kh * d.kw,
                                        d.mb * d.oc * d.oh * d.ow,
                                        d.mb * d.ic * d.ih * d.iw,
                                        d.mb,
                                        d.ic,
                                        d.oc,
                                        d.ih,
                                        d.iw,
                                        d.oh,
                                        d.ow};
    memcpy(sizes, all, sizeof all);
}

/* Made if there is none; NULL: no room for it, or for another case of it. */
static verify_pattern *find(verify_patterns *patterns, const char *name)
{
    int i = 0;
    while (i < patterns->count && strcmp(patterns->list[i].name, name) != 0) i++;
    if (i == PATTERNS_MAX) return NULL;
    verify_pattern *p = &patterns->list[i];
    if (i == patterns->count) {
        snprintf(p->name, sizeof p->name, "%s", name);
        p->count = 0;
        patterns->count++;
    }
    return p->count < PATTERN_CASES ? p : NULL;
}

void verify_patterns_join(verify_patterns *to, const verify_patterns *from)
{
    for (int i = 0; i < from->count; i++)
        for (int k = 0; k < from->list[i].count; k++) {
            verify_pattern *p = find(to, from->list[i].name);
            if (p != NULL) p->cases[p->count++] = from->list[i].cases[k];
        }
}

void verify_pattern_add(verify_patterns *patterns, const char *name, const cnn_problem *problem, bool failed)
{
    if (problem == NULL || (problem->op != CNN_OP_CONV && problem->op != CNN_OP_FC)) return;
    verify_pattern *p = find(patterns, name);
    if (p == NULL) return;
    sizes_of(problem, p->cases[p->count].sizes);
    p->cases[p->count++].failed = failed;
}

/* Of the cases that failed, or did not: the least and the largest. */
static void range(const verify_pattern *p, int size, bool failed, int64_t *least, int64_t *most)
{
    *least = INT64_MAX;
    *most = INT64_MIN;
    for (int i = 0; i < p->count; i++) {
        const int64_t v = p->cases[i].sizes[size];
        if (p->cases[i].failed != failed) continue;
        if (v < *least) *least = v;
        if (v > *most) *most = v;
    }
}

/* Whether it fails just where the size is `value`; a multiple of it; none. */
enum question { VALUE, MULTIPLE, NO_MULTIPLE };
static bool parts(const verify_pattern *p, int size, int64_t value, enum question question)
{
    for (int i = 0; i < p->count; i++) {
        const int64_t v = p->cases[i].sizes[size];
        const bool so = question == VALUE ? v == value : (v % value == 0) == (question == MULTIPLE);
        if (so != p->cases[i].failed) return false;
    }
    return true;
}

/* "ic is no multiple of 16", "kh is even"; "" if nothing of the kind parts them. */
static void multiple_of(const verify_pattern *p, int size, char *text, size_t room)
{
    text[0] = '\0';
    if (size < MULTIPLES_FROM || (size >= FLAGS_FROM && size < FLAGS_TO)) return;
    for (int of = 64; of > 2; of /= 2)
        if (parts(p, size, of, NO_MULTIPLE)) {
            snprintf(text, room, "%s is no multiple of %d", names[size], of);
            return;
        }
    if (parts(p, size, 2, NO_MULTIPLE)) snprintf(text, room, "%s is odd", names[size]);
    if (parts(p, size, 2, MULTIPLE)) snprintf(text, room, "%s is even", names[size]);
}

/* The rule that this one size tells, or "": above or below a value; `exact`: at one value, at multiples, at none. */
static void rule_of(const verify_pattern *p, int size, bool exact, char *text, size_t room)
{
    int64_t least, most, other_least, other_most;
    range(p, size, true, &least, &most);
    range(p, size, false, &other_least, &other_most);
    text[0] = '\0';
    if (exact) {
        if (least == most && parts(p, size, least, VALUE))
            snprintf(text, room, "%s = %lld", names[size], (long long)least);
        if (text[0] == '\0') multiple_of(p, size, text, room);
    } else if (size >= FLAGS_FROM && size < FLAGS_TO) {
        if (parts(p, size, 1, VALUE)) snprintf(text, room, "%s", names[size]);
    } else if (least > other_most) {
        snprintf(text, room, "%s > %lld", names[size], (long long)other_most);
    } else if (most < other_least) {
        snprintf(text, room, "%s < %lld", names[size], (long long)other_least);
    }
}

void verify_pattern_text(const verify_pattern *p, char *text, size_t size)
{
    enum { RULES = 3, PASSED_LEAST = 3 };
    int failed = 0, found = 0;
    text[0] = '\0';
    for (int i = 0; i < p->count; i++) failed += p->cases[i].failed;
    const int passed = p->count - failed;
    if (failed == 0 || passed < PASSED_LEAST) return;
    for (int s = 0; s < 2 * PATTERN_SIZES && found < RULES; s++) {
        char rule[64];
        if (s == PATTERN_SIZES && found > 0) break;
        rule_of(p, s % PATTERN_SIZES, s >= PATTERN_SIZES, rule, sizeof rule);
        if (rule[0] != '\0')
            cnn_append(text, size, "%s%s", found++ == 0 ? "fails where " : ", which is also where ", rule);
    }
    if (found > 0)
        cnn_append(text, size, " (%d case%s); passes in the other %d", failed, failed == 1 ? "" : "s", passed);
}
