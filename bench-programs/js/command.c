// QuickJS as a WASI command: `quickjs.wasm SCRIPT [ARGUMENTS...]`, with `print` and `scriptArgs` (the script and its arguments). `real.sh` builds it.
#include <stdio.h>
#include <stdlib.h>
#include "quickjs.h"

static JSValue print(JSContext *context, JSValueConst receiver, int count, JSValueConst *values) {
    (void)receiver;
    for (int i = 0; i < count; i++) {
        const char *text = JS_ToCString(context, values[i]);
        if (!text) return JS_EXCEPTION;
        printf("%s%s", i ? " " : "", text);
        JS_FreeCString(context, text);
    }
    putchar('\n');
    return JS_UNDEFINED;
}

// The file with a zero behind it, as JS_Eval wants it; null where it cannot be read.
static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t room = 1 << 16, got;
    char *text = malloc(room);
    *length = 0;
    while (text && (got = fread(text + *length, 1, room - *length - 1, file)) > 0) {
        *length += got;
        if (room - *length == 1) text = realloc(text, room *= 2);
    }
    if (text && ferror(file)) return NULL;
    if (text) text[*length] = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: quickjs SCRIPT [ARGUMENTS...]\n");
        return 2;
    }
    size_t length;
    char *text = read_file(argv[1], &length);
    if (!text) {
        perror(argv[1]);
        return 2;
    }
    JSContext *context = JS_NewContext(JS_NewRuntime());
    JSValue global = JS_GetGlobalObject(context), arguments = JS_NewArray(context);
    for (int i = 1; i < argc; i++) JS_SetPropertyUint32(context, arguments, i - 1, JS_NewString(context, argv[i]));
    JS_SetPropertyStr(context, global, "scriptArgs", arguments);
    JS_SetPropertyStr(context, global, "print", JS_NewCFunction(context, print, "print", 1));
    if (JS_IsException(JS_Eval(context, text, length, argv[1], JS_EVAL_TYPE_GLOBAL))) {
        const char *message = JS_ToCString(context, JS_GetException(context));
        fprintf(stderr, "%s\n", message ? message : "an exception that has no text");
        return 1;
    }
    return fflush(stdout) ? 1 : 0;
}
