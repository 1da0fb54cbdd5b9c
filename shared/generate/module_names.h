/* shared/generate/module_names.h -- names that a program file must not have: Python would find it in place of a module.
 */
#ifndef GENERATE_MODULE_NAMES_H
#define GENERATE_MODULE_NAMES_H

#include <stdbool.h>

/* True for modules of CPython 3.11's library, packages the framework uses, and other files of a download. */
bool module_name_is_taken(const char *name);

#endif
