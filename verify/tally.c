/* tally.c: counting. */
#include "tally.h"

#include "harness/problem/names.h"

#include <ctype.h>
#include <string.h>

/* ---- Reasons. */

static bool same_reason(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isdigit((unsigned char)*a)) a++;
        while (isdigit((unsigned char)*b)) b++;
        if (*a != *b) return false;
        if (*a == '\0') return true;
    }
}

static void add_reason(verify_reasons *r, const char text[REASON_TEXT_MAX], int64_t count, bool differ)
{
    for (int i = 0; i < r->count; i++)
        if (same_reason(r->list[i].text, text)) {
            r->list[i].count += count;
            if (differ || strcmp(r->list[i].text, text) != 0) r->list[i].differ = true;
            return;
        }
    if (r->count == REASONS_MAX) {
        r->others += count;
        return;
    }
    memcpy(r->list[r->count].text, text, REASON_TEXT_MAX);
    r->list[r->count].differ = differ;
    r->list[r->count++].count = count;
}

void verify_reasons_count(verify_reasons *r, const char *reason)
{
    static const char gate[] = "supports: ";
    char text[REASON_TEXT_MAX] = "";
    if (strncmp(reason, gate, sizeof gate - 1) == 0) reason += sizeof gate - 1;
    snprintf(text, sizeof text, "%s", reason);
    add_reason(r, text, 1, false);
}

static void add_share(verify_reasons *r, const char *impl, int64_t verified, int64_t left)
{
    int i = 0;
    while (i < r->n_shares && strcmp(r->shares[i].impl, impl) != 0) i++;
    if (i == CNN_MAX_CHOICES) return;
    if (i == r->n_shares) {
        r->shares[i] = (verify_share){.verified = 0};
        snprintf(r->shares[i].impl, sizeof r->shares[i].impl, "%s", impl);
        r->n_shares++;
    }
    r->shares[i].verified += verified;
    r->shares[i].left += left;
}

void verify_reasons_share(verify_reasons *r, const char *impl, bool verified)
{
    add_share(r, impl, verified, !verified);
}

void verify_reasons_join(verify_reasons *to, const verify_reasons *from)
{
    for (int i = 0; i < from->count; i++) add_reason(to, from->list[i].text, from->list[i].count, from->list[i].differ);
    for (int i = 0; i < from->n_shares; i++)
        add_share(to, from->shares[i].impl, from->shares[i].verified, from->shares[i].left);
    to->others += from->others;
}

/* ---- The table: a row is an algorithm, direction and type; a digest is what one problem gave in a row, kept to be
 * compared with the other rows' of the same problem. */

const char *const verify_precisions[VERIFY_PRECISIONS] = {"f64", "f32", "tf32", "bf16", "f16", "worse"};

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text != '\0'; text++) h = (h ^ (uint64_t)(unsigned char)*text) * 1099511628211u;
    return h;
}

/* The row of the same algorithm, operation, direction and type, made if there is none; NULL: no room. */
static table_row *find_row(verify_table *t, const table_row *like)
{
    for (int i = 0; i < t->row_count; i++)
        if (t->rows[i].op == like->op && t->rows[i].dir == like->dir && strcmp(t->rows[i].type, like->type) == 0 &&
            strcmp(t->rows[i].algorithm, like->algorithm) == 0)
            return &t->rows[i];
    if (t->row_count == TABLE_ROWS) return NULL;
    table_row *row = &t->rows[t->row_count++];
    *row = (table_row){.op = like->op, .dir = like->dir};
    memcpy(row->algorithm, like->algorithm, sizeof row->algorithm);
    memcpy(row->type, like->type, sizeof row->type);
    return row;
}

static table_row *row_for(verify_table *t, const verify_result *v)
{
    const cnn_type *type = &v->problem->u.type;
    table_row row = {.op = v->problem->op, .dir = v->dir};
    snprintf(row.algorithm, sizeof row.algorithm, "%s:%s", v->session->impl->name, v->algorithm);
    snprintf(row.type, sizeof row.type, "%s %s%s%s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout),
             type->math != CNN_MATH_F32 ? " " : "", type->math != CNN_MATH_F32 ? cnn_math_name(type->math) : "");
    return find_row(t, &row);
}

