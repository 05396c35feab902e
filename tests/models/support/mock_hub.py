"""A hub on this machine: the requests by which huggingface_hub fetches a repository."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "fedcba9876543210fedcba9876543210fedcba98"


class MockHub:
    """Serves folders as repositories, each with one commit; ``fetched`` lists the files that were sent."""

    def __init__(self, repositories):
        self.repositories = repositories
        self.fetched = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                outer.reply(self, unquote(urlsplit(self.path).path).strip("/").split("/"))

            def log_message(self, *_):
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def reply(self, request, parts):
        if parts[:2] == ["api", "models"] and (folder := self.repositories.get("/".join(parts[2:4]))):
            files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
            listed = {"id": "/".join(parts[2:4]), "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
            tree = [
                {"type": "file", "path": name, "size": file.stat().st_size, "oid": digest(file.read_bytes())[:40]}
                for name, file in files.items()
            ]
            return self.send(request, json.dumps(tree if parts[4] == "tree" else listed).encode())
        folder = self.repositories.get("/".join(parts[:2]))
        file = folder and folder / "/".join(parts[4:])
        if len(parts) < 5 or parts[2] != "resolve" or not file or not file.is_file():
            request.send_response(404)
            request.send_header("X-Error-Code", "EntryNotFound" if folder else "RepoNotFound")
            request.send_header("Content-Length", "0")
            return request.end_headers()
        if request.command == "GET":
            self.fetched.append("/".join(parts[4:]))
        return self.send(request, file.read_bytes())

    def send(self, request, content):
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.send_header("ETag", f'"{digest(content)}"')
        request.send_header("X-Repo-Commit", COMMIT)
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(content)


def digest(content):
    return hashlib.sha256(content).hexdigest()
