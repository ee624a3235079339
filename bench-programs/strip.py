"""Keeps the names of a module's functions, for reports and backtraces, and drops its other custom sections: debug information and producers. `strip.py FILE`."""
import pathlib, sys

def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at

path = pathlib.Path(sys.argv[1])
data = path.read_bytes()
out, at = bytearray(data[:8]), 8
while at < len(data):
    begin, kind = at, data[at]
    size, at = leb(data, at + 1)
    if kind == 0:
        length, name = leb(data, at)
    if kind != 0 or data[name : name + length] == b"name":
        out += data[begin : at + size]
    at += size
path.write_bytes(out)