/* -1: none. */
static int rank(const char *precision)
{
    int i = VERIFY_PRECISIONS - 1;
    while (i >= 0 && strcmp(verify_precisions[i], precision) != 0) i--;
    return i;
}

static void add_digest(verify_table *t, int row, const verify_result *v, const char *what)
{
    if (t->digest_count == TABLE_DIGESTS) return;
    t->rows[row].digests++;
    t->digests[t->digest_count++] = (table_digest){hash_text(14695981039346656037u, what), v->bits.digest, row};
}

/* Where there is no room the fewest bits are kept. */
static void add_kept(table_bits *b, int64_t taps, int bits)
{
    int i = 0;
    while (i < b->count && b->at[i].bits > bits) i++;
    if (i < b->count && b->at[i].bits == bits) {
        if (taps < b->at[i].taps) b->at[i].taps = taps;
        return;
    }
    if (i == TABLE_BITS) i = TABLE_BITS - 1;
    const int last = b->count < TABLE_BITS ? b->count++ : TABLE_BITS - 1;
    memmove(&b->at[i + 1], &b->at[i], (size_t)(last - i) * sizeof b->at[0]);
    b->at[i].taps = taps;
    b->at[i].bits = bits;
}

void verify_table_add(verify_table *t, const verify_result *v, const char *what)
{
    if (v->problem == NULL || (v->precision[0] == '\0' && v->bits.digest == 0)) return;
    table_row *row = row_for(t, v);
    if (row == NULL) return;
    if (v->bits.digest == 0 && rank(v->precision) > rank(row->precision))
        memcpy(row->precision, v->precision, sizeof row->precision);
    if (v->taps > 0) add_kept(&row->kept, v->taps, v->bits_kept), row->kept.full = v->bits_full;
    for (int a = 0; a < VERIFY_SAME_COUNT && v->bits.digest != 0; a++) {
        row->asked[a] += v->bits.same[a] != 0;
        row->differ[a] += v->bits.same[a] == 'n';
    }
    if (v->bits.digest != 0) add_digest(t, (int)(row - t->rows), v, what);
}

void verify_table_join(verify_table *to, const verify_table *from)
{
    for (int i = 0; i < from->row_count; i++) {
        const table_row *old = &from->rows[i];
        table_row *row = find_row(to, old);
        if (row == NULL) continue;
        if (rank(old->precision) > rank(row->precision)) memcpy(row->precision, old->precision, sizeof row->precision);
        for (int k = 0; k < old->kept.count; k++) add_kept(&row->kept, old->kept.at[k].taps, old->kept.at[k].bits);
        if (old->kept.full > 0) row->kept.full = old->kept.full;
        for (int a = 0; a < VERIFY_SAME_COUNT; a++) {
            row->asked[a] += old->asked[a];
            row->differ[a] += old->differ[a];
        }
    }
    for (int64_t i = 0; i < from->digest_count && to->digest_count < TABLE_DIGESTS; i++) {
        const table_digest *old = &from->digests[i];
        table_row *row = find_row(to, &from->rows[old->row]);
        if (row == NULL) continue;
        row->digests++;
        to->digests[to->digest_count++] = (table_digest){old->problem, old->digest, (int)(row - to->rows)};
    }
}

void verify_table_common(const verify_table *t, int a, int b, int64_t *both, int64_t *same)
{
    *both = *same = 0;
    for (int64_t i = 0; i < t->digest_count; i++)
        for (int64_t j = 0; t->digests[i].row == a && j < t->digest_count; j++)
            if (t->digests[j].row == b && t->digests[j].problem == t->digests[i].problem) {
                (*both)++;
                *same += t->digests[j].digest == t->digests[i].digest;
            }
}
