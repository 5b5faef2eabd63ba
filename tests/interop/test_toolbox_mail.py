# SPDX-License-Identifier: Apache-2.0
"""toolboxes/mail: mails that a real SMTP server gets, over TLS and with a login; and servers that do not answer. The
arguments are those of the ai-manager's send_email, but for attachments, which are files here."""
import concurrent.futures
import contextlib
import email
import json
import os
import shutil
import socket
import ssl
import threading

import processes
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from caller import Caller
from conftest import Service
from processes import BUILD, EVENT_SECONDS
from test_http_tls import certificate

FOLDER = BUILD / "toolboxes" / "mail.d"
PASSWORD = "a pass word"
TO = {"type": "email", "target": "ana@example.org", "target_name": "Ana"}


class Box:
    """What a server got: (sender, recipients, bytes)."""

    def __init__(self):
        self.mails, self.logins, self.were_encrypted = [], [], []

    async def handle_RCPT(self, _server, _session, envelope, address, _options):
        if address.startswith("nobody@"):
            return "550 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server, session, envelope):
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        self.were_encrypted.append(session.ssl is not None)
        return "554 smells of spam" if b"=?utf-8?B?U1BBTQ==?=" in envelope.content else "250 taken"

    def authenticate(self, _server, _session, _envelope, _mechanism, data):
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password.decode() == PASSWORD, handled=False)


class Server:
    """A server of SMTP; @tls: its context; @begins: TLS from the first byte, else by STARTTLS."""

    def __init__(self, tls=None, begins=False, login=False):
        self.box = Box()
        more = {"ssl_context": tls} if tls and begins else {"tls_context": tls, "require_starttls": tls is not None}
        login = {"authenticator": self.box.authenticate, "auth_required": True, "auth_require_tls": not begins} if login else {}
        self.controller = Controller(self.box, hostname="127.0.0.1", port=processes.free_port(), **more, **login)
        self.controller.start()
        self.url = f"smtp{'s' if begins else ''}://127.0.0.1:{self.controller.port}"

    def close(self):
        self.controller.stop()


