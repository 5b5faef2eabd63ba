# SPDX-License-Identifier: Apache-2.0
"""Stock libraries as they are, without a line of glue: every tool of the manifests in tests/libraries
(and of the shipped libm) is called through the daemon, and gives what its examples say, or what
Python knows by itself. A library that is not on this machine is skipped."""
import base64
import ctypes
import hashlib
import io
import json
import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import tarfile
import time
import urllib.parse
import uuid
import zipfile
import zlib

import manifests
import pages
import pytest
from caller import Caller
from conftest import Service
from manifests import SHIPPED
from processes import ROOT, SLOWNESS, TOOLBOXD, environment, toolboxctl

FOLDER = ROOT / "tests" / "libraries"
MANIFESTS = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
MANIFESTS.append(json.loads((SHIPPED / "libm.json").read_text()))
ALL_LIBRARIES = {manifest["toolbox_id"]: manifest.get("libraries") or [manifest["library"]] for manifest in MANIFESTS}
LIBRARIES = {toolbox: libraries[0] for toolbox, libraries in ALL_LIBRARIES.items()}
EXAMPLES = [(manifest["toolbox_id"], tool["name"], example) for manifest in MANIFESTS
            for tool in manifest["tools"] for example in tool.get("examples", ())]


# The headers of the functions; -D are words for the compiler. PCRE2's pcre2_config() fills any type by a pointer to void,
# which no type of a manifest but `bytes` fits, and GLib's headers are found by pkg-config alone.
HEADERS = {
    "archive": "archive.h archive_entry.h stdio.h", "asound": "alsa/asoundlib.h", "curl": "curl/curl.h",
    "exif": "libexif/exif-data.h", "icu": "unicode/uloc.h", "idn2": "idn2.h",
    "libc": "-D_GNU_SOURCE time.h stdlib.h unistd.h string.h stdio.h sys/random.h",
    "libcrypto": "openssl/sha.h openssl/evp.h openssl/crypto.h", "libm": "math.h", "libsodium": "sodium.h",
    "magic": "magic.h", "pcap": "pcap/pcap.h sys/eventfd.h unistd.h",
    "qr_image": "qrencode.h png.h stdio.h stdlib.h", "qrencode": "qrencode.h", "sqlite": "sqlite3.h",
    "unistring": "unistr.h unicase.h uniwidth.h uniconv.h", "uuid": "uuid/uuid.h", "zlib": "zlib.h"}


def base64_of(data):
    return base64.b64encode(data).decode()


