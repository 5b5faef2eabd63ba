# SPDX-License-Identifier: Apache-2.0
"""Stock libraries as they are, without a line of glue: every tool of the manifests in tests/libraries
(and of the shipped libm) is called through the daemon, and gives what its examples say, or what
Python knows by itself. A library that is not on this machine is skipped."""
import base64
import ctypes
import hashlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import time
import uuid
import zlib

import manifests
import pages
import pytest
from caller import Caller
from conftest import Service
from manifests import SHIPPED
from processes import EVENT_SECONDS, ROOT, SLOWNESS, TOOLBOXD, environment, toolboxctl

FOLDER = ROOT / "tests" / "libraries"
MANIFESTS = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
MANIFESTS.append(json.loads((SHIPPED / "libm.json").read_text()))
LIBRARIES = {manifest["toolbox_id"]: manifest["library"] for manifest in MANIFESTS}
EXAMPLES = [(manifest["toolbox_id"], tool["name"], example) for manifest in MANIFESTS
            for tool in manifest["tools"] for example in tool.get("examples", ())]


def base64_of(data):
    return base64.b64encode(data).decode()


def bytes_of(text):
    return base64.b64decode(text, validate=True)


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    service = Service("embedded", tmp_path_factory.mktemp("libraries"), [SHIPPED, FOLDER],
                      configuration={"timeout_ms": int(5000 * SLOWNESS),
                                     "result_max_chars": 1000000})
    with service:
        with Caller(service.url) as caller:
            yield caller


def run(caller, toolbox, name, args=None):
    """The answer's data. Skipped without the library; with it the toolbox must be there."""
    try:
        ctypes.CDLL(LIBRARIES[toolbox])
    except OSError:
        pytest.skip(f"{LIBRARIES[toolbox]} is not on this machine")
    return caller.invoke(name, args, toolbox_id=toolbox)


def result(caller, toolbox, name, args=None):
    answer = run(caller, toolbox, name, args)
    assert "result" in answer, answer
    return answer["result"]


def test_there_are_eight_and_more():
    assert len(set(LIBRARIES.values())) >= 8


@pytest.mark.parametrize("toolbox, name, example", EXAMPLES,
                         ids=[f"{toolbox}-{name}" for toolbox, name, _ in EXAMPLES])
def test_an_example(caller, toolbox, name, example):
    assert result(caller, toolbox, name, example["args"]) == example["result"]


def test_libc(caller):
    assert result(caller, "libc", "host_name")["name"] == socket.gethostname()
    assert result(caller, "libc", "variable", {"name": "PATH"})["value"] == os.environ["PATH"]
    assert result(caller, "libc", "compare_versions", {"a": "1.9", "b": "1.10"})["order"] < 0
    text = result(caller, "libc", "time_text", {"seconds": 86400})["text"]
    assert text == time.ctime(86400) + "\n"
    setting = result(caller, "libc", "setting", {"number": 2})
    assert setting["text"].startswith("glibc ") and setting["length"] == len(setting["text"]) + 1
    drawn = [result(caller, "libc", "random_bytes", {"count": 8}) for _ in range(2)]
    assert all(one["got"] == 8 and len(bytes_of(one["bytes"])) == 8 for one in drawn)
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("data", [b"", b"\0", bytes(range(256)) * 1000],
                         ids=["none", "a zero", "a lot"])
def test_zlib(caller, data):
    args = {"data": base64_of(data)}
    assert result(caller, "zlib", "crc32", args)["checksum"] == zlib.crc32(data)
    assert result(caller, "zlib", "adler32", args)["checksum"] == zlib.adler32(data)
    packed = result(caller, "zlib", "compress", args)["compressed"]
    assert zlib.decompress(bytes_of(packed)) == data
    unpacked = result(caller, "zlib", "uncompress", {"compressed": packed})
    assert bytes_of(unpacked["data"]) == data


def test_bytes_that_are_no_base64(caller):
    answer = run(caller, "zlib", "crc32", {"data": "Zm9"})
    assert answer["code"] == "invalid_arguments"
    assert answer["violations"] == [{"path": "/data", "message":
        "must be a string in base64, padded and without white space"}]


def test_zlib_tells_its_errors(caller):
    answer = run(caller, "zlib", "uncompress", {"compressed": base64_of(b"junk")})
    assert answer["code"] == "tool_failed" and answer["error"].endswith("uncompress returned -3")
    assert result(caller, "zlib", "version")["version"] == zlib.ZLIB_RUNTIME_VERSION


@pytest.mark.parametrize("size", [0, 1, 63, 64, 100000])
def test_digests(caller, size):
    data = b"x" * size
    args = {"data": base64_of(data)}
    assert bytes_of(result(caller, "libcrypto", "sha256", args)["digest"]) \
        == hashlib.sha256(data).digest()
    assert bytes_of(result(caller, "libsodium", "sha512", args)["digest"]) \
        == hashlib.sha512(data).digest()


def test_libcrypto(caller):
    assert result(caller, "libcrypto", "version")["version"].startswith("OpenSSL 3.")


def test_libsodium_is_told_what_it_cannot_do(caller):
    answer = run(caller, "libsodium", "pad", {"data": base64_of(b"x" * 64), "block": 4})
    assert answer["error"].endswith("sodium_pad returned -1"), answer
    answer = run(caller, "libsodium", "pad", {"data": base64_of(b"x" * 65), "block": 4})
    assert answer["code"] == "invalid_arguments"
    assert answer["violations"] == [
        {"path": "/data", "message": "must have at most 64 bytes, not 65"}]


