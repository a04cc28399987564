/* choices.c: "cpu:direct,cuda_*:*" -> which implementations and which of their algorithms. */
#include "harness/problem/names.h"
#include "impl.h"

#include <fnmatch.h>
#include <string.h>

bool cnn_choice_matches(const cnn_choice *choice, const cnn_algorithm *algorithm)
{
    return choice->pattern[0] == '\0' || fnmatch(choice->pattern, algorithm->name, 0) == 0;
}

/* An implementation may have an algorithm of this name: then it is that. */
bool cnn_choice_tuned(const cnn_choice *choice)
{
    if (strcmp(choice->pattern, CNN_TUNED) != 0) return false;
    for (int i = 0; i < choice->impl->n_algorithms; i++)
        if (strcmp(choice->impl->algorithms[i].name, CNN_TUNED) == 0) return false;
    return true;
}

/* An algorithm pattern must match something, unless the implementation has algorithms that only a problem reveals. */
static cnn_status check_pattern(const cnn_choice *choice, cnn_error *err)
{
    enum { LISTED = 64 };
    const char *names[LISTED];
    const cnn_impl *impl = choice->impl;
    char what[CNN_NAME_MAX];
    if (choice->pattern[0] == '\0' || cnn_choice_tuned(choice)) return CNN_OK;
    for (int i = 0; i < impl->n_algorithms; i++) {
        if (cnn_choice_matches(choice, &impl->algorithms[i])) return CNN_OK;
        if (i < LISTED) names[i] = impl->algorithms[i].name;
    }
    if (impl->enumerate != NULL && strpbrk(choice->pattern, "*?[:") != NULL) return CNN_OK;
    snprintf(what, sizeof what, "algorithm of %s", impl->name);
    const cnn_name_set set = {what, names, impl->n_algorithms < LISTED ? impl->n_algorithms : LISTED};
    const int index = cnn_name_find(&set, choice->pattern, err);
    if (index < 0) return err->status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown %s '%.64s'; did you mean '%s'?", what, choice->pattern,
                    names[index]); /* a glob is matched in its own case */
}

static cnn_status add_choice(const cnn_impl *impl, const char *pattern, cnn_choice *list, int *count, cnn_error *err)
{
    if (*count == CNN_MAX_CHOICES)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d implementations are chosen", CNN_MAX_CHOICES);
    cnn_choice *choice = &list[*count];
    choice->impl = impl;
    snprintf(choice->pattern, sizeof choice->pattern, "%s", pattern);
    cnn_status status = check_pattern(choice, err);
    if (status == CNN_OK) (*count)++;
    return status;
}

/* One word NAME[:ALGORITHM], either part a glob. */
static cnn_status add_word(const cnn_registry *registry, const char *word, cnn_choice *list, int *count, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    const char *colon = strchr(word, ':'), *pattern = colon != NULL ? colon + 1 : "";
    const int length = colon != NULL ? (int)(colon - word) : (int)strlen(word);
    if (length == 0 || length >= CNN_NAME_MAX || strlen(pattern) >= CNN_NAME_MAX || (colon != NULL && *pattern == '\0'))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is not of the form NAME[:ALGORITHM]", word);
    snprintf(name, sizeof name, "%.*s", length, word);

    if (strpbrk(name, "*?[") == NULL) {
        const cnn_impl *impl = cnn_impl_find(registry, name, err);
        return impl != NULL ? add_choice(impl, pattern, list, count, err) : err->status;
    }
    const int before = *count;
    cnn_status status = CNN_OK;
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        if (fnmatch(name, cnn_impl_at(registry, i)->name, 0) != 0) continue;
        cnn_status added = add_choice(cnn_impl_at(registry, i), pattern, list, count, err);
        if (added != CNN_OK) status = added; /* a glob may pass over those without such an algorithm */
    }
    if (*count > before) return CNN_OK;
    if (status != CNN_OK) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no implementation matches '%.64s'; see `benchcnn list`", name);
}

cnn_status cnn_choices_parse(const cnn_registry *registry, const char *text, cnn_choice *list, int *count,
                             cnn_error *err)
{
    char copy[1024], *rest = copy;
    *count = 0;
    if (text == NULL) text = "*";
    if (strlen(text) >= sizeof copy)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--impl %.64s... has more than %zu characters", text, sizeof copy - 1);
    strcpy(copy, text);
    while (rest != NULL) {
        cnn_status status = add_word(registry, strsep(&rest, ","), list, count, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}
