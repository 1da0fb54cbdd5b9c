"""An imitation of GitHub's three addresses of a sign-in, as good or as bad as a test wants it.

    with FakeGitHub() as github:
        Stack(AGENT_SIMULATOR_GITHUB_URL=github.url, AGENT_SIMULATOR_GITHUB_API_URL=github.url + "/api", ...)
        github.token = github.html      # the token address now answers with a page

    GET  /login/oauth/authorize     sends the browser back at once, with a code (or github.refusal)
    POST /login/oauth/access_token  github.token(request): by default a token for a code that was not used before
    GET  /api/user                  github.user(request): by default the user of that token
"""
from __future__ import annotations

import contextlib
import http.server
import json
import secrets
import ssl
import threading
import urllib.parse

CLIENT_ID, CLIENT_SECRET = "Iv1.0123456789", "a-secret-of-the-application"


class Request:
    def __init__(self, handler, body):
        self.handler, self.headers = handler, handler.headers
        self.path, _, self.query = handler.path.partition("?")
        self.form = dict(urllib.parse.parse_qsl(body.decode()))
        self.values = dict(urllib.parse.parse_qsl(self.query))

    def reply(self, status, value, headers=(), kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.handler.send_response(status)
        for name, text in (("Content-Type", kind), ("Content-Length", str(len(body))), *headers):
            self.handler.send_header(name, text)
        self.handler.end_headers()
        self.handler.wfile.write(body)


class FakeGitHub:
    def __init__(self, certificate=None):
        self.certificate = certificate  # (certificate, key) files: TLS
        self.secrets = []               # everything that must never show up in a log
        self.requests = []
        self.codes, self.tokens = {}, {}
        self.waiting = 0                # requests that are being held
        self.let_go = threading.Event()
        self.reset()

    def reset(self):
        self.token, self.user = self.good_token, self.good_user
        self.refusal = None
        self.login = "ada"
        self.let_go.clear()
        self.requests.clear()

    def __enter__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_args):
                pass

            def do_GET(self):
                request = Request(self, b"")
                outer.requests.append(request)
                if request.path == "/login/oauth/authorize":
                    outer._authorize(request)
                elif request.path == "/api/user":
                    outer.user(request)
                else:
                    request.reply(404, {})

            def do_POST(self):
                request = Request(self, self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.token(request)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_args):  # a client that gave up is what some tests want
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if self.certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_exc):
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)

    # ---- as it should be ----

    def new_code(self):
        code = "code-" + secrets.token_hex(10)
        self.codes[code] = self.login
        self.secrets.append(code)
        return code

    def _authorize(self, request):
        values = {"state": request.values["state"], **({"error": self.refusal} if self.refusal else {"code": self.new_code()})}
        request.reply(302, b"", [("Location", request.values["redirect_uri"] + "?" + urllib.parse.urlencode(values))])

    def good_token(self, request):
        login = self.codes.pop(request.form.get("code"), None)
        if (request.form.get("client_id"), request.form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            request.reply(200, {"error": "incorrect_client_credentials"})
        elif login is None:
            request.reply(200, {"error": "bad_verification_code", "error_description": "The code is incorrect or expired."})
        else:
            token = "gho_" + secrets.token_hex(18)
            self.tokens[token] = login
            self.secrets.append(token)
            request.reply(200, {"access_token": token, "scope": "read:user", "token_type": "bearer"})

    def good_user(self, request):
        login = self.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if login is None or not request.headers.get("User-Agent"):
            request.reply(401, {"message": "Bad credentials"})
        else:
            request.reply(200, {"login": login, "id": 1, "avatar_url": f"https://avatars.example/{login}"})

    # ---- as it should not be ----

    @staticmethod
    def says(value, status=200):
        return lambda request: request.reply(status, value)

    @staticmethod
    def html(request):
        request.reply(200, b"<!doctype html><title>Unicorn!</title>", kind="text/html")

    @staticmethod
    def oversized(request):
        request.reply(200, json.dumps({"access_token": "x", "login": "ada", "filler": "y" * 3_000_000}).encode())

    @staticmethod
    def endless(request):
        request.handler.send_response(200)
        request.handler.end_headers()
        with contextlib.suppress(OSError):
            while True:
                request.handler.wfile.write(b" " * 65536)

    @staticmethod
    def cut(request):
        request.handler.send_response(200)
        request.handler.send_header("Content-Length", "1000")
        request.handler.end_headers()
        request.handler.wfile.write(b'{"access_token": "x"')
        request.handler.close_connection = True

    def redirecting(self, request):
        request.reply(302, b"", [("Location", f"{self.url}/api/user")])

    def held(self, request):
        """Answers when the test says so, or never."""
        self.waiting += 1
        self.let_go.wait(60)
        self.waiting -= 1
        with contextlib.suppress(OSError):
            request.reply(200, {"error": "slow_down"})
