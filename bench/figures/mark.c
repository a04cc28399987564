/* mark.c: the hash, and its place at the end of a picture: before the SVG's last tag, before the PNG's last chunk. */
#include "mark.h"

#include "harness/base/keyed_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_FRAME = 12, KEY_SIZE = 8, TAIL = 160 }; /* of a PNG's chunk: length, type, sum */
static const char key[KEY_SIZE] = "Comment";         /* of a PNG's text; its 0 parts it from the text */

static cnn_status read_all(FILE *file, char **text, size_t *length, size_t *room, cnn_error *err)
{
    rewind(file);
    for (;;) {
        if (*length == *room) {
            const size_t more = *room > 0 ? 2 * *room : 1 << 16;
            char *larger = realloc(*text, more);
            if (larger == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot's data");
            *text = larger, *room = more;
        }
        const size_t got = fread(*text + *length, 1, *room - *length, file);
        *length += got;
        if (got == 0) break;
    }
    return ferror(file) ? CNN_FAIL(err, CNN_IO, "cannot read a plot's data: %s", strerror(errno)) : CNN_OK;
}

cnn_status mark_of(FILE *const *files, int count, char mark[MARK_SIZE], cnn_error *err)
{
    const hash_key plain = {{0}};
    char *text = NULL;
    size_t length = 0, room = 0;
    cnn_status status = CNN_OK;
    for (int i = 0; i < count && status == CNN_OK; i++) status = read_all(files[i], &text, &length, &room, err);
    if (status == CNN_OK)
        snprintf(mark, MARK_SIZE, "benchcnn plot %016" PRIx64, length > 0 ? keyed_hash(&plain, text, length) : 0);
    free(text);
    return status;
}

static void put_word(unsigned char *to, uint32_t word)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(word >> (24 - 8 * i));
}

/* As the PNG specification has it, of a chunk's type and data. */
static uint32_t sum_of(const unsigned char *bytes, size_t count)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

/* The chunk that holds the mark, and the last one behind it. How many bytes. */
static size_t png_end(const char *mark, const char last[CHUNK_FRAME], char end[TAIL])
{
    const size_t data = KEY_SIZE + strlen(mark);
    unsigned char *to = (unsigned char *)end;
    put_word(to, (uint32_t)data);
    memcpy(end + 4, "tEXt", 4);
    memcpy(end + 8, key, KEY_SIZE);
    memcpy(end + 8 + KEY_SIZE, mark, data - KEY_SIZE);
    put_word(to + 8 + data, sum_of(to + 4, 4 + data));
    memcpy(end + CHUNK_FRAME + data, last, CHUNK_FRAME);
    return data + (size_t)2 * CHUNK_FRAME;
}

cnn_status mark_put(const char *path, bool png, const char *mark, cnn_error *err)
{
    char tail[TAIL + 1] = "", end[TAIL];
    size_t length = 0, got = 0;
    long from = -CHUNK_FRAME;
    FILE *file = fopen(path, "r+e");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    if (fseek(file, png ? -CHUNK_FRAME : -TAIL / 2, SEEK_END) != 0) rewind(file); /* it is shorter */
    got = fread(tail, 1, TAIL, file);
    const char *tag = png ? tail : strstr(tail, "</svg>");
    bool whole = tag != NULL && got >= CHUNK_FRAME;
    if (whole && png) length = png_end(mark, tail, end);
    if (whole && !png) {
        length = (size_t)snprintf(end, sizeof end, "<metadata>%s</metadata>\n</svg>\n", mark);
        from = tag - tail - (long)got;
    }
    whole = whole && fseek(file, from, SEEK_END) == 0 && fwrite(end, 1, length, file) == length;
    if (fclose(file) != 0) whole = false;
    return whole ? CNN_OK : CNN_FAIL(err, CNN_IO, "cannot write %s whole", path);
}

bool mark_stands(const char *path, const char *mark)
{
    char tail[TAIL];
    const size_t length = strlen(mark);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    if (fseek(file, -TAIL, SEEK_END) != 0) rewind(file);
    const size_t got = fread(tail, 1, TAIL, file);
    fclose(file);
    for (size_t i = 0; i + length <= got; i++)
        if (memcmp(tail + i, mark, length) == 0) return true;
    return false;
}
