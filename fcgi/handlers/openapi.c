/* The API's description, docs/openapi.json, is part of the program. */
#include "fcgi/handlers/handlers.h"

/* The assembler reads the file; the linker knows where it begins and ends. Its path is that of a build from the top. */
__asm__(".section .rodata\n"
        ".global openapi_json\n"
        "openapi_json:\n"
        ".incbin \"docs/openapi.json\"\n"
        ".global openapi_json_end\n"
        "openapi_json_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char openapi_json[], openapi_json_end[];

void handle_openapi(struct worker *w, struct request *rq, struct reply *rp)
{
    (void)w;
    (void)rq;
    buf_add(&rp->body, openapi_json, (size_t)(openapi_json_end - openapi_json));
    reply_json(rp, 200);
}
