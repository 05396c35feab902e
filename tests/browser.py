"""Headless Chromium, driven by ChromeDriver with the W3C's WebDriver protocol."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from urllib.error import URLError

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
MISSING = "" if CHROMIUM and DRIVER else "needs chromium and chromedriver (Debian: chromium chromium-driver)"
KEYS = {"left": "\ue012", "right": "\ue014", "tab": "\ue004"}
_FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--window-size=900,1000",
]  # fmt: skip
_LONGEST = 240  # seconds of a script: axe takes many on a machine that does much else
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One browser with one window; files that a page offers go to the folder ``downloads``."""

    def __init__(self, downloads):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process = subprocess.Popen([DRIVER, f"--port={self._port}"], stdout=subprocess.DEVNULL)
        self._wait_for_driver()
        options = {
            "binary": CHROMIUM,
            "args": _FLAGS,
            "prefs": {"download.default_directory": str(downloads), "download.prompt_for_download": False},
        }
        wanted = {
            "timeouts": {"script": 1000 * _LONGEST},
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        created = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{created['sessionId']}"

    def open(self, address):
        self._ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector):
        element = self._ask("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self._ask("POST", f"/element/{element}/click", {})

    def write(self, selector, text):
        element = self._ask("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self._ask("POST", f"/element/{element}/value", {"text": text})

    def press(self, *keys):
        codes = [KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": code} for code in codes for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def accept(self):
        """Answer the question that the page asks in a window of its own with yes."""
        self._ask("POST", "/alert/accept", {})

    def log(self, kind):
        return self._ask("POST", "/se/log", {"type": kind})

    def command(self, name, **given):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": given})

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))

    def close(self):
        try:
            self._call("DELETE", self._session)
        finally:
            self._process.terminate()
            self._process.wait()

    def _wait_for_driver(self):
        for _ in range(200):
            try:
                self._call("GET", "/status")
            except URLError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("chromedriver does not answer")

    def _ask(self, method, path, content=None):
        return self._call(method, self._session + path, content)

    def _call(self, method, path, content=None):
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", data=data, method=method)
        request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=_LONGEST) as reply:
            return json.load(reply)["value"]
