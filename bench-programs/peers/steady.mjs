// A JavaScript engine (node, bun) as a benchmark peer: calls a module's exports until they are stable.
//
//   node steady.mjs FILE MODE SIZE ROUNDS SECONDS     as ../peers/rust/src/protocol.rs says
//
// The module gets the least of WASI that our programs need outside `_start`: nothing is written but complaints, and there are no arguments.
import { readFileSync, writeSync } from "node:fs";

const [file, mode, size, rounds, seconds] = process.argv.slice(2);
let memory;
const view = () => new DataView(memory.buffer);
const wasi = {
  proc_exit(code) {
    throw new Error(`the guest exits with code ${code}`);
  },
  fd_write(fd, vectors, count, written) {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const at = view().getUint32(vectors + 8 * i, true);
      const length = view().getUint32(vectors + 8 * i + 4, true);
      writeSync(2, new Uint8Array(memory.buffer, at, length));
      total += length;
    }
    view().setUint32(written, total, true);
    return 0;
  },
  clock_time_get(clock, precision, out) {
    view().setBigUint64(out, process.hrtime.bigint(), true);
    return 0;
  },
  args_sizes_get(count, bytes) {
    view().setUint32(count, 0, true);
    view().setUint32(bytes, 0, true);
    return 0;
  },
  args_get: () => 0,
};
const BAD_DESCRIPTOR = 8;
const module = new WebAssembly.Module(readFileSync(file));
const imports = { wasi_snapshot_preview1: {} };
for (const { module: from, name } of WebAssembly.Module.imports(module)) imports[from][name] = wasi[name] ?? (() => BAD_DESCRIPTOR);
const { exports } = new WebAssembly.Instance(module, imports);
memory = exports.memory;

const ready = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
exports.setup(+mode, +size);
const wall = [];
const cpu = [];
const begin = process.hrtime.bigint();
const most = 1e9 * +seconds;
let result;
const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
for (;;) {
  const cpuBefore = cpuNow();
  const before = process.hrtime.bigint();
  const value = exports.run(+rounds);
  wall.push(Number(process.hrtime.bigint() - before));
  cpu.push(Math.round(1000 * (cpuNow() - cpuBefore)));
  result ??= value;
  if (value !== result) {
    console.error(`wrong result: one call returned ${value}, an earlier one ${result}`);
    process.exit(1);
  }
  const elapsed = Number(process.hrtime.bigint() - begin);
  if (wall.length >= 5000 || (elapsed >= most && wall.length >= 4) || elapsed >= 10 * most) break;
}
if (!exports.check(+rounds, result)) {
  console.error(`wrong result: ${result}`);
  process.exit(1);
}
console.log(`{"ready_unix_ns":${ready},"result":"${BigInt.asUintN(64, result)}","calls_ns":${JSON.stringify(wall)},"calls_cpu_ns":${JSON.stringify(cpu)}}`);
