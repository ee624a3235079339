// Many parts of the language in some milliseconds, and one string at the end: what QuickJS is compared by.
"use strict";
const lines = [];
const say = (name, value) => lines.push(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);

function sieve(limit) {
    const composite = new Uint8Array(limit + 1);
    const primes = [];
    for (let n = 2; n <= limit; n++) {
        if (composite[n]) continue;
        primes.push(n);
        for (let m = n * n; m <= limit; m += n) composite[m] = 1;
    }
    return primes;
}
const primes = sieve(20000);
say("primes", [primes.length, primes.at(-1)]);

class Shape { area() { return 0; } toString() { return `${this.constructor.name} ${this.area().toFixed(6)}`; } }
class Circle extends Shape { #r; constructor(r) { super(); this.#r = r; } area() { return Math.PI * this.#r ** 2; } }
class Square extends Shape { constructor(a) { super(); this.a = a; } area() { return this.a * this.a; } }
say("shapes", [new Circle(1.5), new Square(2), new Circle(0.25)].map(String).join(", "));

function* fibonacci() { for (let [a, b] = [0n, 1n]; ; [a, b] = [b, a + b]) yield a; }
let last = 0n, count = 0;
for (const value of fibonacci()) { last = value; if (++count === 300) break; }
say("fibonacci", last.toString());
say("bigint", (2n ** 521n % 1000000007n).toString());

const words = "the quick brown fox jumps over the lazy dog and the quick cat sleeps".split(" ");
const counts = words.reduce((map, word) => map.set(word, (map.get(word) ?? 0) + 1), new Map());
say("words", [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 5));

const dates = "2024-02-29, 1999-12-31 and 2026-11-22".matchAll(/(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/g);
say("regexp", [...dates].map(({ groups: { year, month, day } }) => `${day}.${month}.${year}`));
say("unicode", "Straße – Ünïcödé – 漢字 😀".normalize("NFD").toUpperCase());

let random = 12345;
const next = () => (random = (Math.imul(random, 1103515245) + 12345) >>> 0) / 2 ** 32;
const matrix = (n) => Array.from({ length: n }, () => Float64Array.from({ length: n }, next));
const multiply = (a, b) => a.map((row) => row.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
const trace = (m) => m.reduce((sum, row, i) => sum + row[i], 0);
say("matrix", trace(multiply(matrix(40), matrix(40))).toString());
say("sorted", Array.from({ length: 2000 }, next).sort((a, b) => a - b).filter((_, i) => i % 400 === 0));

const calls = [];
const proxy = new Proxy({ x: 1 }, { get: (target, key, self) => (calls.push(String(key)), Reflect.get(target, key, self)) });
say("proxy", [proxy.x, "y" in proxy, calls]);
const errors = [() => null.x, () => undefinedName, () => new Array(-1), () => { throw new TypeError("mine", { cause: 7 }); }];
say("errors", errors.map((f) => { try { f(); } catch (error) { return `${error.name}: ${error.message}`; } finally { count++; } }));
const deep = (n) => (n === 0 ? 0 : 1 + deep(n - 1));
say("recursion", deep(300));
say("date", new Date(Date.UTC(2026, 10, 22, 1, 2, 3)).toISOString());
say("json", JSON.parse('{"a":[1,2,{"b":null}],"c":"\\u00e9"}', (key, value) => (key === "b" ? "revived" : value)));

const later = [];
(async () => { for await (const n of [3, Promise.resolve(1), 2]) later.push(n); later.push("done"); })();
globalThis.finish = () => lines.concat(`promises: ${JSON.stringify(later)}`, `finally: ${count}`).join("\n");
