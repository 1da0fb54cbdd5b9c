#include "shared/buml/import.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/id.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/buml/project.h"
#include "shared/diagram/write.h"

#define EXPORT_VERSION "2.0.0"
#define AGENT_TITLE "Agent Diagram"

/* Every function that adds to an object returns false when memory is short. */

static bool add_text(cJSON *object, const char *key, const char *text)
{
    return cJSON_AddStringToObject(object, key, text) != NULL;
}

static bool add_item(cJSON *object, const char *key, cJSON *item)
{
    if (item && (key ? cJSON_AddItemToObject(object, key, item) : cJSON_AddItemToArray(object, item)))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_now(cJSON *object, const char *key)
{
    char text[TIME_TEXT_LEN + 1];

    time_format_utc(time_wall_ms(), text);
    return add_text(object, key, text);
}

static bool add_id(cJSON *object)
{
    char text[ID_TEXT_LEN + 1];
    struct id id;

    id_new(&id);
    id_format(&id, text);
    return add_text(object, "id", text);
}

static bool add_warnings(cJSON *object, const struct findings *f)
{
    cJSON *list = cJSON_AddArrayToObject(object, "warnings");
    size_t i;

    for (i = 0; list && i < f->len; i++)
        if (!add_item(list, NULL, cJSON_CreateString(f->items[i].message)))
            return false;
    return list &&
           (!f->truncated || add_item(list, NULL, cJSON_CreateString("There are more warnings than are shown")));
}

/* ---- one diagram --------------------------------------------------------------------------------------------------
 */

/* The file's name without its last extension and folders. The caller frees; NULL out of memory. */
static char *stem_of(const char *filename)
{
    const char *name = filename ? filename : "", *at, *dot;

    for (at = name; *at; at++)
        if (*at == '/' || *at == '\\')
            name = at + 1;
    dot = strrchr(name, '.');
    if (!*name || dot == name)
        return mem_strdup("Imported Diagram");
    return mem_dup(name, dot ? (size_t)(dot - name) : strlen(name));
}

static char *title_of(const struct buml_agent *a, const char *filename)
{
    if (a->title)
        return mem_strdup(a->title);
    return a->model.name ? mem_strdup(a->model.name) : stem_of(filename);
}

static bool fill_diagram(cJSON *object, const char *title, cJSON *model, const struct findings *f)
{
    if (!title || !add_text(object, "title", title)) {
        cJSON_Delete(model);
        return false;
    }
    return add_item(object, "model", model) && add_text(object, "diagramType", "AgentDiagram") &&
           add_now(object, "exportedAt") && add_text(object, "version", EXPORT_VERSION) && add_warnings(object, f);
}

int buml_import_diagram(const struct buml_upload *upload, struct python_parser *parser, cJSON **ret, struct findings *f,
                        struct err *err)
{
    struct buml_agents agents;
    auto_free char *title = NULL;
    cJSON *object = NULL, *model = NULL;
    int rc;

    if (buml_agents_read(upload, parser, &agents, f, err) < 0)
        return -1;
    rc = diagram_write(&agents.items[0].model, &model, err);
    if (rc == 0) {
        title = title_of(&agents.items[0], upload->filename);
        object = cJSON_CreateObject();
        if (!object)
            cJSON_Delete(model);
        if (!object || !fill_diagram(object, title, model, f)) {
            cJSON_Delete(object);
            rc = err_nomem(err);
        }
    }
    buml_agents_release(&agents);
    if (rc == 0)
        *ret = object;
    return rc;
}

/* ---- project ------------------------------------------------------------------------------------------------------
 */

static const struct kind {
    const char *key, *type, *title;
} kinds[] = {
    { "ClassDiagram", "ClassDiagram", "Class Diagram" },
    { "ObjectDiagram", "ObjectDiagram", "Object Diagram" },
    { "AgentDiagram", "AgentDiagram", AGENT_TITLE },
    { "StateMachineDiagram", "StateMachineDiagram", "State Machine Diagram" },
    { "GUINoCodeDiagram", "GUINoCodeDiagram", "GUI Diagram" },
    { "QuantumCircuitDiagram", "QuantumCircuitDiagram", "Quantum Circuit Diagram" },
    { "NNDiagram", "NNDiagram", "NN Diagram" },
    { "ComponentDiagram", "ComponentDiagram", "Component Diagram" },
    { "DeploymentDiagram", "DeploymentDiagram", "Deployment Diagram" },
    { "UserDiagram", "UserDiagram", "User Diagram" },
    { "BPMN", "BPMNDiagram", "BPMN Diagram" },
};

static bool add_members(cJSON *object, const char *const *keys, size_t len, bool arrays)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (!add_item(object, keys[i], arrays ? cJSON_CreateArray() : cJSON_CreateObject()))
            return false;
    return true;
}

