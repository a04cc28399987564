/* export_report.c: verified cases for a pipeline that builds and tests: JUnit's XML, and GitHub's annotations. Both say
 * of what failed why, and the command that repeats it. */
#include "parts.h"

#include <string.h>

/* A row, by the names of its fields; "" where it has none. */
static const char *cell(const export_table *t, int row, const char *field)
{
    for (int c = 0; c < t->n_columns; c++)
        if (strcmp(t->columns[c].field, field) == 0 && t->rows[row].cells[c] != NULL) return t->rows[row].cells[c];
    return "";
}

/* A character of `special` as its text in `as`. */
static void put(const char *text, const char *special, const char *const *as)
{
    for (; *text != '\0'; text++) {
        const char *at = strchr(special, *text);
        if (at != NULL)
            fputs(as[at - special], stdout);
        else
            putchar(*text);
    }
}

static void put_xml(const char *text)
{
    static const char *const as[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;"};
    put(text, "&<>\"\n", as);
}

/* GitHub ends a title at a comma or a colon, a message at its line. */
static void put_github(const char *text, bool title)
{
    static const char *const as[] = {"%25", "%0D", "%0A", "%3A", "%2C"};
    put(text, title ? "%\r\n:," : "%\r\n", as);
}

static bool is_bad(const char *state)
{
    return strcmp(state, "FAILED") == 0 || strcmp(state, "MISTRUSTED") == 0 || strcmp(state, "REFUSED") == 0;
}

static void put_attribute(const char *name, const char *value)
{
    printf(" %s=\"", name);
    put_xml(value);
    putchar('"');
}

static void print_case(const export_table *t, int i)
{
    const char *state = cell(t, i, "state"), *net = cell(t, i, "net"), *algorithm = cell(t, i, "algorithm");
    char name[1024], class[256];
    snprintf(class, sizeof class, "%s%s%s", cell(t, i, "impl"), algorithm[0] != '\0' ? ":" : "", algorithm);
    snprintf(name, sizeof name, "%s %s %s%s %s %s %s", cell(t, i, "op"), cell(t, i, "dir"), cell(t, i, "problem"), net,
             cell(t, i, "dtype"), cell(t, i, "layout"), cell(t, i, "check"));
    fputs("  <testcase", stdout);
    put_attribute("classname", class);
    put_attribute("name", name);
    if (strcmp(state, "PASSED") == 0) {
        fputs("/>\n", stdout);
        return;
    }
    const bool bad = is_bad(state);
    printf(">\n    <%s", bad ? "failure" : "skipped");
    if (bad) put_attribute("type", state);
    put_attribute("message", cell(t, i, "reason"));
    putchar('>');
    put_xml(cell(t, i, "worst"));
    if (bad && cell(t, i, "repro")[0] != '\0') fputs("\nrepeat with: ", stdout);
    if (bad) put_xml(cell(t, i, "repro"));
    printf("</%s>\n  </testcase>\n", bad ? "failure" : "skipped");
}

static void print_junit(const export_table *t)
{
    int failures = 0, skipped = 0;
    for (int i = 0; i < t->count; i++) {
        const char *state = cell(t, i, "state");
        failures += is_bad(state);
        skipped += strcmp(state, "SKIPPED") == 0 || strcmp(state, "UNSUPPORTED") == 0;
    }
    printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"benchcnn\" tests=\"%d\" failures=\"%d\" "
           "skipped=\"%d\">\n",
           t->count, failures, skipped);
    for (int i = 0; i < t->count; i++) print_case(t, i);
    puts("</testsuite>");
}

static void print_github(const export_table *t)
{
    static const char *const fields[] = {"algorithm", "op",     "dir",   "problem", "net",
                                         "dtype",     "layout", "check", "state"};
    for (int i = 0; i < t->count; i++) {
        if (!is_bad(cell(t, i, "state"))) continue;
        fputs("::error title=", stdout);
        put_github(cell(t, i, "impl"), true);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            if (cell(t, i, fields[f])[0] == '\0') continue;
            fputs(f == 0 ? "%3A" : " ", stdout);
            put_github(cell(t, i, fields[f]), true);
        }
        fputs("::", stdout);
        put_github(cell(t, i, "reason"), false);
        if (cell(t, i, "repro")[0] != '\0') fputs("%0Arepeat with: ", stdout);
        put_github(cell(t, i, "repro"), false);
        putchar('\n');
    }
}

cnn_status export_report(const export_table *t, export_format format, cnn_error *err)
{
    if (strcmp(t->name, "checks") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--format %s is of what was verified, and these are %s: name a file of `benchcnn verify --out`",
                        format == EXPORT_JUNIT ? "junit" : "github", t->what);
    if (format == EXPORT_JUNIT)
        print_junit(t);
    else
        print_github(t);
    return CNN_OK;
}