class Mail:
    """The tool, with the settings of one operator, and a folder of files."""

    def __init__(self, home, server, authority=None, **settings):
        self.root = home / "root"
        self.root.mkdir()
        secret = home / "service" / "toolboxd" / ".config" / "toolboxd"
        secret.mkdir(parents=True)
        for folder in (home, self.root, secret):
            (folder / "password").write_text(PASSWORD + "\n")
        library = home / "mail.d"
        shutil.copytree(FOLDER, library)
        trust = {"env": {"SSL_CERT_FILE": shutil.copy(authority, self.root)}} if authority else {}
        self.service = Service("embedded", home / "service", [library], configuration={"approval": {"allow": ["mail/send_email"]}, "toolboxes": {
            "files": {"roots": [str(self.root)]},
            "mail": {"enabled": True, "server": server, "from": "me@example.org", **trust, **settings}}})
        self.service.wait_until_ready()
        self.caller = Caller(self.service.url)

    def close(self):
        self.caller.close()
        self.service.end()

    def answer(self, caller=None, **args):
        fields = {"timeout_ms": args.pop("timeout_ms")} if "timeout_ms" in args else {}
        args = {"destinations": [TO], "subject": "Hi", "content": "text", **args}
        return (caller or self.caller).invoke("send_email", args, seconds=4 * EVENT_SECONDS, **fields)

    def send(self, **args):
        answer = self.answer(**args)
        assert "result" in answer, answer
        return answer["result"]

    def failure(self, **args):
        answer = self.answer(**args)
        assert answer.get("code") == "tool_failed", answer
        return answer["error"].split("'mail': send_email failed: ", 1)[1]


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    files = certificate(tmp_path_factory.mktemp("certificate"), "one")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["cert"], files["key"])
    return files | {"context": context}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server on this machine, without TLS or login, and the tool."""
    server = Server()
    home = tmp_path_factory.mktemp("mail")
    one = Mail(home, server.url, allow_recipients=["*@example.org", "Boss@Other.example"])
    one.caller.close()
    one.box, one.home = server.box, home
    yield one
    one.close()
    server.close()


@pytest.fixture
def mail(shared):
    """A caller that is idle while other tests run answers no ping, and its bus hangs up: each test has its own."""
    shared.box.mails.clear()
    with Caller(shared.service.url) as shared.caller:
        yield shared


def header(message, name):
    return str(email.header.make_header(email.header.decode_header(message[name])))


def test_a_mail_arrives_as_it_was_written(mail):
    """The arguments as the ai-manager has them, run_llm among them."""
    content = "Grüße\n.\n..\nFrom me\n" + "long " * 500
    result = mail.send(subject="Einkauf für heute", content=content, run_llm=True,
                       destinations=[TO, {"type": "email", "target": "bob@example.org"}])
    assert result.pop("resource_id").endswith("@example.org")
    assert result == {"result": "success", "message": "Email sent successfully.", "resource_type": "email"}
    [(sender, recipients, data)] = mail.box.mails
    assert (sender, recipients) == ("me@example.org", ["ana@example.org", "bob@example.org"])
    message = email.message_from_bytes(data)
    assert header(message, "Subject") == "Einkauf für heute" and message["From"] == "<me@example.org>"
    assert [email.header.decode_header(name)[0][0] for name, _ in email.utils.getaddresses([message["To"]])] == [b"Ana", ""]
    assert message.get_content_type() == "text/plain"
    assert message.get_payload(decode=True).decode() == content.replace("\n", "\r\n")
    assert email.utils.parsedate_to_datetime(message["Date"]) and message["Message-ID"]
    mail.send(content=" <!DOCTYPE html><p>x")
    assert email.message_from_bytes(mail.box.mails[-1][2]).get_content_type() == "text/html"


def test_line_ends_in_every_field_begin_no_header(mail):
    evil = "x\r\nBcc: eve@example.org\r\n\r\nbody\n.\r\nRCPT TO:<eve@example.org>"
    (mail.root / "a\r\nBcc: eve@example.org").write_text("data")
    mail.send(subject=evil, content=evil, destinations=[{**TO, "target_name": evil}],
              attachments=[{"path": str(mail.root / "a\r\nBcc: eve@example.org")}])
    [(_, recipients, data)] = mail.box.mails
    message = email.message_from_bytes(data)
    assert recipients == ["ana@example.org"] and "Bcc" not in message and not message.defects
    assert set(message.keys()) == {"Date", "From", "To", "Subject", "Message-ID", "MIME-Version", "Content-Type"}
    assert header(message, "Subject") == evil.replace("\r", " ").replace("\n", " ")
    text, attached = message.get_payload()
    assert text.get_payload(decode=True).decode().replace("\r\n", "\n") == evil.replace("\r\n", "\n")
    assert set(attached.keys()) == {"Content-Type", "Content-Disposition", "Content-Transfer-Encoding"}
    for target in (evil, "ana@example.org\r\n", "ana@example.org\nDATA", "a b@example.org", "<ana@example.org>", ""):
        answer = mail.answer(destinations=[{**TO, "target": target}])
        assert answer["code"] == "invalid_arguments", target
    assert len(mail.box.mails) == 1


def test_files_are_attached_whole(mail):
    data = bytes(range(256)) * 5000
    (mail.root / "Bericht für Ana.pdf").write_bytes(data)
    (mail.root / "empty").write_bytes(b"")
    mail.send(attachments=[{"path": str(mail.root / name)} for name in ("Bericht für Ana.pdf", "empty")])
    _, one, two = email.message_from_bytes(mail.box.mails[0][2]).get_payload()
    assert (one.get_filename(), one.get_payload(decode=True)) == ("Bericht für Ana.pdf", data)
    assert (two.get_filename(), two.get_payload(decode=True)) == ("empty", b"")


def test_only_files_that_the_toolbox_files_reads_are_attached(mail):
    outside = mail.home / "outside.txt"
    outside.write_text("x")
    (mail.root / "link").symlink_to(outside)
    (mail.root / ".env").write_text("KEY=1")
    for path, words in ((outside, "is outside of the folders that may be read"), (mail.root / "link", "is outside of"),
                        (mail.home / "none", "is outside of"),
                        (mail.root / ".env", "holds secrets"), (mail.root / "none", "No such file"),
                        (mail.root / ".." / "outside.txt", "is outside of"), ("root/a", "must be an absolute path")):
        answer = mail.answer(attachments=[{"path": str(path)}])
        assert answer["code"] == "invalid_arguments" and words in json.dumps(answer), (path, answer)
    os.mkfifo(mail.root / "fifo")
    assert "is a FIFO" in mail.failure(attachments=[{"path": str(mail.root / "fifo")}])
    with open(mail.root / "large", "wb") as file:
        file.truncate(21 << 20)
    assert "more than 20 MiB together" in mail.failure(attachments=[{"path": str(mail.root / "large")}])
    assert mail.box.mails == []


def test_the_password_is_never_attached(tmp_path):
    mail = Mail(tmp_path, "smtp://127.0.0.1:1", user="me", password_file=[str(tmp_path / "root" / "password")])
    answer = mail.answer(attachments=[{"path": str(tmp_path / "root" / "password")}])
    assert "holds secrets" in json.dumps(answer), answer
    mail.close()


def test_recipients_are_those_that_the_operator_allows(mail):
    mail.send(destinations=[{"type": "email", "target": "BOSS@other.EXAMPLE"}])
    answer = mail.answer(destinations=[TO, {"type": "email", "target": "eve@other.example"}])
    assert answer["code"] == "invalid_arguments"
    assert "must be an address that toolboxes.mail.allow_recipients allows" in json.dumps(answer)
    assert len(mail.box.mails) == 1


@pytest.mark.parametrize("args", [
    {"destinations": []}, {"destinations": [TO] * 101}, {"destinations": [{"target": "a@example.org"}]},
    {"destinations": [{**TO, "type": "tel"}]}, {"subject": 1},
    {"subject": "Lunch\0 is off"}, {"destinations": [{**TO, "target_name": "Ana\0 and Eve"}]},
    {"attachments": [{"reference_type": "recording", "reference_id": "5f3c1a52-0d6e-4b7b-9f0a-1c2d3e4f5a6b"}]},
])
def test_wrong_arguments_are_refused(mail, args):
    assert mail.answer(**args)["code"] == "invalid_arguments"


def test_words_of_the_server_are_told(mail):
    words = mail.failure(destinations=[TO, {"type": "email", "target": "nobody@example.org"}])
    assert "550 no such user here" in words and words.endswith(". Nothing was sent")
    assert mail.box.mails == []
    words = mail.failure(subject="SPAM")
    assert "554 smells of spam" in words and words.endswith(". Nothing was sent")


@pytest.mark.parametrize("begins", [False, True])
def test_tls_and_a_login(tmp_path, tls, begins):
    """The password is where a fence hides it from every path of files."""
    file = tmp_path / "service" / "toolboxd" / ".config" / "toolboxd" / "password"
    server = Server(tls["context"], begins, login=True)
    mail = Mail(tmp_path, server.url, authority=tls["cert"], tls="required", user="me",
                password_file="~/.config/toolboxd/password")
    mail.send()
    assert server.box.logins == [("me", PASSWORD)] and len(server.box.mails) == 1
    assert begins or server.box.were_encrypted == [True]  # by the server's word; else it speaks nothing but TLS
    file.write_text("wrong")
    assert mail.failure().startswith("the server refuses the login: look at toolboxes.mail.user and its password file")
    file.write_text("\n")
    assert "expected a line of 1 to 1000 bytes" in mail.failure()
    assert len(server.box.mails) == 1
    mail.close()
    server.close()


def test_a_wrong_certificate_and_a_server_without_tls_get_nothing(tmp_path, tls):
    server, plain = Server(tls["context"], login=True), Server()
    for name, one, words in (("a", server, "SSL certificate problem"), ("b", plain, "the server offers no TLS, which")):
        (tmp_path / name).mkdir()
        mail = Mail(tmp_path / name, one.url, tls="required", user="me", password_file=[str(tmp_path / name / "password")])
        assert words in mail.failure()
        assert one.box.mails == [] and one.box.logins == []
        mail.close()
        one.close()


STEPS = ["", "EHLO", "STAR", "TLS", "AUTH", "MAIL", "RCPT", "DATA", ".", "QUIT"]
# What a server says to EHLO, so that the step comes.
OFFERED = {"STAR": "STARTTLS", "TLS": "STARTTLS", "AUTH": "AUTH PLAIN"}


def stalling(step):
    """A server that answers nothing from @step on; its URL."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as lines:
            done, is_data = step == "", False
            if not done:
                connection.sendall(b"220 here\r\n")
            for line in lines:
                word = line.strip().decode() if is_data else line[:4].decode(errors="replace")
                if is_data and word != ".":
                    continue
                done = done or word == step
                if not done:
                    offered = f"250 {OFFERED.get(step, 'OK')}\r\n" if word == "EHLO" else "250 OK\r\n"
                    connection.sendall({"DATA": "354 go on\r\n", "STAR": "220 go on\r\n"}.get(word, offered).encode())
                done = done or (word == "STAR" and step == "TLS")
                is_data = word == "DATA"
        server.close()
    threading.Thread(target=serve, daemon=True).start()
    return f"smtp://127.0.0.1:{server.getsockname()[1]}"


