/* shared/forget/forget.h -- glibc's heap, with one difference: what is given back is overwritten first. replace.c puts
 * free() and realloc() of a whole program, its libraries included, in front of the C library's; workers are linked with
 * it, nginx gets it preloaded. Not for programs with a sanitizer, which has a heap of its own.
 *
 * What is taken is not touched, so a large buffer costs what of it was used. place.c (nginx) also puts buffers of
 * FORGET_SLOT_MIN to FORGET_SLOT bytes apart from the heap, each at the begin of a page: thousands of them
 * that are not used cost nothing at all, and leave no holes. Now and then, as they are given back, whole pages that are
 * free in the heap go back to the system. ADR 0023, 0028. */
#ifndef SHARED_FORGET_FORGET_H
#define SHARED_FORGET_FORGET_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define FORGET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORGET_SANITIZED 1
#endif
#endif

#define FORGET_SLOT_MIN ((size_t)(32u << 10) + 1)
#define FORGET_SLOT ((size_t)(128u << 10))
#define FORGET_SLOTS 16384u /* two for each of 8192 conversations of a process */

/* As the functions of these names; errno stays as it was in free. */
void forget_free(void *p);
void *forget_realloc(void *p, size_t bytes);
void *forget_malloc(size_t bytes); /* a slot where it fits and one is left */

/* Reserves addresses for the slots, once; without it, or when that fails, all is glibc's. */
void forget_open_slots(void);
bool forget_is_slot(const void *p);

/* Gives up the first page of a slot when nothing is there but a server's answer to the handshake of a WebSocket: true.
 * What came behind the answer, or anything else, stays. NULL and what is no slot is fine. */
bool forget_answer(void *p);

/* For nginx, forget_malloc() that looks at the slot it gave before, whenever it gives one: with forget_answer(). */
void *forget_place(size_t bytes);

#endif
