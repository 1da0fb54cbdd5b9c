/* shared/generate/support_files.h -- the files beside the program: tools.py, skills, GUI modules, readme (7.1, 8.2).
 * The program refers to them, so names and line numbers come from here too. */
#ifndef GENERATE_SUPPORT_FILES_H
#define GENERATE_SUPPORT_FILES_H

#include "shared/base/err.h"
#include "shared/diagram/model.h"
#include "shared/generate/generate.h"

/* "agent.py", or "<stem>.py" in a download; the caller frees, NULL out of memory. */
char *program_path(const struct model *m, bool session);

/* Line numbers of a tool's code in tools.py, from 1. first is where it begins; returns where the next one begins. */
size_t tools_lines(const char *code, size_t first, size_t *ret_last);

/* File-safe stems of the skills, unique in their folder whatever the case: one per skill, no suffix. */
int skill_stems(const struct model *m, struct str_list *ret, struct err *err);

/* Module names of the GUIs that replies use, by index; NULL for the others. */
int gui_modules(const struct model *m, char ***ret, struct err *err);
void gui_modules_free(const struct model *m, char **modules);

/* Adds tools.py, skills and GUI modules to the bundle, in contract order. */
int support_files_add(const struct model *m, struct bundle *b, struct err *err);

/* What a download has besides: readme.txt, the profiles, and a note in the folder of every RAG. program: its path. */
int download_files_add(const struct model *m, const char *program, struct bundle *b, struct err *err);

/* Folder of every RAG below the program, unique. */
int rag_folders(const struct model *m, struct str_list *ret, struct err *err);
/* Its store below vector_store/: the name in small letters, file-safe only where it could not be a folder's. */
int rag_stores(const struct model *m, struct str_list *ret, struct err *err);

#endif