def test_a_server_that_stalls_at_any_step_is_left_in_time(tmp_path):
    mails, ends = {}, contextlib.ExitStack()
    for i, step in enumerate(STEPS):
        (tmp_path / str(i)).mkdir()
        login = {"user": "me", "password_file": [str(tmp_path / str(i) / "password")]} if step == "AUTH" else {}
        mails[step] = Mail(tmp_path / str(i), stalling(step), **login)
        ends.callback(mails[step].close)
    with ends, concurrent.futures.ThreadPoolExecutor(len(STEPS)) as pool:
        answers = dict(zip(STEPS, pool.map(lambda mail: mail.answer(timeout_ms=6000), mails.values())))
    # The server has the mail, and is not asked again.
    assert "result" in answers.pop("QUIT")
    for step, answer in answers.items():
        text = answer["error"].split("'mail': send_email failed: ", 1)[1]
        assert text.startswith("the server did not answer in time"), (step, text)
        assert text.endswith("may have been sent" if step == "." else ". Nothing was sent"), (step, text)


def test_a_server_that_is_not_there(tmp_path):
    mail = Mail(tmp_path, f"smtp://127.0.0.1:{processes.free_port()}")
    words = mail.failure()
    assert "Failed to connect" in words or "onnection refused" in words, words
    assert words.endswith(". Nothing was sent")
    mail.close()