static bool fill_empty(cJSON *model, const char *type)
{
    static const char *const lists[] = { "pages", "styles", "assets", "symbols" };
    static const char *const maps[] = { "elements", "relationships", "assessments" };
    cJSON *size, *interactive;

    if (!add_text(model, "version", "3.0.0") || !add_text(model, "type", type))
        return false;
    size = cJSON_AddObjectToObject(model, "size");
    if (!size || !cJSON_AddNumberToObject(size, "width", 1400) || !cJSON_AddNumberToObject(size, "height", 740))
        return false;
    if (strcmp(type, "GUINoCodeDiagram") == 0)
        return add_members(model, lists, ARRAY_LEN(lists), true);
    interactive = cJSON_AddObjectToObject(model, "interactive");
    return interactive && add_members(interactive, maps, 2, false) && add_members(model, maps, ARRAY_LEN(maps), false);
}

static cJSON *empty_model(const char *type)
{
    cJSON *model = cJSON_CreateObject();

    if (model && !fill_empty(model, type)) {
        cJSON_Delete(model);
        model = NULL;
    }
    return model;
}

/* Takes the model, also when it fails. */
static bool add_entry(cJSON *list, const char *title, cJSON *model)
{
    cJSON *entry = cJSON_CreateObject();

    if (!entry || !cJSON_AddItemToArray(list, entry)) {
        cJSON_Delete(entry);
        cJSON_Delete(model);
        return false;
    }
    if (!add_id(entry) || !add_text(entry, "title", title)) {
        cJSON_Delete(model);
        return false;
    }
    return add_item(entry, "model", model) && add_now(entry, "lastUpdate");
}

static int add_agents(cJSON *list, const struct buml_agents *agents, struct err *err)
{
    size_t i;

    for (i = 0; i < agents->len; i++) {
        const struct buml_agent *a = &agents->items[i];
        const char *title = a->title ? a->title : a->model.name;
        char numbered[60];
        cJSON *model;

        if (a->number)
            snprintf(numbered, sizeof(numbered), "Agent Model %ld", a->number);
        else
            snprintf(numbered, sizeof(numbered), agents->len > 1 ? AGENT_TITLE " %zu" : AGENT_TITLE, i + 1);
        if (diagram_write(&a->model, &model, err) < 0)
            return -1;
        if (!add_entry(list, title ? title : numbered, model))
            return err_nomem(err);
    }
    return 0;
}

static int add_diagrams(cJSON *object, const struct buml_agents *agents, struct err *err)
{
    cJSON *indices = cJSON_AddObjectToObject(object, "currentDiagramIndices");
    cJSON *diagrams = cJSON_AddObjectToObject(object, "diagrams");
    size_t i;

    for (i = 0; i < ARRAY_LEN(kinds); i++) {
        cJSON *list = diagrams ? cJSON_AddArrayToObject(diagrams, kinds[i].key) : NULL;

        if (!list || !indices || !cJSON_AddNumberToObject(indices, kinds[i].key, 0))
            return err_nomem(err);
        if (strcmp(kinds[i].key, "AgentDiagram") == 0) {
            if (add_agents(list, agents, err) < 0)
                return -1;
        } else if (!add_entry(list, kinds[i].title, empty_model(kinds[i].type))) {
            return err_nomem(err);
        }
    }
    return 0;
}

static bool add_settings(cJSON *object, const char *type)
{
    cJSON *settings = cJSON_AddObjectToObject(object, "settings");

    return settings && add_text(settings, "defaultDiagramType", type) && cJSON_AddTrueToObject(settings, "autoSave") &&
           cJSON_AddFalseToObject(settings, "collaborationEnabled");
}

static int fill_project(cJSON *object, const struct buml_agents *agents, const struct findings *f, struct err *err)
{
    const struct buml_project *p = &agents->project;
    const char *type = agents->whole ? "AgentDiagram" : "ClassDiagram";
    const char *name = p->name ? p->name : p->found ? "Unnamed Project" : "Imported Project";
    const char *description = p->description ? p->description
                              : p->found     ? "No description"
                                             : "Imported from a file with one diagram";

    if (!add_id(object) || !add_text(object, "type", "Project") ||
        !cJSON_AddNumberToObject(object, "schemaVersion", 3) || !add_text(object, "name", name) ||
        !add_text(object, "description", description) || !add_text(object, "owner", p->owner ? p->owner : "Unknown") ||
        !add_now(object, "createdAt") || !add_text(object, "currentDiagramType", type))
        return err_nomem(err);
    if (add_diagrams(object, agents, err) < 0)
        return -1;
    return add_settings(object, type) && add_warnings(object, f) ? 0 : err_nomem(err);
}

int buml_import_project(const struct buml_upload *upload, struct python_parser *parser, cJSON **ret, struct findings *f,
                        struct err *err)
{
    struct buml_agents agents;
    cJSON *object;
    int rc;

    if (buml_agents_read(upload, parser, &agents, f, err) < 0)
        return -1;
    object = cJSON_CreateObject();
    rc = object ? fill_project(object, &agents, f, err) : err_nomem(err);
    buml_agents_release(&agents);
    if (rc < 0) {
        cJSON_Delete(object);
        return -1;
    }
    *ret = object;
    return 0;
}
