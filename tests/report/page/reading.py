"""A page as a browser's parser sees it: its elements with their attributes, and its texts."""

from html.parser import HTMLParser


class Reading(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self._inside = [], [], ""
        self.code = {"script": [], "style": []}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, _):
        self._inside = ""

    def handle_data(self, data):
        self.code.get(self._inside, self.texts).append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def all(self, tag, part=""):
        return [attrs for name, attrs in self.elements if name == tag and part in (attrs.get("class") or "")]
