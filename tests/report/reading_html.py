"""A page as a reader sees it: its text without script, and what it refers to."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Text outside script and style, every tag with its attributes, and tags left open."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self.words = []
        self.open = []
        self.wrong = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)
