/* progress.c: how far a long run has come, on standard error, so that standard output holds results only. A terminal
 * gets one line that redraws itself; a log file gets a plain line now and then. */
#include "cli.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double redraw_seconds = 0.1, line_seconds = 10.0;

void cli_progress_start(cli_progress *progress, const char *what, bool quiet)
{
    const char *term = getenv("TERM");
    progress->what = what;
    progress->start = progress->last = cnn_now();
    progress->terminal = isatty(STDERR_FILENO) == 1 && !(term && strcmp(term, "dumb") == 0);
    progress->quiet = quiet;
    progress->drawn = false;
}

/* "950", "27.1k", "3.42M": three digits and a unit. */
static void format_rate(double rate, char *text, size_t size)
{
    const char *unit = rate >= 1e6 ? "M" : rate >= 1e3 ? "k" : "";
    double value = rate >= 1e6 ? rate / 1e6 : rate >= 1e3 ? rate / 1e3 : rate;
    snprintf(text, size, "%.3g%s/s", value, unit);
}

static void format_left(double seconds, char *text, size_t size)
{
    int64_t s = (int64_t)ceil(fmin(fmax(seconds, 0.0), 3.6e9));
    if (s >= 3600)
        snprintf(text, size, "%lld:%02d:%02d left", (long long)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d left", (int)(s / 60), (int)(s % 60));
}

/* The bar takes what room the rest leaves. A line that is still too long is cut: one that wrapped could not be redrawn.
 */
static void draw_bar(const char *what, double share, const char *facts, const char *note)
{
    enum { LEAST = 6, MOST = 24, FRAME = 14 }; /* frame: brackets, percentage, blanks */
    static const char full[] = "========================", empty[] = "                        ";
    char line[512];
    int columns = table_columns_of(stderr), room = columns - FRAME - (int)(strlen(what) + strlen(facts) + strlen(note));
    int width = room < LEAST ? LEAST : room > MOST ? MOST : room, filled = (int)(share * width);
    snprintf(line, sizeof line, "%s [%.*s%.*s] %3.0f %%  %s  %s", what, filled, full, width - filled, empty,
             share * 100, facts, note);
    fprintf(stderr, "\r\033[K%.*s", columns - 1, line);
    fflush(stderr);
}

void cli_progress_show(cli_progress *progress, double done, double total, const char *note)
{
    double now = cnn_now(), wait = progress->terminal ? redraw_seconds : line_seconds;
    if (progress->quiet || now - progress->last < wait) return;
    progress->last = now;
    double elapsed = fmax(now - progress->start, 1e-9), rate = done / elapsed;
    double share = total > 0 ? fmin(fmax(done / total, 0.0), 1.0) : 0.0;
    char shown[CNN_MESSAGE_MAX], facts[64] = "", speed[24] = "", left[32] = "";
    if (rate > 0) {
        format_rate(rate, speed, sizeof speed);
        format_left((total - done) / rate, left, sizeof left);
        snprintf(facts, sizeof facts, "%s  %s", speed, left);
    }
    note = cnn_visible(note, shown, sizeof shown); /* a problem of a file, as it stands there */
    progress->drawn = progress->terminal;
    if (progress->terminal)
        draw_bar(progress->what, share, facts, note);
    else
        fprintf(stderr, "%s: %.0f %%  %s  %s\n", progress->what, share * 100, facts, note);
}

void cli_progress_end(cli_progress *progress)
{
    if (!progress->drawn) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->drawn = false;
}
