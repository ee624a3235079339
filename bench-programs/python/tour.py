"""Walks through much of CPython and its library with a result that does not depend on the machine."""
import collections
import decimal
import fractions
import functools
import hashlib
import heapq
import json
import math
import random
import re
import struct
import zlib


def primes(limit):
    sieve = bytearray([1]) * limit
    sieve[:2] = b"\0\0"
    for i in range(2, math.isqrt(limit) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, limit, i)))
    return sum(sieve)


@functools.lru_cache(None)
def paths(x, y):
    return 1 if not x or not y else paths(x - 1, y) + paths(x, y - 1)


class Account:
    def __init__(self, owner):
        self.owner, self.balance = owner, decimal.Decimal("0.00")

    def pay(self, amount):
        if amount <= 0:
            raise ValueError(f"{self.owner}: {amount}")
        self.balance += amount


print("primes", primes(200_000))
print("paths", paths(12, 12))
random.seed(7)
numbers = [random.randrange(10**6) for _ in range(20_000)]
print("sorted", hashlib.sha256(json.dumps(sorted(numbers, key=lambda n: (n % 97, n))).encode()).hexdigest())
print("heap", heapq.nsmallest(5, numbers), round(math.fsum(math.sin(n) for n in numbers), 9))
words = re.findall(r"[a-z]{3,}", (__doc__ + " ".join(map(str, dir(collections)))).lower())
print("words", collections.Counter(w[:2] for w in words).most_common(3))
print("pi", decimal.Context(prec=60).divide(decimal.Decimal(355), decimal.Decimal(113)))
print("harmonic", sum(fractions.Fraction(1, n) for n in range(1, 60)))
print("big", hashlib.md5(str(3**8000).encode()).hexdigest())
data = b"".join(struct.pack("<Id", n, n / 7) for n in numbers)
packed = zlib.compress(data, 6)
print("zlib", zlib.crc32(data), zlib.decompress(packed) == data)
account = Account("ada")
errors = 0
for n in numbers:
    try:
        account.pay(decimal.Decimal(n % 1000 - 100) / 100)
    except ValueError:
        errors += 1
print("account", account.balance, errors)
print("text", "žluťoučký kůň".upper(), "ß".casefold(), "\N{SNOWMAN}".encode().hex())
print("deep", functools.reduce(lambda f, _: lambda: f() + 1, range(20), lambda: 0)())
