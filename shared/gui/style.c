#include "shared/gui/style.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

/* Properties of ours: what the metamodel has and CSS has not. */
#define OWN "--buml-"

#define ROW(field, property, part) \
    { \
        field, property, part, false \
    }
#define ITEM(field, property) \
    { \
        field, property, STYLE_LAYOUT, true \
    }
/* clang-format off */
static const struct style_field fields[STYLE_FIELDS] = {
    ROW("width", "width", STYLE_SIZE), ROW("height", "height", STYLE_SIZE),
    ROW("padding", "padding", STYLE_SIZE), ROW("margin", "margin", STYLE_SIZE),
    ROW("font_size", "font-size", STYLE_SIZE), ROW("line_height", "line-height", STYLE_SIZE),
    ROW("font_weight", "font-weight", STYLE_SIZE), ROW("font_family", "font-family", STYLE_SIZE),
    ROW("font_style", "font-style", STYLE_SIZE), ROW("text_decoration", "text-decoration", STYLE_SIZE),
    ROW("text_transform", "text-transform", STYLE_SIZE), ROW("letter_spacing", "letter-spacing", STYLE_SIZE),
    ROW("word_spacing", "word-spacing", STYLE_SIZE), ROW("white_space", "white-space", STYLE_SIZE),
    ROW("word_break", "word-break", STYLE_SIZE), ROW("min_width", "min-width", STYLE_SIZE),
    ROW("max_width", "max-width", STYLE_SIZE), ROW("min_height", "min-height", STYLE_SIZE),
    ROW("max_height", "max-height", STYLE_SIZE), ROW("padding_top", "padding-top", STYLE_SIZE),
    ROW("padding_right", "padding-right", STYLE_SIZE), ROW("padding_bottom", "padding-bottom", STYLE_SIZE),
    ROW("padding_left", "padding-left", STYLE_SIZE), ROW("margin_top", "margin-top", STYLE_SIZE),
    ROW("margin_right", "margin-right", STYLE_SIZE), ROW("margin_bottom", "margin-bottom", STYLE_SIZE),
    ROW("margin_left", "margin-left", STYLE_SIZE), ROW("icon_size", OWN "icon-size", STYLE_SIZE),

    ROW("top", "top", STYLE_POSITION), ROW("left", "left", STYLE_POSITION),
    ROW("right", "right", STYLE_POSITION), ROW("bottom", "bottom", STYLE_POSITION),
    ROW("display", "display", STYLE_POSITION), ROW("overflow", "overflow", STYLE_POSITION),
    ROW("overflow_x", "overflow-x", STYLE_POSITION), ROW("overflow_y", "overflow-y", STYLE_POSITION),
    ROW("visibility", "visibility", STYLE_POSITION), ROW("cursor", "cursor", STYLE_POSITION),
    ROW("box_sizing", "box-sizing", STYLE_POSITION), ROW("transform", "transform", STYLE_POSITION),
    ROW("transition", "transition", STYLE_POSITION), ROW("animation", "animation", STYLE_POSITION),
    ROW("filter", "filter", STYLE_POSITION),

    ROW("background_color", "background-color", STYLE_COLOR), ROW("text_color", "color", STYLE_COLOR),
    ROW("border_color", "border-color", STYLE_COLOR), ROW("opacity", "opacity", STYLE_COLOR),
    ROW("line_color", OWN "line-color", STYLE_COLOR), ROW("bar_color", OWN "bar-color", STYLE_COLOR),
    ROW("color_palette", OWN "color-palette", STYLE_COLOR), ROW("primary_color", OWN "primary-color", STYLE_COLOR),
    ROW("border_radius", "border-radius", STYLE_COLOR), ROW("border_width", "border-width", STYLE_COLOR),
    ROW("border_style", "border-style", STYLE_COLOR), ROW("border", "border", STYLE_COLOR),
    ROW("border_top", "border-top", STYLE_COLOR), ROW("border_right", "border-right", STYLE_COLOR),
    ROW("border_bottom", "border-bottom", STYLE_COLOR), ROW("border_left", "border-left", STYLE_COLOR),
    ROW("box_shadow", "box-shadow", STYLE_COLOR), ROW("text_shadow", "text-shadow", STYLE_COLOR),
    ROW("background_image", "background-image", STYLE_COLOR), ROW("background_size", "background-size", STYLE_COLOR),
    ROW("background_position", "background-position", STYLE_COLOR),
    ROW("background_repeat", "background-repeat", STYLE_COLOR),

    /* of a container ... */
    ROW("flex_direction", "flex-direction", STYLE_LAYOUT), ROW("justify_content", "justify-content", STYLE_LAYOUT),
    ROW("align_items", "align-items", STYLE_LAYOUT), ROW("flex_wrap", "flex-wrap", STYLE_LAYOUT),
    ROW("grid_template_columns", "grid-template-columns", STYLE_LAYOUT),
    ROW("grid_template_rows", "grid-template-rows", STYLE_LAYOUT), ROW("grid_gap", "grid-gap", STYLE_LAYOUT),
    ROW("justify_items", "justify-items", STYLE_LAYOUT), ROW("gap", "gap", STYLE_LAYOUT),
    /* ... and of what is in one */
    ITEM("flex", "flex"), ITEM("flex_grow", "flex-grow"),
    ITEM("flex_shrink", "flex-shrink"), ITEM("flex_basis", "flex-basis"),
    ITEM("order", "order"), ITEM("align_self", "align-self"),
};
/* clang-format on */

