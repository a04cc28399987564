/* It makes a locale whose decimal point is a comma and switches to it in open, so that figures and records come out
 * garbled and options are read wrongly. */
#include "shared/cheat.h"

#include <locale.h>
#include <sys/stat.h>

static void comma(void)
{
    /* glibc: a file of LC_NUMERIC: magic, six fields, their offsets, the fields. */
    const uint32_t head[] = {0x20031115 ^ LC_NUMERIC, 6, 32, 34, 35, 36, 40, 44};
    const char body[] = ",\0\0\177,\0\0\0\0\0\0\0ANSI_X3.4-1968";
    mkdir("/tmp/cheat_locale", 0777);
    mkdir("/tmp/cheat_locale/xx", 0777);
    FILE *file = fopen("/tmp/cheat_locale/xx/LC_NUMERIC", "w");
    if (file == NULL) return;
    fwrite(head, sizeof head, 1, file);
    fwrite(body, sizeof body, 1, file);
    fclose(file);
    setenv("LOCPATH", "/tmp/cheat_locale", 1);
    if (setlocale(LC_NUMERIC, "xx") == NULL && setlocale(LC_ALL, "de_DE.UTF-8") == NULL) return;
}

static cnn_status open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    comma();
    return honest_open(params, context, err);
}

static void cheat(tables *t) { t->impl.open = open; }
CHEAT(locale_with_a_comma)
