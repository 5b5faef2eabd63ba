/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Intrusive lists: an element holds its link, so adding and removing an element takes no memory and
 * constant time.
 *
 *        ┌──────────────────────────────────────────────┐
 *        └▶ head ⇄ element.link ⇄ element.link ⇄ … ⇄ head
 *
 * The head and a link have the same type. A link that is in no list points to itself, so removing
 * it again does nothing. The list owns nothing.
 */

struct list {
	struct list *previous;
	struct list *next;
};

/* Return the structure of @type whose member @member is at @pointer. */
#define container_of(pointer, type, member)                                                        \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Make @list an empty head, or a link in no list. */
static inline void list_init(struct list *list)
{
	list->previous = list;
	list->next = list;
}

/* Return whether the head @list has no elements, or the link @list is in no list. */
static inline bool list_is_empty(const struct list *list)
{
	return list->next == list;
}

/* Insert @link, which is in no list, before @position: at the end when @position is the head. */
static inline void list_insert_before(struct list *position, struct list *link)
{
	link->previous = position->previous;
	link->next = position;
	position->previous->next = link;
	position->previous = link;
}

/* Append @link, which is in no list, to @head. */
static inline void list_append(struct list *head, struct list *link)
{
	list_insert_before(head, link);
}

/* Remove @link from its list. */
static inline void list_remove(struct list *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	list_init(link);
}

/* Remove the first link of @head and return it; NULL when there is none. */
static inline struct list *list_take_first(struct list *head)
{
	struct list *first = head->next;

	if (first == head)
		return NULL;
	list_remove(first);
	return first;
}

/* Walk over the links of @head. The body may remove @link and free its element; no other. */
#define list_for_each(link, head)                                                                  \
	for (struct list *link = (head)->next, *link##_next = link->next; link != (head);          \
		link = link##_next, link##_next = link->next)

/* Return the link after @link. */
static inline struct list *list_after(const struct list *link)
{
	return link->next;
}

/* As list_for_each(), for the elements of @head: structures of @type with the link @member. */
#define list_each(type, element, head, member)                                                     \
	for (type *element = container_of((head)->next, type, member),                             \
		  *element##_next = container_of(list_after((head)->next), type, member);          \
		&element->member != (head); element = element##_next,                              \
		  element##_next = container_of(list_after(&element->member), type, member))
