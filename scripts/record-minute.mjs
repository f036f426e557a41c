/**
 * Records the first minute of a newcomer at a terminal as an asciicast, docs/pictures/first-minute.cast: `record-minute.mjs RELEASE`,
 * with the folder of a release that has SQLite for this machine. npx installs both programs from a registry of this script. The
 * keys are typed at a person's pace. Needs `script` of util-linux, and port 7100.
 */
import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { setTimeout as sleep } from "node:timers/promises"

const [release] = process.argv.slice(2)
const [columns, rows] = [100, 32]

/** A key each 80 ms, and a second to read before each line. */
const pace = { key: 80, line: 1000 }

const packages = readdirSync(release)
  .filter((file) => /^coffer-(server-|sqlite-[a-z0-9-]+-)?[\d.]+\.tgz$/.test(file))
  .map((file) => ({
    file,
    content: readFileSync(join(release, file)),
    manifest: JSON.parse(execFileSync("tar", ["-xzOf", join(release, file), "package/package.json"]))
  }))

const registry = createServer(({ headers, url }, response) => {
  const path = decodeURIComponent(url).slice(1)
  const tarball = packages.find(({ file }) => path === file)
  if (tarball !== undefined) return response.end(tarball.content)
  const found = packages.find(({ manifest }) => manifest.name === path)
  if (found === undefined) return response.writeHead(404).end("{}")
  const { content, file, manifest } = found
  const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`
  const version = { ...manifest, dist: { integrity, tarball: `http://${headers.host}/${file}` } }
  const { version: latest } = manifest
  response.end(JSON.stringify({ name: path, "dist-tags": { latest }, versions: { [latest]: version } }))
}).listen(0, "127.0.0.1")
await once(registry, "listening")

const home = mkdtempSync(join(tmpdir(), "first-minute-"))
const shell = spawn("script", ["-qfec", `stty cols ${columns} rows ${rows}; exec bash --norc -i`, "/dev/null"], {
  cwd: home,
  env: {
    PATH: process.env.PATH,
    HOME: home,
    PS1: "$ ",
    TERM: "xterm-256color",
    npm_config_registry: `http://127.0.0.1:${registry.address().port}`,
    npm_config_yes: "true",
    npm_config_update_notifier: "false"
  },
  stdio: ["pipe", "pipe", "inherit"]
})

const began = performance.now()
const events = []
let shown = ""
shell.stdout.setEncoding("utf8").on("data", (text) => {
  events.push([(performance.now() - began) / 1000, "o", text])
  shown += text
})

const until = async (pattern, from = 0) => {
  for (let waited = 0; waited < 60_000; waited += 50) {
    const found = pattern.exec(shown.slice(from))
    if (found !== null) return found
    await sleep(50)
  }
  throw new Error(`nothing like ${pattern} appeared:\n${shown}`)
}

let acts = 0
/** Types a line when something has appeared, and waits for what it brings. */
const type = async (line, expected) => {
  acts += 1
  await sleep(pace.line)
  const from = shown.length
  for (const key of `${line}\r`) {
    shell.stdin.write(key)
    await sleep(pace.key)
  }
  if (expected !== undefined) await until(expected, from)
}

try {
  await until(/\$ /)
  await type("npx @coffer/server dev &", /Ctrl-C/)
  await type("npx coffer init", /Log in now/)
  await type("", /e-mail/i)
  await type("ada@example.com", /Code: /)
  const [, code] = await until(/login code for \S+: (\d{6})/)
  await type(code, /org \(/)
  await type("acme", /project \(/)
  await type("webshop", /env.*: /)
  await type("", /wrote /)
  await type("npx coffer set DATABASE_URL=postgres://app@db.internal/shop", /stored in/)
  const seconds = (performance.now() - began) / 1000
  process.stdout.write(`${acts} lines typed, the first secret after ${seconds.toFixed(1)} s\n`)
  await type("npx coffer run printenv DATABASE_URL", /shop\r\n/)
  await sleep(1500)
  const header = { version: 2, width: columns, height: rows, title: "The first minute with Coffer" }
  const cast = [header, ...events.map(([time, kind, text]) => [Number(time.toFixed(3)), kind, text])]
  const target = fileURLToPath(new URL("../docs/pictures/first-minute.cast", import.meta.url))
  writeFileSync(target, `${cast.map((one) => JSON.stringify(one)).join("\n")}\n`)
} finally {
  shell.stdin.write("\u0003kill %1\rexit\r")
  await sleep(1500)
  shell.kill()
  registry.close()
  rmSync(home, { recursive: true, force: true })
}