def test_sqlite(caller):
    version = result(caller, "sqlite", "version")["version"]
    assert version == sqlite3.sqlite_version
    assert result(caller, "sqlite", "glob", {"pattern": "b?", "text": "banana"})["difference"] != 0


def test_icu(caller):
    assert result(caller, "icu", "version")["parts"][0] == 72
    name = result(caller, "icu", "language_name", {"locale": "de", "in": "fr"})
    assert bytes(b"".join(unit.to_bytes(2, "little") for unit in name["utf16"])) \
        .decode("utf-16-le") == "allemand"


def test_unistring(caller):
    text = "äöü" * 100
    assert result(caller, "unistring", "points", {"text": text})["points"] == len(text)
    assert result(caller, "unistring", "upper", {"text": text})["upper"] == text.upper()


def test_asound(caller):
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", result(caller, "asound", "version")["version"])
    answer = run(caller, "asound", "format_bits", {"format": 99})
    assert answer["code"] == "tool_failed"


def test_uuid(caller):
    made = [bytes_of(result(caller, "uuid", "generate")["uuid"]) for _ in range(2)]
    assert made[0] != made[1] and all(uuid.UUID(bytes=one).version == 4 for one in made)
    text = result(caller, "uuid", "text", {"uuid": base64_of(made[0])})["text"]
    assert text == str(uuid.UUID(bytes=made[0]))
    assert bytes_of(result(caller, "uuid", "parse", {"text": text})["uuid"]) == made[0]
    assert run(caller, "uuid", "parse", {"text": "no"})["code"] == "tool_failed"
    assert run(caller, "uuid", "text", {"uuid": "AAAA"})["code"] == "invalid_arguments"


def test_pcre2(caller):
    version = result(caller, "pcre2", "version")
    assert re.match(r"10\.\d+ ", version["version"])
    assert version["length"] == len(version["version"]) + 1


class QRcode(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("width", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_ubyte))]


def qr_code(text, level=1):
    """The version, the width and the modules of a QR code, from the library itself."""
    library = ctypes.CDLL(LIBRARIES["qrencode"])
    library.QRcode_encodeString.restype = ctypes.POINTER(QRcode)
    library.QRcode_free.restype = None
    code = library.QRcode_encodeString(text.encode(), 0, level, 2, 1)
    version, width = code.contents.version, code.contents.width
    modules = bytes(code.contents.data[:width * width])
    library.QRcode_free(code)
    return version, width, modules


@pytest.mark.parametrize("level", ["low", "high"])
def test_qrencode(caller, level):
    text = "https://www.openvoiceos.org/" * 20
    code = result(caller, "qrencode", "qr_modules", {"text": text, "level": level})
    assert (code["version"], code["width"], bytes_of(code["modules"])) \
        == qr_code(text, ["low", "medium", "quartile", "high"].index(level))


def test_qrencode_tells_that_a_text_is_too_long(caller):
    answer = run(caller, "qrencode", "qr_modules", {"text": "x" * 3000})
    assert "QRcode_encodeString returned NULL: ERANGE" in answer["error"], answer


def test_the_way_of_the_manual_to_a_qr_code(tmp_path):
    """Typed as it stands; the picture is the library's own. No page has blanks at the end of a line."""
    try:
        _, width, modules = qr_code("hello")
    except OSError:
        pytest.skip("libqrencode is not on this machine: apt install libqrencode-dev")
    page = (ROOT / "docs" / "native.md").read_text()
    env = environment(tmp_path)
    env["PATH"] = f"{TOOLBOXD.parent}:{env['PATH']}"
    printed, failed = pages.type_page(page, tmp_path, env, EVENT_SECONDS)
    blocks = [block for block in pages.blocks_to_type(page) if block[0] in ("sh", "output")]
    assert not failed and [language for language, _ in blocks] == ["sh", "sh", "output"]
    *_, picture = printed.values()
    assert re.sub(" +$", "", picture, flags=re.M) == blocks[-1][1]
    assert picture == "".join(
        "".join("██" if module & 1 else "  " for module in modules[row:row + width]) + "\n"
        for row in range(0, width * width, width))


def test_the_examples_of_the_manual(tmp_path):
    blocks = re.findall(r"^```json\n(.*?)^```$", (ROOT / "docs" / "native.md").read_text(), re.M | re.S)
    found = [one for one in map(json.loads, blocks) if {"native", "symbol"} & one.keys()]
    tools = [one if "native" in one else {"name": one["symbol"], "native": one} for one in found]
    libraries = {"compress2": LIBRARIES["zlib"], "pack": "liblzma.so.5", "to_ascii": "libidn2.so.0",
                 "describe": LIBRARIES["libc"],
                 "file_type": LIBRARIES["magic"], "text": LIBRARIES["uuid"]}
    assert [tool["name"] for tool in tools] == list(libraries)
    for tool in tools:
        path = tmp_path / "manual.json"
        path.write_text(json.dumps({"kind": "native", "library": libraries[tool["name"]], "risk": "read",
                                    "tools": [tool]}))
        done = toolboxctl("check", path, home=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_symbol_that_no_library_has_is_told_with_the_file(tmp_path):
    """Not with the copy that was loaded."""
    library = tmp_path / "libhalf.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True, text=True,
                   input="extern int absent(void); int f(void) { return absent(); }")
    manifest = manifests.toolbox(tmp_path, "half", [manifests.tool("f", "f", returns="i32")],
                                 library=str(library))
    done = toolboxctl("check", manifest, home=tmp_path)
    assert done.returncode == 1 and f"{library}: undefined symbol: absent" in done.stderr
    assert "/proc/self" not in done.stderr and "link it with the library" in done.stderr