@pytest.mark.parametrize("settings, words", [
    ({}, "toolboxes.mail.server must be smtp://HOST:PORT"), ({"server": "http://a"}, "server must be smtp://HOST:PORT"),
    ({"server": "smtp://a/b"}, "server must be"), ({"server": "smtp://me@a"}, "server must be"),
    ({"server": "smtp://a:0"}, "server must be"), ({"server": "smtp://a", "tls": "no"}, "tls must be required, optional or"),
    ({"server": "smtp://a", "from": "me"}, "from must be a mail address"),
    ({"server": "smtp://a", "from": "a@b\r\nc"}, "from must be a mail address"),
    ({"server": "smtp://a", "from": "a@b", "user": "me"}, "user and toolboxes.mail.password_file"),
    ({"server": "smtp://a", "from": "a@b", "user": "me", "password_file": "/etc/hostname", "tls": "optional"},
     "tls must be required: a password is sent over TLS only"),
    ({"server": "smtp://a", "from": "a@b", "allow_recipients": "*"}, "allow_recipients must be a list of strings"),
    ({"server": "smtp://a", "from": "a@b", "allow_recipients": [1]}, "allow_recipients must be a list of strings"),
    ({"server": 1}, "server must be a string"),
])
def test_a_wrong_setting_refuses_the_toolbox(tmp_path, settings, words):
    shutil.copytree(FOLDER, library := tmp_path / "mail.d")
    manifest = json.loads((library / "mail.json").read_text())
    manifest["config"].update(settings, files={"roots": []})
    manifest["enabled"] = True
    (library / "mail.json").write_text(json.dumps(manifest))
    done = processes.toolboxctl("check", str(library / "mail.json"), home=tmp_path)
    assert done.returncode == 1 and words in done.stdout + done.stderr, done.stdout + done.stderr


def test_it_asks_a_person(mail):
    shown = mail.caller.call("ovos.tools.get", {"name": "send_email"})
    assert '"risk": "execute"' in json.dumps(shown)
