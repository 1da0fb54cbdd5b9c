/* shared/buml/write.h -- struct model -> B-UML Python text (sections 1 to 6 of the B-UML contract). The text is valid
 * Python 3.11 whatever the model holds, rebuilds the same model through the reference's metamodel, and is ASCII with LF.
 * Equal models give equal bytes. Reads the model only; nothing is executed. */
#ifndef BUML_WRITE_H
#define BUML_WRITE_H

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/diagram/model.h"

#define BUML_TEXT_MAX (8u << 20) /* bytes of one written file */

struct buml_section {
    const char *variable; /* of the agent: "agent", "agent_2" */
    const char *header;   /* line(s) above the section, with line end; NULL: version comment and banner of a file */
};

/* Appends a whole file, agent variable "agent". -1: ERR_BAD_REQUEST (a design or text breaks a limit, the message names
 * it), or out of memory. */
int buml_write(const struct model *m, struct buf *out, struct err *err);

/* Appends one section of a project file (section 11). Failures as above. */
int buml_write_section(const struct model *m, const struct buml_section *section, struct buf *out, struct err *err);

#endif
