// Some seconds of JavaScript as people write it: classes, closures, maps, strings, sorting, regular expressions, JSON, typed arrays. Prints `ok CHECKSUM`; the argument repeats it.
"use strict";

function* numbers(seed) {
    for (;;) yield (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 8;
}

function check(condition, what) {
    if (!condition) throw new Error("wrong result: " + what);
}

class Account {
    constructor(owner, balance) {
        this.owner = owner;
        this.balance = balance;
    }
    pay(other, amount) {
        if (this.balance < amount) return false;
        this.balance -= amount;
        other.balance += amount;
        return true;
    }
}

function bank(draw) {
    const accounts = Array.from({ length: 100 }, (_, i) => new Account("owner " + i, 1000));
    let paid = 0;
    for (let i = 0; i < 10000; i++) {
        if (accounts[draw() % 100].pay(accounts[draw() % 100], draw() % 50)) paid++;
    }
    check(accounts.reduce((sum, account) => sum + account.balance, 0) === 100 * 1000, "the bank's money");
    return paid;
}

function words(draw) {
    const text = Array.from({ length: 4000 }, () => Array.from({ length: 1 + (draw() % 3) }, () => String.fromCharCode(97 + (draw() % 26))).join("")).join(" ");
    const counts = new Map();
    for (const word of text.split(" ")) counts.set(word, (counts.get(word) || 0) + 1);
    const ranked = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    check(ranked.reduce((sum, [, count]) => sum + count, 0) === 4000, "the count of the words");
    const vowels = (text.match(/\b[aeiou][a-z]?\b/g) || []).length;
    const again = JSON.parse(JSON.stringify(ranked));
    check(again.length === ranked.length && again[3][0] === ranked[3][0], "a list through JSON");
    return ranked.length * 31 + ranked[0][1] + vowels;
}

function queens(n, row = 0, columns = 0, left = 0, right = 0) {
    if (row === n) return 1;
    let found = 0;
    for (let free = ~(columns | left | right) & ((1 << n) - 1); free; ) {
        const place = free & -free;
        free ^= place;
        found += queens(n, row + 1, columns | place, (left | place) << 1, (right | place) >> 1);
    }
    return found;
}

// Shapes of three classes: one call site, three targets.
class Square { constructor(side) { this.side = side; } area() { return this.side * this.side; } }
class Disc { constructor(radius) { this.radius = radius; } area() { return 3 * this.radius * this.radius; } }
class Pair { constructor(a, b) { this.parts = [a, b]; } area() { return this.parts[0].area() + this.parts[1].area(); } }

function shapes(draw) {
    const all = [];
    let expected = 0;
    for (let i = 0; i < 3000; i++) {
        const [a, b] = [draw() % 10, draw() % 10];
        all.push([new Square(a), new Disc(b), new Pair(new Square(a), new Disc(b))][i % 3]);
        expected += [a * a, 3 * b * b, a * a + 3 * b * b][i % 3];
    }
    const found = all.map((shape) => shape.area()).reduce((x, y) => x + y, 0);
    check(found === expected, "the sum of the areas");
    return found;
}

function sieve(limit) {
    const composite = new Uint8Array(limit);
    let primes = 0;
    for (let n = 2; n < limit; n++) {
        if (composite[n]) continue;
        primes++;
        for (let m = n * n; m < limit; m += n) composite[m] = 1;
    }
    check(primes === 1229, "the primes under 10000");
    return primes;
}

const stream = numbers(42);
const draw = () => stream.next().value;
let checksum = 0;
for (let round = Number(scriptArgs[1] || 10); round > 0; round--) {
    const solutions = queens(8);
    check(solutions === 92, "the queens");
    checksum = (Math.imul(checksum, 31) + bank(draw) + words(draw) + shapes(draw) + sieve(10000) + solutions) >>> 0;
}
print("ok", checksum);
