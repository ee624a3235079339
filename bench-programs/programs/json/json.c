// A JSON parser over a generated document: byte-wise scanning, a recursive descent, numbers, escapes, a tree in an arena.
//
// The generator counts what it writes, and a walk over the parsed tree must find the same.
#include "../kernel.h"

static const struct kernel kernel = {
    "json", "  MODE 0; SIZE bytes of the document, about; ROUNDS parses\n", 1, {4000000}, 30,
};

enum kind { NUL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT };

struct value {
    enum kind kind;
    uint32_t length;             // of text
    union {
        double number;
        const char *text;        // unescaped
        struct value *children;  // of an array or object, linked by `next`
        uint32_t truth;
    };
    struct value *next;
    const char *key;             // in an object
    uint32_t key_length;
};

// What a document holds: the checksum's parts.
struct tally {
    uint64_t values, members, text_bytes, text_sum, tenths;
};

static char *document, *arena, *arena_end, *arena_at;
static uint32_t document_length, document_limit;
static struct tally written;

// ---- the generator

static void emit(char c) { document[document_length++] = c; }
static void emit_text(const char *text) {
    while (*text) emit(*text++);
}

static void emit_number(uint32_t tenths) {
    char text[12];
    int count = 0;
    uint32_t whole = tenths / 10;
    do text[count++] = (char)('0' + whole % 10);
    while (whole /= 10);
    while (count) emit(text[--count]);
    if (tenths % 10) emit('.'), emit((char)('0' + tenths % 10));
    written.tenths += tenths;
}

static void emit_string(void) {
    emit('"');
    for (uint32_t left = 3 + next_random() % 20; left; left--) {
        uint32_t pick = next_random();
        char c;
        if (pick % 40 == 0) c = '\n', emit_text("\\n");
        else if (pick % 40 == 1) c = '"', emit_text("\\\"");
        else if (pick % 40 == 2) c = 'A', emit_text("\\u0041");
        else emit(c = (char)('a' + (pick >> 8) % 26));
        written.text_bytes++, written.text_sum += (uint8_t)c;
    }
    emit('"');
}

static void emit_value(uint32_t depth) {
    uint32_t pick = next_random() % 100;
    written.values++;
    if (depth == 0 || pick < 45) {
        if (pick < 40) emit_number(next_random() % 1000000);
        else if (pick < 60) emit_string();
        else if (pick < 75) emit_text("true");
        else if (pick < 90) emit_text("false");
        else emit_text("null");
    } else if (pick < 60) {
        emit_string();
    } else {
        int object = pick >= 80;
        emit(object ? '{' : '[');
        uint32_t count = next_random() % 8;
        for (uint32_t i = 0; i < count; i++) {
            if (i) emit(','), emit(' ');
            if (object) written.members++, emit_string(), emit(':');
            emit_value(depth - 1);
        }
        emit(object ? '}' : ']');
    }
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    free(document), free(arena);
    document_length = 0, document_limit = size;
    // One top-level item is at most 8^5 values of at most 150 bytes, far less in practice; the room is generous.
    document = room((size_t)size + 8000000);
    written = (struct tally){0, 0, 0, 0, 0};
    written.values = 1;
    emit('[');
    for (uint32_t i = 0; document_length < document_limit; i++) {
        if (i) emit_text(",\n  ");
        emit_value(5);
    }
    emit_text("]\n");
    // Strings are given the room of their escaped form.
    size_t arena_bytes = (size_t)(written.values + 1) * sizeof(struct value) + document_length;
    arena = room(arena_bytes);
    arena_end = arena + arena_bytes;
}

// ---- the parser

struct parser {
    const char *at, *end;
};

static void *take(size_t bytes) {
    char *memory = arena_at;
    if ((size_t)(arena_end - arena_at) < bytes) __builtin_trap();
    arena_at += bytes;
    return memory;
}

static void skip_space(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
}

