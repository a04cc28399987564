/* days.h: the days on which records of a picture were made. */
#ifndef BENCH_FIGURES_DAYS_H
#define BENCH_FIGURES_DAYS_H

#include <stdio.h>
#include <string.h>

/* Widens [first, last], "" at first, to the day of a record's date, "2026-11-27T03:45:18Z"; NULL: it has none. */
static inline void days_add(char first[16], char last[16], const char *date)
{
    char day[16];
    if (date == NULL || strlen(date) < 10) return;
    snprintf(day, sizeof day, "%.10s", date);
    if (first[0] == '\0' || strcmp(day, first) < 0) memcpy(first, day, sizeof day);
    if (strcmp(day, last) > 0) memcpy(last, day, sizeof day);
}

#endif
