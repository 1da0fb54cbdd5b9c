/* shared/buml/import.h -- an uploaded Python file -> the JSON that the editor opens: one diagram, or a project
 * (sections 8, 9 and 11 of the B-UML contract). What the routes and the command line have in common. */
#ifndef BUML_IMPORT_H
#define BUML_IMPORT_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"

struct python_parser;

struct buml_upload {
    const char *filename; /* as the client says it; NULL: none */
    const char *text;
    size_t len;
};

/* {"title", "model", "diagramType", "exportedAt", "version", "warnings"}; of a project file its first agent. 0 and *ret
 * (cJSON_Delete), warnings are in f as well. -1: ERR_BAD_REQUEST (no agent but something else, which is named; broken
 * syntax; a limit), ERR_TOO_LARGE, or the machine failed. */
int buml_import_diagram(const struct buml_upload *upload, struct python_parser *parser, cJSON **ret, struct findings *f,
                        struct err *err);

/* {"id", "type": "Project", ... "diagrams", "settings", "warnings"}. Failures as above. */
int buml_import_project(const struct buml_upload *upload, struct python_parser *parser, cJSON **ret, struct findings *f,
                        struct err *err);

#endif
