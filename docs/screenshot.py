#!/usr/bin/env python3
"""Pictures of a page in a browser: `python3 docs/screenshot.py PAGE.html OUT.png WIDTH HEIGHT light|dark [#SECTION]`.

Needs `pip install playwright` and a Chromium (`apt install chromium`, or $CHROMIUM). Fails where the page asks for anything but itself, is wider than
its window, or has words in a picture that overlap or are cut: what a reader would stumble over.
"""
import os
import sys

from playwright.sync_api import sync_playwright

OVERLAPS = """() => { const bad = [];
for (const svg of document.querySelectorAll('svg.plot')) { const frame = svg.getBoundingClientRect(); if (!frame.width) continue;
  const words = [...svg.querySelectorAll('text')].map(e => [e.getBoundingClientRect(), e.textContent]);
  words.forEach(([a, text], i) => { if (a.right > frame.right + 1 || a.left < frame.left - 1) bad.push('cut: ' + text);
    for (const [b, other] of words.slice(i + 1)) if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) bad.push(text + ' / ' + other); }); }
return bad }"""


def main() -> int:
    page_file, out, width, height, scheme = sys.argv[1:6]
    section = sys.argv[6] if len(sys.argv) > 6 else ""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": int(width), "height": int(height)}, color_scheme=scheme)
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(f"asks for {request.url}"))
        page.goto(f"file://{os.path.abspath(page_file)}{section}")
        if section:
            # The page scrolls smoothly, and a picture on the way there shows nothing.
            page.evaluate("s => document.querySelector(s).scrollIntoView({behavior: 'instant'})", section)
        wrong += page.evaluate(OVERLAPS)
        if page.evaluate("document.documentElement.scrollWidth") > int(width):
            wrong.append("wider than the window")
        page.screenshot(path=out)
        browser.close()
    for line in wrong:
        print(f"{page_file} at {width}, {scheme}: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
