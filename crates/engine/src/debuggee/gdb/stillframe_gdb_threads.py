"""Threads have a name each, and the operating system's number."""

import gdb
from stillframe_gdb_requests import answers


def name_of(thread):
    return thread.name or thread.details or f"Thread #{thread.num}"


@answers("threads", expect_stopped=False)
def threads(**args):
    found = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    return {"threads": [{"id": one.global_num, "name": name_of(one), "osThread": one.ptid[1]} for one in found]}
