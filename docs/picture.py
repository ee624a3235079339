#!/usr/bin/env python3
"""Draws a terminal's text as an SVG: `python3 docs/picture.py TITLE < report.txt > docs/src/images/report.svg`.

Fixed 8-pixel columns and 17-pixel rows, one <text> a line with its length set, so that it looks the same whatever monospaced font is
there. The title is the command; the lines come from stdin, unchanged but for tabs. Lines that begin at the left margin are headings and lighter.
"""
import html
import sys

COLUMN, ROW, MARGIN, BAR = 8, 17, 14, 30
BACKGROUND, FRAME, TEXT, HEADING, COMMAND = "#16191f", "#2a2f3a", "#c3c9d4", "#ffffff", "#8fd694"


def line(x: int, y: int, text: str, colour: str) -> str:
    width = len(text) * COLUMN
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" textLength="{width}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">'
        f"{html.escape(text)}</text>"
    )


def main() -> None:
    title = sys.argv[1]
    lines = [text.rstrip().expandtabs(8) for text in sys.stdin.read().rstrip("\n").split("\n")]
    width = 2 * MARGIN + COLUMN * max(len(text) for text in [f"$ {title}", *lines])
    height = BAR + 2 * MARGIN + ROW * (len(lines) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
        f'<path d="M0 {BAR} V8 Q0 0 8 0 H{width - 8} Q{width} 0 {width} 8 V{BAR} Z" fill="{FRAME}"/>',
    ]
    out += [f'<circle cx="{16 + 18 * i}" cy="{BAR // 2}" r="5" fill="{c}"/>' for i, c in enumerate(["#e06c60", "#e0b050", "#70b060"])]
    y = BAR + MARGIN + ROW - 5
    out.append(line(MARGIN, y, f"$ {title}", COMMAND))
    for text in lines:
        y += ROW
        if text:
            indent = len(text) - len(text.lstrip())
            out.append(line(MARGIN + indent * COLUMN, y, text[indent:], TEXT if indent else HEADING))
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