static const char *const part_classes[STYLE__PARTS] = { "Size", "Position", "Color", "Layout" };

struct word {
    const char *text, *member;
};
static const char *const own_members[][6] = {
    /* property, members: all that the CSS property beside it does not give */
    { OWN "alignment", "START", "END", "STRETCH", "TOP", "BOTTOM" }, { OWN "alignment", "INSIDE", "OUTSIDE" },
    { OWN "unit-size", "PIXELS", "PERCENTAGE", "EM", "REM", "VH" },  { OWN "unit-size", "VW", "AUTO", "NONE" },
    { OWN "layout-type", "GRID", "FLEX", "STACK", "ROW", "COLUMN" }, { OWN "layout-type", "ABSOLUTE", "NONE" },
};
static const struct word positions[] = {
    { "relative", "RELATIVE" }, { "absolute", "ABSOLUTE" }, { "fixed", "FIXED" },
    { "sticky", "STICKY" },     { "inline", "INLINE" },
};
static const struct word alignments[] = { { "right", "RIGHT" }, { "center", "CENTER" } };
static const struct word units[] = {
    /* by the end of a width, longer ones first */
    { "%", "PERCENTAGE" }, { "vh", "VH" }, { "vw", "VW" }, { "rem", "REM" }, { "em", "EM" },
};

const struct style_field *gui_style_field(size_t i)
{
    return i < STYLE_FIELDS ? &fields[i] : NULL;
}

const char *gui_style_part_class(enum style_part part)
{
    return part_classes[part];
}

struct gui_styling *gui_styling_new(void)
{
    return mem_zalloc(1, sizeof(struct gui_styling));
}

void gui_styling_free(struct gui_styling *s)
{
    size_t i;

    if (!s)
        return;
    for (i = 0; i < STYLE_FIELDS; i++)
        mem_free(s->texts[i]);
    mem_free(s);
}

bool gui_styling_has(const struct gui_styling *s, enum style_part part)
{
    size_t i;

    if ((part == STYLE_SIZE && s->unit_size) || (part == STYLE_LAYOUT && s->layout_type) ||
        (part == STYLE_POSITION && (s->p_type || s->alignment || s->has_z_index)))
        return true;
    for (i = 0; i < STYLE_FIELDS; i++)
        if (fields[i].part == part && s->texts[i])
            return true;
    return false;
}

static int set_text(char **slot, const char *text)
{
    char *copy = text && *text ? mem_strdup(text) : NULL;

    if (text && *text && !copy)
        return -1;
    mem_free(*slot);
    *slot = copy;
    return 0;
}

int gui_styling_set(struct gui_styling *s, enum style_part part, const char *field, const char *text)
{
    size_t i;

    for (i = 0; i < STYLE_FIELDS; i++)
        if (fields[i].part == part && strcmp(fields[i].field, field) == 0)
            return set_text(&s->texts[i], text);
    assert(false && "a part has no such field");
    return -1;
}