// A string's text goes to the far end of the arena, so values stay aligned.
static int parse_string(struct parser *p, const char **text, uint32_t *length) {
    if (p->at >= p->end || *p->at != '"') return 0;
    p->at++;
    const char *scan = p->at;
    while (scan < p->end && *scan != '"') scan += *scan == '\\' ? 2 : 1;
    char *out = arena_end - (scan - p->at);
    if (out < arena_at) __builtin_trap();
    arena_end = out;
    *text = out;
    while (p->at < p->end && *p->at != '"') {
        char c = *p->at++;
        if (c == '\\') {
            switch (c = *p->at++) {
                case 'n': c = '\n'; break;
                case 't': c = '\t'; break;
                case 'r': c = '\r'; break;
                case 'b': c = '\b'; break;
                case 'f': c = '\f'; break;
                case 'u': {
                    uint32_t code = 0;
                    for (int i = 0; i < 4; i++) {
                        char h = *p->at++;
                        code = code * 16 + (uint32_t)(h <= '9' ? h - '0' : (h | 32) - 'a' + 10);
                    }
                    if (code > 127) return 0;
                    c = (char)code;
                    break;
                }
                default: break;
            }
        }
        *out++ = c;
    }
    *length = (uint32_t)(out - *text);
    p->at++;
    return 1;
}

static int parse_number(struct parser *p, double *number) {
    double value = 0, scale = 1;
    int negative = *p->at == '-';
    p->at += negative;
    const char *begin = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') value = value * 10 + (*p->at++ - '0');
    if (p->at == begin) return 0;
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        while (p->at < p->end && *p->at >= '0' && *p->at <= '9') value += (*p->at++ - '0') * (scale /= 10);
    }
    *number = negative ? -value : value;
    return 1;
}

static int parse_word(struct parser *p, const char *word) {
    for (; *word; word++, p->at++)
        if (p->at >= p->end || *p->at != *word) return 0;
    return 1;
}

__attribute__((noinline)) static struct value *parse_value(struct parser *p) {
    skip_space(p);
    if (p->at >= p->end) return 0;
    struct value *v = take(sizeof *v);
    v->next = 0, v->key = 0, v->key_length = 0, v->length = 0;
    switch (*p->at) {
        case '{':
        case '[': {
            int object = *p->at++ == '{';
            struct value **link = &v->children;
            v->kind = object ? OBJECT : ARRAY;
            v->children = 0;
            skip_space(p);
            if (p->at < p->end && *p->at == (object ? '}' : ']')) {
                p->at++;
                return v;
            }
            for (;;) {
                const char *key = 0;
                uint32_t key_length = 0;
                if (object) {
                    skip_space(p);
                    if (!parse_string(p, &key, &key_length)) return 0;
                    skip_space(p);
                    if (p->at >= p->end || *p->at++ != ':') return 0;
                }
                struct value *child = parse_value(p);
                if (!child) return 0;
                child->key = key, child->key_length = key_length;
                *link = child, link = &child->next;
                skip_space(p);
                if (p->at >= p->end) return 0;
                char c = *p->at++;
                if (c == (object ? '}' : ']')) return v;
                if (c != ',') return 0;
            }
        }
        case '"': v->kind = STRING; return parse_string(p, &v->text, &v->length) ? v : 0;
        case 't': v->kind = BOOLEAN, v->truth = 1; return parse_word(p, "true") ? v : 0;
        case 'f': v->kind = BOOLEAN, v->truth = 0; return parse_word(p, "false") ? v : 0;
        case 'n': v->kind = NUL; return parse_word(p, "null") ? v : 0;
        default: v->kind = NUMBER; return parse_number(p, &v->number) ? v : 0;
    }
}

static void tally_text(struct tally *t, const char *text, uint32_t length) {
    t->text_bytes += length;
    for (uint32_t i = 0; i < length; i++) t->text_sum += (uint8_t)text[i];
}

static void tally_value(struct tally *t, const struct value *v) {
    t->values++;
    if (v->key) t->members++, tally_text(t, v->key, v->key_length);
    if (v->kind == NUMBER) t->tenths += (uint64_t)(v->number * 10 + 0.5);
    else if (v->kind == STRING) tally_text(t, v->text, v->length);
    else if (v->kind == ARRAY || v->kind == OBJECT)
        for (const struct value *child = v->children; child; child = child->next) tally_value(t, child);
}

static uint64_t checksum_of(const struct tally *t) {
    return t->values + 3 * t->members + 5 * t->text_bytes + 7 * t->text_sum + 11 * t->tenths;
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    char *end = arena_end;
    for (uint32_t r = 0; r < rounds; r++) {
        struct parser p = {document, document + document_length};
        struct tally t = {0, 0, 0, 0, 0};
        arena_at = arena, arena_end = end;
        struct value *v = parse_value(&p);
        if (v) tally_value(&t, v);
        sum += checksum_of(&t);
    }
    arena_end = end;
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) { return checksum == checksum_of(&written) * rounds; }
