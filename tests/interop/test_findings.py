# SPDX-License-Identifier: Apache-2.0
"""tests/findings: what it lets through, and that it lets nothing else through. And what tests print where no daemon
was built."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

FINDINGS = Path(__file__).resolve().parents[1] / "findings"

MISBEHAVE = "??? (in /memfd:libtest_misbehave.so (deleted))"
HOST = "main (toolbox_host.c:20)"

NULL_READ = """\
==7== Invalid read of size 4
==7==    at 0x4ECC2B8: {place}
==7==    by 0x4862B0C: ffi_call (in /usr/lib/x86_64-linux-gnu/libffi.so.8.1.2)
==7==    by 0x10B6CE: main (confine.c:51)
==7==  Address 0x0 is not stack'd, malloc'd or (recently) free'd
==7==\x20
==7==\x20
==7== Process terminating with default action of signal 11 (SIGSEGV)
==7==  Access not within mapped region at address 0x0
==7==    at 0x4ECC2B8: {place}
==7==    by 0x4862B0C: ffi_call (in /usr/lib/x86_64-linux-gnu/libffi.so.8.1.2)
==7==    by 0x10B6CE: main (confine.c:51)
==7==  If you believe this happened as a result of a stack
==7==  overflow in your program's main thread (unlikely but
==7==  possible), you can try to increase the size of the
==7==  main thread stack using the --main-stacksize= flag.
==7==  The main thread stack size used in this run was 8388608.
"""

STACK_OVERFLOW = """\
--7-- WARNING: unhandled amd64-linux syscall: 434
==7== Stack overflow in thread #1: can't grow stack to 0x1ffe801000
==7==\x20
==7== Process terminating with default action of signal 11 (SIGSEGV)
==7==  Access not within mapped region at address 0x1FFE80151C
==7== Stack overflow in thread #1: can't grow stack to 0x1ffe801000
==7==    at 0x4ECC2E5: {place}
==7==  The main thread stack size used in this run was 8388608.
"""

LEAK = """\
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 24 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in __interceptor_malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f2 in criterion_run_all_tests (/lib/x86_64-linux-gnu/libcriterion.so.3+0x1234)
{frames}
SUMMARY: AddressSanitizer: 24 byte(s) leaked in 1 allocation(s).
"""

# The allocator is a part of the program where the runtime is linked in.
LINKED = LEAK.replace("../libsanitizer/asan/asan_malloc_linux.cpp:69", "(/build/unit-json+0x49a1df)")

LOST = """\
==7== 48 (16 direct, 32 indirect) bytes in 1 blocks are definitely lost in loss record 1 of 1
==7==    at 0x48465EF: calloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7==    by 0x4981332: ??? (in /usr/lib/x86_64-linux-gnu/libcriterion.so.3.2.0)
{frames}==7==    by 0x496CAAE: main (in /usr/lib/x86_64-linux-gnu/libcriterion.so.3.2.0)
==7==\x20
"""

JUMP = """\
==7== Conditional jump or move depends on uninitialised value(s)
==7==    at 0x6080553: {place}
==7==    by 0x54EAE5F: ???
==7==\x20
==7== More than 100 errors detected.  Subsequent errors
==7== will still be recorded, but in less detail than before.
"""

UNKNOWN_IOCTL = """\
==7== Warning: noted but unhandled ioctl 0x894b with no size/direction hints.
==7==    This could cause spurious value errors to appear.
==7==    See README_MISSING_SYSCALL_OR_IOCTL for guidance on writing a proper wrapper.
"""

DELIBERATE = NULL_READ.format(place=MISBEHAVE)


def judge(folder, report):
    (folder / "7.log").write_text(report)
    return subprocess.run([FINDINGS, folder], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("report", [
    "",
    "--7-- WARNING: unhandled amd64-linux syscall: 434\n",
    UNKNOWN_IOCTL,
    UNKNOWN_IOCTL + DELIBERATE,
    DELIBERATE,
    NULL_READ.format(place="segfault (in /build/tests/toolboxes/toolbox.d/libtest_misbehave.so)"),
    NULL_READ.format(place="segfault (misbehave.c:54)"),
    STACK_OVERFLOW.format(place=MISBEHAVE),
    LEAK.format(frames=""),
    LINKED.format(frames=""),
    LOST.format(frames=""),
    JUMP.format(place="???"),
], ids=["nothing", "valgrinds", "an_ioctl", "an_ioctl_before", "deliberate", "unsealed", "with_lines", "overflow", "criterions", "criterions_linked_in",
        "criterions_by_valgrind", "a_pattern"])
def test_lets_through_what_is_not_ours(tmp_path, report):
    done = judge(tmp_path, report)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("build, remedy", [("dev", "tests/run build"), ("release", "cmake --build --preset release")])
def test_where_no_daemon_is_built_a_command_builds_it(tmp_path, build, remedy):
    done = subprocess.run([sys.executable, "-m", "pytest", __file__], capture_output=True, text=True, check=False,
                          env={**os.environ, "TOOLBOXD_BUILD": str(tmp_path / build)})
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith(f"no daemon at {tmp_path}") and done.stderr.endswith(f"{remedy}\n"), done.stderr


@pytest.mark.parametrize("report", [
    NULL_READ.format(place=HOST),
    UNKNOWN_IOCTL + NULL_READ.format(place=HOST),
    NULL_READ.format(place="??? (in /memfd:libtest_behave.so (deleted))"),
    NULL_READ.format(place="??? (in /tmp/libtest_misbehave.so/other.so)"),
    NULL_READ.format(place="read_misbehave (not_misbehave.c:54)"),
    STACK_OVERFLOW.format(place=HOST),
    DELIBERATE.replace(MISBEHAVE, HOST, 1),
    DELIBERATE.replace("read of size", "write of size"),
    DELIBERATE.replace("Address 0x0 is not", "Address 0x4a2 is not"),
    DELIBERATE.replace("signal 11 (SIGSEGV)", "signal 6 (SIGABRT)"),
    DELIBERATE + "==7== 24 bytes in 1 blocks are definitely lost in loss record 1 of 1\n"
                 f"==7==    at 0x4: {MISBEHAVE}\n",
    DELIBERATE + "==7== Conditional jump or move depends on uninitialised value(s)\n"
                 f"==7==    at 0x4: {MISBEHAVE}\n",
    DELIBERATE + f"==7== Invalid read of size 1\n==7==    at 0x4: {HOST}\n",
    DELIBERATE + "wire.c:7:3: runtime error: signed integer overflow\n",
    "==7== Stack overflow in thread #1: can't grow stack to 0x1ffe801000\n",
    LEAK.format(frames="    #2 0x7f3 in main tests/unit/util/text.c:7\n"),
    LINKED.format(frames="    #2 0x7f3 in read_text (/build/unit-json+0x4e1e53)\n"),
    LEAK.format(frames="") + "==7==ERROR: AddressSanitizer: heap-use-after-free\n",
    LOST.format(frames="==7==    by 0x1: text_test_impl (text.c:7)\n"),
    LOST.format(frames="==7==    by 0x1: f (in /tmp/libcriterion.so/libother.so)\n"),
    LOST.format(frames="") + "==7== Invalid free() / delete / delete[] / realloc()\n",
    LOST.format(frames="") + DELIBERATE,
    JUMP.format(place="??? (in /usr/lib/x86_64-linux-gnu/libpcre2-8.so.0.11.2)"),
    JUMP.format(place="regex_match (regex.c:86)"),
    JUMP.format(place="???").replace("Conditional jump", "Invalid write"),
], ids=["ours", "an_ioctl_and_ours", "another", "named_alike", "source_named_alike", "our_overflow", "one_of_two", "write", "elsewhere",
        "abort", "a_leak_too", "uninitialised_too", "our_read_too", "undefined_too", "no_place",
        "our_leak", "our_leak_linked_in", "leak_and_more", "our_lost", "lost_elsewhere", "lost_and_more", "both",
        "a_pattern_library", "our_jump", "a_pattern_write"])
def test_tells_of_everything_else(tmp_path, report):
    done = judge(tmp_path, report)
    assert done.returncode == 1
    assert "7.log <==" in done.stdout and report.splitlines()[0] in done.stdout
