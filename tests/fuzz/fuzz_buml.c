/* Python files as the B-UML reader sees them: their text and the parser's answer, which the input tells apart by a NUL.
 * Whatever both say, reading ends, and a model that comes out is whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/file.h"
#include "shared/diagram/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

static void check_model(const struct model *m)
{
    size_t i, k;

    must(m->states_len == 0 || m->states[0].initial);
    for (i = 0; i < m->states_len; i++) {
        must(m->states[i].name);
        for (k = 0; k < m->states[i].transitions_len; k++)
            must(m->states[i].transitions[k].target < m->states_len);
    }
}

static void read_file(const struct buml_file *file)
{
    struct buml_project project;
    struct findings f;
    struct err err = { 0 };
    struct model m;

    findings_init(&f);
    if (buml_file_read(file, 1, (int)file->lines_len, NULL, &m, &f, &err) == 0) {
        check_model(&m);
        model_release(&m);
    } else {
        must(err.kind != ERR_NONE);
    }
    must(f.errors == 0);
    if (buml_file_project(file, 1, (int)file->lines_len, &project, &err) == 0)
        buml_project_release(&project);
    findings_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
    struct buml_file file;
    char *text, *json;

    if (!nul)
        return 0;
    text = mem_dup(data, (size_t)(nul - data));
    json = mem_dup(nul + 1, size - (size_t)(nul + 1 - data));
    must(text && json);
    if (buml_file_take(text, (size_t)(nul - data), json, &file, NULL) == 0) {
        read_file(&file);
        buml_file_close(&file);
    }
    mem_free(text);
    mem_free(json);
    return 0;
}
