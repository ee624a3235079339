// Runs a WASI preview 1 program under node: node run-node.mjs [--dir HOST::GUEST]... [--env K=V]... FILE [ARGS...]
// Used to check our programs against another engine; exits with the program's code.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const argv = process.argv.slice(2);
const preopens = {};
const env = {};
while (argv.length && argv[0].startsWith("--")) {
  const option = argv.shift();
  const value = argv.shift();
  if (option === "--dir") {
    const [host, guest] = value.split("::");
    preopens[guest ?? host] = host;
  } else if (option === "--env") {
    const cut = value.indexOf("=");
    env[value.slice(0, cut)] = value.slice(cut + 1);
  } else {
    console.error(`run-node: unknown option ${option}`);
    process.exit(2);
  }
}
const wasi = new WASI({ version: "preview1", args: argv, env, preopens, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(argv[0]));
// bun has no getImportObject.
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
process.exit(wasi.start(instance));
