# SPDX-License-Identifier: Apache-2.0
"""What a native toolbox does once in each process: memory that functions keep, and handles that calls share."""

import manifests
from caller import Caller
from processes import EVENT_SECONDS, build_library, until

KEEPER = r"""
#include <stdio.h>
#include <string.h>

static const char *name;
static char *page;
static int *counter;

void keep(const char *text, char *room, int *number)
{
	name = text;
	page = room;
	counter = number;
	strcpy(page, "empty");
}

int note(const char *text)
{
	strcpy(page, text);
	return ++*counter;
}

const char *read_name(void) { return name; }
const char *read_page(void) { return page; }

__attribute__((destructor)) static void leave(void)
{
	if (page)
		fprintf(stderr, "the library leaves with %s, %s, %d\n", name, page, *counter);
}
"""


def keeper(folder):
    build_library(folder / "libkeeper.so", KEEPER)
    return manifests.toolbox(folder, "keeper", [
        manifests.tool("note", "note", [manifests.text("text")], "i32"),
        manifests.tool("name", "read_name", [], "str"), manifests.tool("page", "read_page", [], "str"),
    ], library="libkeeper.so", init=[
        {"call": "keep", "args": [{"str": "the keeper", "keeps": True},
                                  {"out": {"name": "room", "type": "str", "capacity": 64, "keeps": True}},
                                  {"inout": {"name": "n", "type": "i32", "value": 40, "keeps": True}}]}])


def test_memory_that_a_function_keeps_lives_as_long_as_its_process(launch, tmp_path):
    """Destructors of the library run after the last finally, and use the memory still."""
    keeper(tmp_path / "box")
    service = launch({}, [tmp_path / "box"])
    with Caller(service.url) as caller:
        assert caller.invoke("page")["result"] == {"result": "empty"}
        assert [caller.invoke("note", {"text": f"note {n}"})["result"] for n in (1, 2)] == [{"result": 41}, {"result": 42}]
        assert caller.invoke("page")["result"] == {"result": "note 2"}
        assert caller.invoke("name")["result"] == {"result": "the keeper"}
        (tmp_path / "box/keeper.json").unlink()
        until(lambda: "the library leaves with the keeper, note 2, 42" in service.daemon.log(),
              EVENT_SECONDS, "the end of the process")


SHARED = r"""
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct db {
	atomic_int inside;
	int overlaps;
};

void *open_db(void) { return calloc(1, sizeof(struct db)); }
void close_db(void *db) { free(db); }

int use(struct db *db)
{
	if (atomic_fetch_add(&db->inside, 1) != 0)
		db->overlaps++;
	usleep(10000);
	atomic_fetch_sub(&db->inside, 1);
	return db->overlaps;
}
"""


def shared(folder, **limits):
    build_library(folder / "libshared.so", SHARED)
    step = {"call": "use", "args": ["$$db"], "returns": {"name": "overlaps", "type": "i32"}}
    return manifests.toolbox(folder, "shared", [
        {"name": name, "description": "Uses it.", "risk": "read", "exclusive": ["$$db"], "native": {"steps": [step]}}
        for name in ("one", "other")], library="libshared.so", limits=limits, init=[
            {"call": "open_db", "returns": {"name": "db", "type": "handle"},
             "finally": {"call": "close_db", "args": ["$db"]}}])


def test_a_process_runs_one_call_at_a_time(launch, tmp_path):
    """Each of the two processes has a handle of its own. No two calls of a process use it at once, so `exclusive` holds
    without any work for it."""
    shared(tmp_path / "box", workers=2)
    with Caller(launch({}, [tmp_path / "box"]).url) as caller:
        marks = {caller.send("ovos.tools.invoke", {"name": ("one", "other")[n % 2]}) for n in range(24)}
        while marks:
            answer = caller.wait_for(lambda message: message.context.get("mark") in marks
                                     and message.type == "ovos.tools.invoke.response")
            marks.discard(answer.context["mark"])
            assert answer.data["result"] == {"overlaps": 0}
