#include "fcgi/handlers/handlers.h"
#include "shared/base/mem.h"
#include "shared/buml/read.h"

#define SIMULATION "/besser_api/simulation"
#define GITHUB "/besser_api/github/auth"
#define BODY REQUEST_BODY_MAX
#define UPLOAD (BUML_UPLOAD_MAX + (64u << 10)) /* with what stands around the file */

const struct route routes[] = {
    { METHOD_GET, SURFACE_PUBLIC, "/health", handle_health, 0, "liveness" },
    { METHOD_GET, SURFACE_PUBLIC, "/besser_api/", handle_root, 0, "this list" },
    { METHOD_GET, SURFACE_PUBLIC, "/besser_api/openapi.json", handle_openapi, 0, "OpenAPI 3.1 of all this" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/limits", handle_limits, 0, "what a session may use" },
    { METHOD_POST, SURFACE_PUBLIC, SIMULATION "/validate", handle_validate, BODY, "compile a diagram" },
    { METHOD_POST, SURFACE_PUBLIC, SIMULATION "/sessions", handle_session_create, BODY, "compile and start a diagram" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/sessions/{id}", handle_session_show, 0, "state of a session" },
    { METHOD_DELETE, SURFACE_PUBLIC, SIMULATION "/sessions/{id}", handle_session_end, 0, "end a session" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/sessions/{id}/files", handle_files, 0, "files of a session" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/sessions/{id}/files/{path*}", handle_file, 0, "one file of a session" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/sessions/{id}/archive", handle_archive, 0, "all files of a session" },
    { METHOD_GET, SURFACE_PUBLIC, SIMULATION "/sessions/{id}/transcript", handle_transcript, 0, "what was said" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/generate-output", handle_generate, BODY, "the program of a diagram" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/get-json-model", handle_import, UPLOAD, "a Python file as a diagram" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/get-project-json-model", handle_import_project, UPLOAD,
      "a Python file as a project" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/validate-diagram", handle_validate_diagram, BODY, "check a diagram" },
    { METHOD_GET, SURFACE_PUBLIC, GITHUB "/login", handle_github_login, 0, "sign in with GitHub" },
    { METHOD_GET, SURFACE_PUBLIC, GITHUB "/callback", handle_github_callback, 0, "where GitHub sends the browser" },
    { METHOD_GET, SURFACE_PUBLIC, GITHUB "/status", handle_github_status, 0, "who is signed in" },
    { METHOD_POST, SURFACE_PUBLIC, GITHUB "/logout", handle_github_logout, 0, "sign out" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/export-buml", handle_export_buml, BODY, "a diagram as B-UML Python" },
    { METHOD_POST, SURFACE_PUBLIC, "/besser_api/export-project-as-buml", handle_export_project, BODY,
      "a project as B-UML Python" },

    { METHOD_GET, SURFACE_INTERNAL, "/health", handle_internal_health, 0, "state of the service" },
    { METHOD_GET, SURFACE_INTERNAL, "/healthz", handle_healthz, 0, "is a worker alive" },
    { METHOD_GET, SURFACE_INTERNAL, "/readyz", handle_readyz, 0, "can sessions be started" },
    { METHOD_GET, SURFACE_INTERNAL, "/metrics", handle_metrics, 0, "counters in the Prometheus text format" },
    { METHOD_POST, SURFACE_INTERNAL, "/sessions", handle_internal_create, BODY, "start a program" },
    { METHOD_DELETE, SURFACE_INTERNAL, "/sessions/{id}", handle_internal_end, 0, "end a session" },
    { METHOD_GET, SURFACE_INTERNAL, "/sessions/{id}/files", handle_internal_files, 0, "files of a session" },
};

const size_t routes_len = ARRAY_LEN(routes);