def bytes_of(text):
    return base64.b64decode(text, validate=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder with the files that tools may read."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def caller(tmp_path_factory, files):
    readers = {toolbox: {"sandbox": {"read": [str(files)]}} for toolbox in ("archive", "exif", "pcap")}
    service = Service("embedded", tmp_path_factory.mktemp("libraries"), [SHIPPED, FOLDER],
                      configuration={"timeout_ms": int(5000 * SLOWNESS),
                                     "result_max_chars": 1000000, "toolboxes": readers})
    with service:
        with Caller(service.url) as caller:
            yield caller


def run(caller, toolbox, name, args=None):
    """The answer's data. Skipped without the library; with it the toolbox must be there."""
    for library in ALL_LIBRARIES[toolbox]:
        try:
            ctypes.CDLL(library)
        except OSError:
            pytest.skip(f"{library} is not on this machine")
    return caller.invoke(name, args, toolbox_id=toolbox)


def result(caller, toolbox, name, args=None):
    answer = run(caller, toolbox, name, args)
    assert "result" in answer, answer
    return answer["result"]


def test_there_are_eight_and_more():
    assert len(set(LIBRARIES.values())) >= 8


@pytest.mark.parametrize("toolbox", sorted(LIBRARIES.keys() - {"glib", "pcre2"}))
def test_a_manifest_agrees_with_the_header(tmp_path, toolbox):
    flags, headers = [], []
    for word in HEADERS[toolbox].split():
        (flags if word.startswith("-") else headers).append(word)
    if subprocess.run(["cc", "-fsyntax-only", "-xc", "-"], text=True, capture_output=True,
                      input="".join(f"#include <{header}>\n" for header in headers)).returncode:
        pytest.skip(f"the headers of {toolbox} are not on this machine")
    manifest = (SHIPPED if toolbox == "libm" else FOLDER) / f"{toolbox}.json"
    done = toolboxctl("check", *[word for header in headers for word in ("--header", header)],
                      f"--cflags={' '.join(flags)}", manifest, home=tmp_path)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize("size", [0, 1, 128, 129, 100000])
def test_blake2b(caller, size):
    data, key = b"y" * size, bytes(range(32))
    plain = result(caller, "libsodium", "blake2b", {"data": base64_of(data)})
    keyed = result(caller, "libsodium", "blake2b", {"data": base64_of(data), "key": base64_of(key)})
    assert bytes_of(plain["digest"]) == hashlib.blake2b(data, digest_size=32).digest()
    assert bytes_of(keyed["digest"]) == hashlib.blake2b(data, digest_size=32, key=key).digest()


def test_a_sealed_box_is_opened_by_its_key_alone(caller):
    """Sealed here, opened by the library itself, in its format for one text: the MAC and then the data."""
    data, key = b"the door code is 4711", bytes(range(32))
    box = result(caller, "libsodium", "seal", {"data": base64_of(data), "key": base64_of(key)})
    mac, sealed, nonce = (bytes_of(box[name]) for name in ("mac", "sealed", "nonce"))
    opened = ctypes.create_string_buffer(len(data))
    library = ctypes.CDLL(LIBRARIES["libsodium"])
    whole = mac + sealed
    assert library.crypto_secretbox_open_easy(opened, whole, ctypes.c_ulonglong(len(whole)), nonce, key) == 0
    assert opened.raw == data and sealed != data
    unsealed = result(caller, "libsodium", "unseal", {**box, "key": base64_of(key)})
    assert bytes_of(unsealed["data"]) == data
    for wrong in ({"key": base64_of(bytes(32))}, {"sealed": base64_of(b"!" + sealed[1:])}):
        answer = run(caller, "libsodium", "unseal", {**box, "key": base64_of(key), **wrong})
        assert "crypto_secretbox_open_detached: it is forged, or the key is another one" in answer["error"]


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_of_another_length_is_refused(caller, size):
    """The function reads 32 bytes, whatever there is."""
    answer = run(caller, "libsodium", "seal", {"data": "", "key": base64_of(bytes(size))})
    assert answer["code"] == "invalid_arguments"


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


CONTENTS = {"letters/": None, "letters/one.txt": b"one\n", "letters/zwölf.txt": b"twelve\n", "empty": b"",
            "bytes": bytes(range(256)) * 500}
CHANGED = 1700000000


def make_tar(path):
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w:gz") as archive:
        for name, data in CONTENTS.items():
            member = tarfile.TarInfo(name.rstrip("/"))
            member.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            member.size, member.mtime = len(data or b""), CHANGED
            archive.addfile(member, io.BytesIO(data or b""))
        link = tarfile.TarInfo("link")
        link.type, link.linkname, link.mtime = tarfile.SYMTYPE, "empty", CHANGED
        archive.addfile(link)


def make_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in CONTENTS.items():
            archive.writestr(name, data or b"")


@pytest.mark.parametrize("name", ["all.tar.gz", "all.tar.xz"])
def test_the_entries_of_an_archive(caller, files, name):
    make_tar(files / name)
    kinds = {tarfile.REGTYPE: "file", tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link"}
    listed = result(caller, "archive", "list_archive", {"path": str(files / name)})["entries"]
    with tarfile.open(files / name) as archive:
        members = archive.getmembers()
    assert len(members) == len(CONTENTS) + 1
    assert listed == [{"path": one.name + "/" * one.isdir(), "size": one.size, "kind": kinds[one.type],
                       "changed": one.mtime} for one in members]


@pytest.mark.parametrize("make, name", [(make_tar, "some.tar.gz"), (make_zip, "some.zip")])
@pytest.mark.parametrize("entry", [name for name, data in CONTENTS.items() if data is not None])
def test_one_entry_of_an_archive(caller, files, make, name, entry):
    make(files / name)
    extracted = result(caller, "archive", "extract_entry", {"path": str(files / name), "entry": entry})
    assert bytes_of(extracted["data"]) == CONTENTS[entry]


def test_archives_that_cannot_be_read_are_told(caller, files):
    make_tar(files / "cut.tar.gz")
    (files / "cut.tar.gz").write_bytes((files / "cut.tar.gz").read_bytes()[:200])
    (files / "no archive").write_text("text")
    make_zip(files / "good.zip")
    for name, words in [("cut.tar.gz", "truncated gzip input"), ("no archive", "Unrecognized archive format"),
                        ("absent", "Failed to open")]:
        answer = run(caller, "archive", "list_archive", {"path": str(files / name)})
        assert answer["code"] == "tool_failed" and words in answer["error"], answer
    answer = run(caller, "archive", "extract_entry", {"path": str(files / "good.zip"), "entry": "absent"})
    assert answer["error"].endswith("archive_match_path_unmatched_inclusions: no entry has this name"), answer
    with zipfile.ZipFile(files / "large.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fits", bytes(1 << 20))
        archive.writestr("large", bytes((1 << 20) + 1))
    answer = run(caller, "archive", "extract_entry", {"path": str(files / "large.zip"), "entry": "large"})
    assert answer["code"] == "tool_failed" and "ENOSPC" in answer["error"], answer
    answer = run(caller, "archive", "extract_entry", {"path": str(files / "large.zip"), "entry": "fits"})
    assert answer["result"]["reason"] == "too_long"     # in base64 more than result_max_chars


def ifd(start, entries):
    """An image file directory of TIFF at this offset; the entries are (tag, type, count, value)."""
    head, data = struct.pack("<H", len(entries)), b""
    for tag, kind, count, value in entries:
        if len(value) > 4:
            place, data = start + 6 + 12 * len(entries) + len(data), data + value + bytes(len(value) % 2)
            value = struct.pack("<I", place)
        head += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
    return head + bytes(4) + data


@pytest.fixture(scope="module")
def photograph(files):
    """A JPEG file that has nothing but its EXIF data."""
    def text(tag, value):
        return tag, 2, len(value) + 1, value.encode() + b"\0"

    photo = [(0x829A, 5, 1, struct.pack("<II", 1, 250)), text(0x9003, "2026:11:26 21:00:00"),
             (0x927C, 7, 4, b"none")]
    image = [text(0x010F, "Toolboxd"), text(0x0110, "Camera 7"), (0x0112, 3, 1, struct.pack("<H", 6))]
    place = 8 + len(ifd(8, [*image, (0x8769, 4, 1, bytes(4))]))
    image.append((0x8769, 4, 1, struct.pack("<I", place)))
    data = b"Exif\0\0II*\0" + struct.pack("<I", 8) + ifd(8, image) + ifd(place, photo)
    (files / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe1" + struct.pack(">H", len(data) + 2) + data + b"\xff\xd9")
    return files / "photo.jpg"


@pytest.mark.parametrize("part, tag", [("image", "Make"), ("image", "Model"), ("image", "Orientation"),
                                       ("photo", "ExposureTime"), ("photo", "DateTimeOriginal"), (None, "Artist")])
def test_a_tag_of_a_photograph(caller, photograph, part, tag):
    if not shutil.which("exif"):
        pytest.skip("the command of libexif is not on this machine: apt install exif")
    told = subprocess.run(["exif", "--machine-readable", f"--tag={tag}", photograph], text=True,
                          capture_output=True, env={**os.environ, "LC_ALL": "C"})
    value = told.stdout.removesuffix("\n") or None
    assert (told.returncode == 0) == (value is not None) == (part is not None), told
    found = result(caller, "exif", "exif_tag", {"path": str(photograph), "tag": tag})
    assert found == {**dict.fromkeys(("image", "photo", "gps")), **({part: value} if part else {})}


def test_photographs_that_tell_nothing(caller, files, photograph):
    answer = run(caller, "exif", "exif_tag", {"path": str(photograph), "tag": "Nonsense"})
    assert answer["error"].endswith("exif_tag_from_name: no tag has this name"), answer
    answer = run(caller, "exif", "exif_tag", {"path": str(files / "absent.jpg"), "tag": "Model"})
    assert "exif_data_new_from_file returned NULL: ENOENT" in answer["error"], answer


def packet(port, size):
    """A UDP packet over IPv4 over Ethernet, as long as this."""
    udp = struct.pack(">HHHH", 4000, port, size - 34, 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size - 14, 1, 0, 64, 17, 0, bytes(4), bytes(4))
    return (bytes(12) + b"\x08\0" + ip + udp).ljust(size, b"x")


@pytest.mark.parametrize("words, fits", [("", lambda port: True), ("udp port 53", lambda port: port == 53),
                                         ("udp dst portrange 100-200", lambda port: 100 <= port <= 200),
                                         ("tcp", lambda port: False)])
def test_the_traffic_of_a_recording(caller, files, words, fits):
    """Only the first 60 bytes of each packet are in the file; its length is told all the same."""
    packets = [(port, packet(port, size)) for port, size in [(53, 70), (123, 90), (53, 1514), (5060, 60)]]
    (files / "some.pcap").write_bytes(
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 60, 1)
        + b"".join(struct.pack("<IIII", CHANGED, n, min(len(data), 60), len(data)) + data[:60]
                   for n, (_, data) in enumerate(packets)))
    counted = result(caller, "pcap", "traffic", {"path": str(files / "some.pcap"), "filter": words})
    sizes = [len(data) for port, data in packets if fits(port)]
    assert counted == {"link": "EN10MB", "packets": len(sizes), "bytes": sum(sizes)}


def test_recordings_that_cannot_be_read_are_told(caller, files):
    (files / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 60, 1))
    (files / "cut.pcap").write_bytes((files / "empty.pcap").read_bytes() + struct.pack("<IIII", 0, 0, 60, 60))
    (files / "no.pcap").write_bytes(b"no recording, but a text that is long enough")
    for name, words, told in [("absent", "", "No such file or directory"), ("no.pcap", "", "unknown file format"),
                              ("cut.pcap", "", "truncated dump file"), ("empty.pcap", "uhu", "syntax error")]:
        answer = run(caller, "pcap", "traffic", {"path": str(files / name), "filter": words})
        assert answer["code"] == "tool_failed" and told in answer["error"], answer


def test_curl(caller):
    about, _, protocols, features = subprocess.run(["curl", "--version"], capture_output=True, text=True,
                                                   check=True).stdout.splitlines()
    version = result(caller, "curl", "curl_version")["version"]
    assert about.split(" ", 3)[3] == version
    can = result(caller, "curl", "curl_abilities")
    assert version.startswith(f"libcurl/{can['version']} ")
    # The command lists rtmp once, for all that begin with it, and later versions two protocols of their own.
    assert {re.sub("^rtmp.+", "rtmp", one) for one in can["protocols"]} == set(protocols.split()[1:]) - {"ipfs", "ipns"}
    named = {one for one in can["features"] if isinstance(one, str)}
    assert {"SSL", "libz"} <= named <= set(features.split()[1:])


@pytest.mark.parametrize("text", ["", "a b", "äöü/?&=#", "100 %", "-._~", "\n\t", "日本"])
def test_curl_escapes(caller, text):
    escaped = result(caller, "curl", "escape", {"text": text})["escaped"]
    assert escaped == urllib.parse.quote(text, safe="")
    assert bytes_of(result(caller, "curl", "unescape", {"text": escaped})["data"]) == text.encode()


@pytest.mark.parametrize("url", ["http://example.org/", "https://me:secret@example.org:8443/a?b=c#d",
                                 "ftp://[::1]/x%20y"])
def test_the_parts_of_a_url(caller, url):
    parts = result(caller, "curl", "url_parts", {"url": url})
    known = urllib.parse.urlsplit(url)
    assert (parts["scheme"], parts["user"], parts["host"].strip("[]"), parts["port"], parts["path"], parts["query"],
            parts["fragment"]) == (known.scheme, known.username, known.hostname, known.port and str(known.port),
                                   known.path, known.query or None, known.fragment or None)


def test_what_is_no_url_is_told(caller):
    answer = run(caller, "curl", "url_parts", {"url": "http://a b"})
    assert answer["error"].endswith("curl_url_set: Bad hostname"), answer


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


def unfilter(kind, row, before, step):
    """The bytes of a row of PNG (ISO/IEC 15948, 9.2)."""
    out = bytearray()
    for i, byte in enumerate(row):
        left = out[i - step] if i >= step else 0
        corner = before[i - step] if i >= step else 0
        near = min((left, before[i], corner), key=lambda one: abs(left + before[i] - corner - one))
        out.append((byte + (0, left, before[i], (left + before[i]) // 2, near)[kind]) % 256)
    return bytes(out)


def black_pixels(png):
    """Rows of whether a pixel is black, of a PNG image in grey or with a palette, of 1 or 8 bits."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + data)
        chunks[kind] = chunks.get(kind, b"") + data
        at += 12 + size
    width, height, bits, colour, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert bits in (1, 8) and colour in (0, 3)
    black = [n for n in range(2 ** bits) if (chunks[b"PLTE"][3 * n:3 * n + 3] == bytes(3) if colour == 3 else n == 0)]
    data, row_bytes = zlib.decompress(chunks[b"IDAT"]), (width * bits + 7) // 8
    rows, row = [], bytes(row_bytes)
    for start in range(0, height * (row_bytes + 1), row_bytes + 1):
        row = unfilter(data[start], data[start + 1:start + 1 + row_bytes], row, 1)
        values = row if bits == 8 else [byte >> 7 - n & 1 for byte in row for n in range(8)][:width]
        rows.append([value in black for value in values])
    return rows


@pytest.mark.parametrize("text", ["hello", "https://www.openvoiceos.org/" * 20])
def test_a_qr_code_as_an_image(caller, tmp_path, text):
    """The same pixels as from the library's own command."""
    if not shutil.which("qrencode"):
        pytest.skip("the command is not on this machine: apt install qrencode")
    (block,) = result(caller, "qr_image", "qr_image", {"text": text})["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    subprocess.run(["qrencode", "--8bit", "--level=M", "--size=8", "--margin=4", "--type=PNG",
                    f"--output={tmp_path / 'own.png'}", text], check=True)
    drawn = black_pixels(bytes_of(block["data"]))
    assert drawn == black_pixels((tmp_path / "own.png").read_bytes())
    assert sum(map(sum, drawn)) % 64 == 0 and len(drawn) == len(drawn[0]) == 8 * (qr_code(text)[1] + 8)


def test_the_way_of_the_manual_to_a_qr_code(tmp_path):
    """Typed as it stands; the picture is the library's own. No page has blanks at the end of a line."""
    try:
        _, width, modules = qr_code("hello")
    except OSError:
        pytest.skip("libqrencode is not on this machine: apt install libqrencode-dev")
    page = (ROOT / "docs" / "native.md").read_text()
    env = environment(tmp_path)
    env["PATH"] = f"{TOOLBOXD.parent}:{env['PATH']}"
    printed, failed = pages.type_page(page, tmp_path, env)
    blocks = [block for block in pages.blocks_to_type(page) if block[0] in ("sh", "output")]
    assert not failed and [language for language, _ in blocks] == ["sh", "sh", "output"]
    *_, picture = printed.values()
    assert re.sub(" +$", "", picture, flags=re.M) == blocks[-1][1]
    assert picture == "".join(
        "".join("██" if module & 1 else "  " for module in modules[row:row + width]) + "\n"
        for row in range(0, width * width, width))


def test_the_manual_names_ten_libraries_and_more():
    named = re.findall(r"\(\.\./tests/libraries/(\w+\.json)\)", (ROOT / "docs" / "native.md").read_text())
    assert len(set(named)) == len(named) >= 10 and all((FOLDER / name).exists() for name in named)


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
