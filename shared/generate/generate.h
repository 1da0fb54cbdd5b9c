/* shared/generate/generate.h -- struct model -> the files of its program. Equal input gives equal bytes.
 * Emitters never see JSON and never decide; what is drawn was checked before (check.h). */
#ifndef GENERATE_GENERATE_H
#define GENERATE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/diagram/model.h"

struct bundle_file {
    char *path;    /* clean and relative (path_check) */
    char *content; /* size bytes, NUL behind */
    size_t size;
};

struct bundle { /* owns all; bundle_release() frees */
    struct bundle_file *files;
    size_t files_len, files_cap; /* agent.py, config.yaml, then support files in contract order (8.2) */
    struct str_list directories; /* workspaces, normalised (8.3) */
};

struct credentials { /* borrowed; NULL or "" = not given. Never logged, never in an error. */
    const char *openai_api_key, *huggingface_token, *replicate_api_key;
};

struct sql_field {
    const char *key, *value;
    bool plain; /* a number or boolean, written without quotes */
};

struct sql_entry { /* fields of one entry below db.sql; borrowed */
    const struct sql_field *fields;
    size_t len;
};

/* With a host, port or credential a given config.yaml has to be a mapping, and is written anew with them; without, it
 * is passed on as it came, whatever it is. So who only checks a diagram passes what its session will pass. */
struct generate_options {
    bool session;     /* a test session's program, else a download */
    const char *host; /* session: what the agent listens on, "127.0.0.1"; NULL = not set */
    uint16_t port;    /* 0 = not set */
    const struct credentials *credentials;
    /* Nobody runs the program: a config.yaml that is all ours is left out; and when the pieces of user code are valid
     * in every place, the program is valid by construction, and CPython is not asked about the whole. */
    bool verdict;
    const struct sql_entry *db1; /* download that owns a database: what default DB actions query; NULL = none */
};

/* The whole program; one that is larger than PYTHON_SOURCE_MAX comes without the files that go with it, for it cannot
 * be used. -1: ERR_BAD_REQUEST (bad YAML with line, bad path, number out of range), else the machine failed. */
int generate_bundle(const struct model *m, const struct generate_options *o, struct bundle *ret, struct err *err);
void bundle_release(struct bundle *b);
int bundle_add(struct bundle *b, const char *path, const char *content, size_t size, struct err *err); /* copies */
const struct bundle_file *bundle_find(const struct bundle *b, const char *path);

/* The parts, for tests and other builds. Text is the caller's. */
int generate_program(const struct model *m, const struct generate_options *o, char **ret, struct err *err);
int generate_config_yaml(const struct model *m, const struct generate_options *o, char **ret, struct err *err);

/* The overrides of 6.5 on any YAML text (the internal surface brings its own): host, port, credentials. */
int config_yaml_override(const char *yaml, size_t len, const struct generate_options *o, char **ret, struct err *err);

#endif
