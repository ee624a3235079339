"""Some seconds of pure Python, as people write it: dictionaries, lists, strings, classes, generators. Prints `ok CHECKSUM`; the argument repeats it."""
import sys


class Account:
    def __init__(self, owner, balance):
        self.owner, self.balance = owner, balance

    def pay(self, other, amount):
        if self.balance < amount:
            return False
        self.balance -= amount
        other.balance += amount
        return True


def numbers(seed):
    while True:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 8


def bank(draw):
    accounts = [Account(f"owner {i}", 1000) for i in range(100)]
    paid = sum(accounts[next(draw) % 100].pay(accounts[next(draw) % 100], next(draw) % 50) for _ in range(20000))
    assert sum(account.balance for account in accounts) == 100 * 1000
    return paid


def words(draw):
    text = " ".join("".join(chr(97 + next(draw) % 26) for _ in range(1 + next(draw) % 3)) for _ in range(8000))
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    assert sum(count for _, count in ranked) == 8000
    return len(ranked) * 31 + ranked[0][1]


def queens(n, row=0, columns=0, left=0, right=0):
    if row == n:
        return 1
    found, free = 0, ~(columns | left | right) & ((1 << n) - 1)
    while free:
        place = free & -free
        free ^= place
        found += queens(n, row + 1, columns | place, (left | place) << 1, (right | place) >> 1)
    return found


def matrix(n):
    a = [[(i * j) % 7 - 3.0 for j in range(n)] for i in range(n)]
    return int(sum(sum(x * y for x, y in zip(row, column)) for row in a for column in zip(*a)))


def main(rounds):
    draw, checksum = numbers(42), 0
    for _ in range(rounds):
        solutions = queens(8)
        assert solutions == 92
        checksum = (checksum * 31 + bank(draw) + words(draw) + solutions + matrix(60)) & 0xFFFFFFFF
    print("ok", checksum)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
