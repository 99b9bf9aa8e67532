# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Charts of the documents, as SVG: lines or bars between two axes."""
import math
import pathlib

PLOTS = pathlib.Path(__file__).resolve().parents[1] / "doc" / "plots"
COLOURS = ["#0b62a4", "#d1495b", "#2e8b57", "#c98a00", "#7a5195", "#555555"]
WIDTH, HEIGHT = 640, 300
UPRIGHT = 30  # more height below long names of groups
LEFT, RIGHT, TOP_EDGE, BOTTOM = 64, 150, 34, 46


def round_up(value):
    """The next end of an axis: 1, 2, 4 or 8 times a power of ten."""
    step = 10 ** math.floor(math.log10(value))
    return next(step * n for n in (1, 2, 4, 8, 10) if step * n >= value)


class Chart:
    """Lines or bars between two axes, as SVG text."""

    def __init__(self, title, x_title, y_title, y_max):
        self.y_max = y_max
        self.parts = [
            f'<text x="{LEFT}" y="20" font-weight="bold">{title}</text>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" '
            f'text-anchor="middle">{x_title}</text>',
            f'<text transform="translate(16 {(TOP_EDGE + HEIGHT - BOTTOM) / 2}) '
            f'rotate(-90)" text-anchor="middle">{y_title}</text>',
        ]
        for i in range(5):
            value = y_max * i / 4
            y = self.y(value)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            self.parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" '
                              f'text-anchor="end">{value:g}</text>')
        self.names = 0
        self.height = HEIGHT

    def y(self, value):
        height = HEIGHT - TOP_EDGE - BOTTOM
        return HEIGHT - BOTTOM - min(value / self.y_max, 1) * height

    @staticmethod
    def x(part):
        return LEFT + part * (WIDTH - RIGHT - LEFT)

    def name(self, text):
        """The next entry of the legend. Returns its colour."""
        colour = COLOURS[self.names % len(COLOURS)]
        y = TOP_EDGE + 14 + 18 * self.names
        x = WIDTH - RIGHT + 14
        self.parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        self.parts.append(f'<text x="{x + 16}" y="{y}">{text}</text>')
        self.names += 1
        return colour

    def tick(self, part, text):
        self.parts.append(f'<text x="{self.x(part):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                          f'text-anchor="middle">{text}</text>')

    def line(self, text, points, dots=True):
        colour = self.name(text)
        places = [(self.x(x), self.y(y)) for x, y in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        if dots:
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
                           for x, y in places]

    def level(self, value):
        """A line across, at this value."""
        self.parts.append(f'<path d="M{LEFT} {self.y(value):.1f}H{WIDTH - RIGHT}" '
                          'stroke="#000" stroke-dasharray="4 3"/>')

    def bars(self, groups, series, upright=False):
        """series: (name, one value for each group). upright: long names of groups."""
        room = 1 / len(groups)
        self.height = HEIGHT + UPRIGHT * upright
        for i, group in enumerate(groups):
            if upright:
                self.parts.append(
                    f'<text transform="translate({self.x((i + 0.5) * room) + 4:.1f} '
                    f'{HEIGHT - BOTTOM + 6}) rotate(-90)" text-anchor="end" fill="#000" '
                    f'font-size="10">{group}</text>')
            else:
                self.tick((i + 0.5) * room, group)
        wide = room * 0.8 / len(series)
        for k, (text, values) in enumerate(series):
            colour = self.name(text)
            for i, value in enumerate(values):
                x = self.x(i * room + room * 0.1 + k * wide)
                y = self.y(value)
                self.parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{self.x(wide) - LEFT - 1:.1f}" '
                    f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{colour}"/>')

    def write(self, name):
        PLOTS.mkdir(exist_ok=True)
        text = "\n".join(self.parts)
        (PLOTS / f"{name}.svg").write_text(
            '<!-- SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB -->\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            'font-family="sans-serif" font-size="12">\n'
            f'<rect width="{WIDTH}" height="{self.height}" fill="white"/>\n{text}\n</svg>\n')