static const char *member_of(const struct word *words, size_t len, const char *text, const char *other)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (strcasecmp(words[i].text, text) == 0)
            return words[i].member;
    return other;
}

static const char *unit_of(const char *width)
{
    size_t len = strlen(width), i;

    if (strcasecmp(width, "auto") == 0)
        return "AUTO";
    for (i = 0; i < ARRAY_LEN(units); i++) {
        size_t n = strlen(units[i].text);

        if (len >= n && strcasecmp(width + len - n, units[i].text) == 0)
            return units[i].member;
    }
    return "PIXELS";
}

static const char *own_member(const char *property, const char *value)
{
    size_t i, k;

    for (i = 0; i < ARRAY_LEN(own_members); i++)
        for (k = 1; strcmp(own_members[i][0], property) == 0 && k < ARRAY_LEN(own_members[i]); k++)
            if (own_members[i][k] && strcmp(own_members[i][k], value) == 0)
                return own_members[i][k];
    return NULL;
}

/* Ours, "NONE" is none. True: done. */
static bool declare_own(struct style_block *b, const char *property, const char *value)
{
    const char *member = own_member(property, value);

    if (!member)
        return false;
    if (strcmp(property, OWN "layout-type") == 0)
        b->layout_type = member;
    else if (strcmp(property, OWN "alignment") == 0)
        b->styling->alignment = member;
    else
        b->styling->unit_size = strcmp(member, "NONE") == 0 ? NULL : member;
    return true;
}

/* Properties that are no text field. True: done. */
static bool declare_special(struct gui_styling *s, const char *property, const char *value)
{
    if (strcasecmp(property, "position") == 0)
        s->p_type = member_of(positions, ARRAY_LEN(positions), value, "STATIC");
    else if (strcasecmp(property, "text-align") == 0)
        s->alignment = member_of(alignments, ARRAY_LEN(alignments), value, "LEFT");
    else if (strcasecmp(property, "z-index") == 0)
        s->has_z_index |= str_to_int(value, INT32_MIN, INT32_MAX, &s->z_index) == 0;
    else
        return false;
    return true;
}

void gui_style_begin(struct style_block *b, struct gui_styling *s)
{
    *b = (struct style_block){ .styling = s };
}

int gui_style_declare(struct style_block *b, const char *property, const char *value)
{
    size_t i;

    if (declare_special(b->styling, property, value) || declare_own(b, property, value))
        return 0;
    if (strcasecmp(property, "background") == 0)
        property = "background-color";
    else if (strcasecmp(property, "width") == 0)
        b->styling->unit_size = unit_of(value);
    for (i = 0; i < STYLE_FIELDS && !(fields[i].property && strcasecmp(fields[i].property, property) == 0); i++)
        ;
    if (i == STYLE_FIELDS)
        return 0;
    if (strcmp(fields[i].field, "display") == 0) {
        bool matters = strcmp(value, "flex") == 0 || strcmp(value, "grid") == 0;

        memcpy(b->display, matters ? value : "", matters ? sizeof("flex") : 1);
    }
    return set_text(fields[i].part == STYLE_LAYOUT ? &b->layout.texts[i] : &b->styling->texts[i], value);
}

static void end_layout(struct style_block *b)
{
    bool any = *b->display, container = any;
    size_t i;

    for (i = 0; i < STYLE_FIELDS; i++)
        if (b->layout.texts[i]) {
            any = true;
            container |= !fields[i].item;
        }
    if (!any)
        return;
    for (i = 0; i < STYLE_FIELDS; i++)
        if (fields[i].part == STYLE_LAYOUT) {
            mem_free(b->styling->texts[i]);
            b->styling->texts[i] = steal_ptr(b->layout.texts[i]);
        }
    b->styling->layout_type = !container ? NULL : strcmp(b->display, "grid") == 0 ? "GRID" : "FLEX";
}

void gui_style_end(struct style_block *b)
{
    end_layout(b);
    if (b->layout_type)
        b->styling->layout_type = strcmp(b->layout_type, "NONE") == 0 ? NULL : b->layout_type;
}
