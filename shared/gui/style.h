/* shared/gui/style.h -- how an element looks: CSS properties as the fields of the metamodel's Styling, which has four
 * parts (Size, Position, Color, Layout). Fields are rows of a table; text fields are kept as written, a few are members
 * of an enumeration or a number. Rules: section 7.2 of the B-UML contract, row "styling". */
#ifndef GUI_STYLE_H
#define GUI_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum style_part { STYLE_SIZE, STYLE_POSITION, STYLE_COLOR, STYLE_LAYOUT, STYLE__PARTS };

struct style_field {
    const char *field;    /* keyword of the part's class */
    const char *property; /* CSS, or one of ours (--buml-...) where CSS has none */
    enum style_part part;
    bool item; /* of the layout: says how this lies in its container, not how its own children lie */
};

#define STYLE_FIELDS 80

/* Owned: gui_styling_free(). Members are constants of ours. */
struct gui_styling {
    char *texts[STYLE_FIELDS]; /* by the rows of gui_style_field(); NULL or never empty */
    const char *unit_size, *p_type, *alignment, *layout_type;
    bool has_z_index;
    int64_t z_index;
};

const struct style_field *gui_style_field(size_t i); /* NULL: beyond the last */
const char *gui_style_part_class(enum style_part part);

struct gui_styling *gui_styling_new(void); /* nothing set; NULL out of memory */
void gui_styling_free(struct gui_styling *s);
bool gui_styling_has(const struct gui_styling *s, enum style_part part); /* any field of the part is set */

/* Sets a text field by its keyword (asking for one that is not there is a bug); NULL or "" unsets. -1 out of memory. */
int gui_styling_set(struct gui_styling *s, enum style_part part, const char *field, const char *text);

/* Declarations that belong together: a rule, or all that an element says of itself. Each is applied in order; those of
 * the layout replace, all together, the layout that was there before. */
struct style_block {
    struct gui_styling *styling;
    struct gui_styling layout; /* of this block, until gui_style_end() */
    char display[8];           /* the value of display where it matters here: flex or grid */
    const char *layout_type;   /* said by a property of ours, "NONE" for none; NULL: not said */
};

void gui_style_begin(struct style_block *b, struct gui_styling *s);
/* property in any case; value trimmed. Properties the metamodel has no field for are dropped. -1 out of memory. */
int gui_style_declare(struct style_block *b, const char *property, const char *value);
void gui_style_end(struct style_block *b); /* always, also after a failure */

#endif
