import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { described } from "@coffer/server/config/Descriptions"
import { loadConfig } from "@coffer/server/Config"
import { Effect, Either } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import { parse } from "yaml"
import type { Json } from "../support/Program.js"

const root = new URL("../../../../", import.meta.url)
const deploy = (name: string) => readFileSync(new URL(`deploy/${name}`, root), "utf8")
const folder = mkdtempSync(join(tmpdir(), "coffer-deploy-"))

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const known = new Set(
  described.flatMap(({ variables }) => variables.flatMap(({ variable }) => [variable, `${variable}_FILE`]))
)

describe("deploy/compose.yaml", () => {
  const { networks, secrets, services, volumes }: Json = parse(deploy("compose.yaml"))

  it("runs the server without rights, on a file system that it cannot write to, reached by the proxy alone", () => {
    const { coffer, proxy } = services
    for (const service of [coffer, proxy]) {
      assert.isTrue(service.read_only)
      assert.deepStrictEqual(service.cap_drop, ["ALL"])
      assert.deepStrictEqual(service.security_opt, ["no-new-privileges:true"])
    }
    assert.isUndefined(coffer.ports)
    assert.deepStrictEqual(proxy.ports, ["80:80", "443:443"])
    assert.isTrue(networks.inside.internal)
  })

  it("names only what it declares", () => {
    for (const service of Object.values<Json>(services)) {
      for (const name of service.secrets ?? []) assert.property(secrets, name)
      for (const name of service.networks) assert.property(networks, name)
      for (const mount of service.volumes ?? []) {
        const [source] = String(mount).split(":")
        if (source?.startsWith("./") === true) assert.isTrue(existsSync(new URL(`deploy/${source}`, root)), source)
        else assert.property(volumes, source ?? "")
      }
    }
    assert.strictEqual(services.coffer.build, "../release/container")
  })

  it("gives settings that the server takes", () => {
    const file = join(folder, "key")
    writeFileSync(file, `${"0".repeat(64)}\n`)
    const given: Record<string, string> = services.coffer.environment
    assert.deepStrictEqual(
      Object.keys(given).filter((name) => !known.has(name)),
      []
    )
    const settings = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, name.endsWith("_FILE") ? file : value])
    )
    return Effect.runPromise(Effect.either(loadConfig(settings))).then((result) => {
      assert.isTrue(Either.isRight(result), String(result))
    })
  })
})

describe("deploy/Dockerfile", () => {
  const dockerfile = deploy("Dockerfile")
  const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "))

  it("ends as a user without rights, with a check of health, and bears no secret", () => {
    assert.match(last, /^USER 10001:10001$/m)
    assert.match(last, /^HEALTHCHECK .*\n? *.*\/health\/ready/m)
    assert.notMatch(dockerfile, /^(ARG|ENV) .*(KEY|PASSWORD|TOKEN)/m)
  })

  it("sets what the server knows", () => {
    const variables = [...last.matchAll(/\b((?:SERVICE|SMTP|BACKUP)_[A-Z0-9_]+)=/g)].map(([, name = ""]) => name)
    assert.isAbove(variables.length, 3)
    for (const variable of variables) assert.isTrue(known.has(variable), variable)
  })

  it("compiles SQLite from its source", () => {
    assert.match(dockerfile, /npm_config_build_from_source=true .*npm rebuild better-sqlite3/)
  })
})

describe("deploy/coffer.service", () => {
  const unit = deploy("coffer.service")

  it("sets what the server knows", () => {
    const variables = [...unit.matchAll(/^Environment=([A-Z0-9_]+)=/gm)].map(([, name = ""]) => name)
    assert.isAbove(variables.length, 1)
    for (const variable of variables) assert.isTrue(known.has(variable), variable)
  })

  const has = spawnSync("systemd-analyze", ["--version"], { stdio: "ignore" }).status === 0

  it.skipIf(!has)("is a unit that systemd understands and calls little exposed (needs systemd-analyze)", () => {
    const file = join(folder, "coffer.service")
    // The program itself need not be here.
    writeFileSync(file, unit.replace("/usr/bin/node", "/bin/sh"))
    const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    assert.strictEqual(verified.stderr, "")
    assert.strictEqual(verified.status, 0)
    const judged = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=15", file], {
      encoding: "utf8"
    })
    assert.strictEqual(judged.status, 0, judged.stdout)
  })
})
