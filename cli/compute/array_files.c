/* array_files.c: see parts.h. */
#include "parts.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <ctype.h>
#include <string.h>

static cnn_status not_a_file(const array_files *f, const char *given, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s '%.200s' is not of the form %s", f->option, given,
                    strcmp(f->option, "in") == 0 ? "NAME=FILE.npy" : "FILE.npy or NAME=FILE.npy,NAME=FILE.npy");
}

/* What stands before the first '=', if that can be a name: paths may have one, too. */
static char *cut_name(char *item)
{
    char *at = item;
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    if (*at != '=' || at == item) return NULL;
    *at = '\0';
    return at + 1;
}

static cnn_status add_item(array_files *f, char *item, const char *given, cnn_error *err)
{
    char *path = cut_name(item);
    const char *name = path != NULL ? item : NULL;
    if (path == NULL) path = item;
    if (*path == '\0' || (name == NULL && strcmp(f->option, "in") == 0)) return not_a_file(f, given, err);
    if (f->count > 0 && (name == NULL || f->items[0].name == NULL)) return not_a_file(f, given, err);
    if (name != NULL && array_files_have(f, name))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s names %s twice", f->option, name);
    if (f->count == CNN_MAX_OPERANDS)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s names more than %d files", f->option, f->count);
    f->items[f->count].name = name;
    f->items[f->count++].path = path;
    return CNN_OK;
}

cnn_status array_files_add(array_files *f, const char *given, cnn_error *err)
{
    if (given == NULL) return CNN_OK;
    const size_t length = strlen(given);
    if (length >= sizeof f->text - f->used)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.64s... is too long", f->option, given);
    char *rest = memcpy(f->text + f->used, given, length + 1);
    f->used += length + 1;
    cnn_status status = CNN_OK;
    while (status == CNN_OK && rest != NULL) status = add_item(f, strsep(&rest, ","), given, err);
    return status;
}

bool array_files_have(const array_files *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (f->items[i].name != NULL && strcmp(f->items[i].name, name) == 0) return true;
    return false;
}

static void append_names(const array_call *call, cnn_access not_this, char *text, size_t size)
{
    const char *between = " ";
    for (int i = 0; i < call->count; i++) {
        if (call->operands[i].access == not_this) continue;
        cnn_append(text, size, "%s%s", between, call->operands[i].name);
        between = ", ";
    }
}

const char *array_call_text(const array_call *call, char *text, size_t size)
{
    snprintf(text, size, "%s %s reads", cnn_op_name(call->problem.op), cnn_dir_name(call->dir));
    append_names(call, CNN_OUT, text, size);
    cnn_append(text, size, " and writes");
    append_names(call, CNN_IN, text, size);
    return text;
}

cnn_status array_files_assign(const array_files *f, const array_call *call, const char *path[CNN_MAX_OPERANDS],
                              cnn_error *err)
{
    const cnn_access not_this = strcmp(f->option, "in") == 0 ? CNN_OUT : CNN_IN;
    char text[256];
    array_call_text(call, text, sizeof text);
    for (int i = 0; i < call->count; i++) path[i] = NULL;
    for (int k = 0; k < f->count; k++) {
        int found = -1, fitting = 0;
        for (int i = 0; i < call->count; i++) {
            const char *name = f->items[k].name;
            if (call->operands[i].access == not_this) continue;
            if (name != NULL && strcmp(call->operands[i].name, name) != 0) continue;
            found = i;
            fitting++;
        }
        if (fitting > 1)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.180s: which one is it? %s: NAME=FILE.npy,NAME=FILE.npy",
                            f->option, f->items[k].path, text);
        if (found < 0)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.64s does not go with --dir %s: %s", f->option,
                            f->items[k].name, cnn_dir_name(call->dir), text);
        path[found] = f->items[k].path;
    }
    return CNN_OK;
}
