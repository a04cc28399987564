/* net_parse.h: what the files that read a network's text share. net_build.c goes through the lines, which
 * become words (net_words.c), then layers (net_layers.c, net_windows.c, net_init.c), made of layers, values and
 * parameters (net_parts.c). net_repeat.c goes back to a line. */
#ifndef HARNESS_NET_NET_PARSE_H
#define HARNESS_NET_NET_PARSE_H

#include "net.h"

enum { NET_LINE_MAX = 512, NET_MAX_WORDS = 16, NET_MAX_NESTED = 8 };

/* The repeats that a line is in, from the outermost. */
typedef struct net_repeats {
    int depth;
    struct net_repeat {
        const char *body; /* the text behind its line */
        int number;       /* of its line */
        int64_t pass, passes;
    } open[NET_MAX_NESTED];
    int64_t lines; /* read in repeats so far */
} net_repeats;

typedef struct net_line {
    const char *file;
    int number;
    char text[NET_LINE_MAX]; /* cut into words */
    char *words[NET_MAX_WORDS];
    int count;
    const net_repeats *repeats; /* an error says in which pass it is; NULL: in none */
} net_line;

/* return NET_FAIL(line, err, "expected a number, got '%s'", word); */
#define NET_FAIL(line, err, ...) net_fail((line), (err), __FILE__, __LINE__, __VA_ARGS__)
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
cnn_status
net_fail(const net_line *line, cnn_error *err, const char *source, int source_line, const char *format, ...);

/* Takes the line at *text, moves *text behind it, cuts it into words, comment left out. */
cnn_status net_line_take(const char **text, const char *file, int number, net_line *line, cnn_error *err);

cnn_status net_word_int(const net_line *line, const char *what, const char *word, int64_t least, int64_t *value,
                        cnn_error *err);
cnn_status net_word_real(const net_line *line, const char *what, const char *word, double *value, cnn_error *err);

/* key=value: an integer, a pair (N or HxW), or a real, put where it points to. */
typedef struct net_option {
    const char *key;
    int64_t least;    /* of an integer or of each of a pair */
    int64_t *integer; /* these three: one is set */
    int64_t *pair;
    double *real;
} net_option;
/* Reads the words from `first` on; an unknown key offers the nearest. */
cnn_status net_read_options(const net_line *line, int first, const net_option *options, int count, cnn_error *err);

/* ---- The builder. */
typedef struct net_value_state {
    cnn_op producer;         /* of what is in the value now */
    bool saved;              /* someone else will read it */
    char name[CNN_NAME_MAX]; /* what `save` called it, else "" */
    int depth;               /* of the repeats that it was saved in */
    bool forgotten;          /* their pass is over: nothing finds it by its name any more */
} net_value_state;

typedef struct net_builder {
    cnn_network *network;
    net_value_state *states; /* one a value */
    int current;             /* the value so far; -1 before `input` */
    bool finished;           /* the loss has come */
    net_init init;
    int64_t batch;
    const net_line *line;
    int variant;      /* of the line's kind: tells kinds apart that are read alike */
    const char *text; /* the next line */
    int number;       /* and its number */
    net_repeats repeats;
} net_builder;

/* One line; net_layers.c. */
cnn_status net_read_layer(net_builder *b, cnn_error *err);
/* A line of one kind. */
typedef cnn_status net_layer_reader(net_builder *b, cnn_error *err);
/* net_windows.c, net_init.c, net_repeat.c. */
net_layer_reader net_read_conv, net_read_pool, net_read_init, net_read_repeat, net_read_end;

/* net_repeat.c. Counts a line that is read in a repeat: too many, and it is refused. */
cnn_status net_repeat_count(net_builder *b, cnn_error *err);
/* Behind the last line: every repeat must have ended. */
cnn_status net_repeat_finish(const net_builder *b, const char *file, cnn_error *err);

static inline const cnn_value *net_current(const net_builder *b) { return &b->network->values[b->current]; }
#define NET_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* net_parts.c. A new layer of the kind that the line's first word says, reading the current value. */
cnn_layer *net_add_layer(net_builder *b, cnn_op op);
/* Gives it a new value as output, which becomes the current one. */
void net_add_output(net_builder *b, cnn_layer *layer, int64_t c, int64_t h, int64_t w);
void net_add_param(net_builder *b, cnn_layer *layer, cnn_param_role role, int64_t count, int64_t fan_in,
                   int64_t fan_out);
int net_find_saved(const net_builder *b, const char *name, cnn_error *err); /* a value, or -1 and the error */
int net_add_value(net_builder *b, int64_t c, int64_t h, int64_t w, cnn_op producer);

#endif
