"""Writes a picture of 256 x 192 bytes as ITK-Wasm's folder format: circle, gradient and a little noise. usage: picture.py FOLDER"""
import json
import pathlib
import struct
import sys

WIDTH, HEIGHT = 256, 192

folder = pathlib.Path(sys.argv[1])
pixels = bytearray()
state = 1
for y in range(HEIGHT):
    for x in range(WIDTH):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        circle = 127 if (x - 128) ** 2 + (y - 96) ** 2 < 4000 else 0
        pixels.append((x * y // 97 + circle + (state >> 16) % 8) & 255)
(folder / "data").mkdir(parents=True)
(folder / "data/data.raw").write_bytes(pixels)
(folder / "data/direction.raw").write_bytes(struct.pack("<4d", 1, 0, 0, 1))
(folder / "index.json").write_text(
    json.dumps(
        {
            "imageType": {"dimension": 2, "componentType": "uint8", "pixelType": "Scalar", "components": 1},
            "name": "picture",
            "origin": [0.0, 0.0],
            "spacing": [1.0, 1.0],
            "direction": "data:application/vnd.itk.path,data/direction.raw",
            "size": [WIDTH, HEIGHT],
            "metadata": [],
            "data": "data:application/vnd.itk.path,data/data.raw",
        }
    )
)
