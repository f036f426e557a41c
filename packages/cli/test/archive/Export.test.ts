import { assert, describe, it } from "@effect/vitest"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { Effect, Redacted } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { decrypt } from "../../src/archive/Age.js"
import { unpack, versionsOf } from "../../src/archive/Unpack.js"
import { runInProcess } from "../support/InProcess.js"

const folder = mkdtempSync(join(tmpdir(), "coffer-export-"))
afterAll(() => rmSync(folder, { recursive: true }))

const time = "2026-01-31T12:00:00.000Z"
const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df1"

interface Stored {
  revision: number
  values: Record<string, string>
}

/** An organization behind a server that gives one version a page. `before` may change it before a request is answered. */
const serving = (envs: Record<string, Stored>, before: (path: string, reads: number) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly paths: ReadonlyArray<string>; readonly server: Server }>((resume) => {
      const paths: Array<string> = []
      const environments = () => Object.keys(envs).map((name) => ({ name }))
      const answer = ({ pathname, searchParams }: URL): unknown => {
        const name = pathname.split("/").at(-1)
        const granted = {
          id,
          state: "ready",
          versions: false,
          created_by: "ada@example.com",
          created_at: time,
          expires_at: time
        }
        if (name === "exports" || name === id) return granted
        if (name === "declared") return { data: [] }
        if (name === "structure") {
          const secrets = Object.values(envs).reduce((sum, { values }) => sum + Object.keys(values).length, 0)
          const counts = { projects: 1, environments: environments().length, secrets, versions: secrets, use_rules: 0 }
          const none = { declared: 0, members: 0, groups: 0, accounts: 0, rules: 0, webhooks: 0 }
          const organization = {
            ...{
              passkey_recovery: "login",
              members: [],
              groups: [],
              mappings: [],
              accounts: [],
              rules: [],
              webhooks: []
            },
            projects: [{ name: "webshop", strict: false, environments: environments() }]
          }
          return { name: "acme", server: "0.3.0", counts: { ...counts, ...none }, organization }
        }
        const stored = envs[searchParams.get("env") ?? ""]
        if (stored === undefined) return undefined
        const { revision, values } = stored
        const after = searchParams.get("after")?.replace(/^v1\./, "") ?? ""
        const [first, second] = Object.entries(values).filter(([key]) => key > after)
        const written = { version: 1, created_at: time, created_by: "ada@example.com", current: { use_rules: [] } }
        const data = first === undefined ? [] : [{ key: first[0], value: first[1], ...written }]
        return { revision, data, next_cursor: second === undefined || first === undefined ? null : `v1.${first[0]}` }
      }
      const server = createServer((request, response) => {
        const url = new URL(request.url ?? "", "http://localhost")
        paths.push(`${request.method} ${url.pathname.split("/").slice(5).join("/")}${url.search}`)
        before(request.url ?? "", paths.length)
        if (request.method === "DELETE") {
          response.writeHead(204).end()
          return
        }
        const found = answer(url)
        const status = found === undefined ? 404 : request.method === "POST" ? 201 : 200
        const body = found ?? { error: { code: "NOT_FOUND", message: "environment gone does not exist" } }
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? address?.port : undefined
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, paths, server }))
      })
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

const exported = Effect.fnUntraced(function* (url: string, out: string) {
  const identity = yield* Effect.promise(generateX25519Identity)
  const recipient = yield* Effect.promise(() => identityToRecipient(identity))
  const env = {
    SERVICE_SERVER_URL: url,
    SERVICE_API_KEY: `svc_sa_${"a".repeat(49)}`,
    SERVICE_ORG: "acme",
    HOME: folder
  }
  const result = yield* runInProcess(["org", "export", "--to-age", recipient, out], env)
  const key = { type: "identities", file: "key.txt", identities: [Redacted.make(identity)] } as const
  const read = Effect.gen(function* () {
    const tar = yield* decrypt(key, out, readFileSync(out))
    const { parts } = yield* unpack(out, tar)
    const all = yield* Effect.forEach(parts, (part) =>
      Effect.map(versionsOf(part), ({ data }) =>
        data.map(({ key, value }) => `${part.env} ${key}=${value === undefined ? "" : Redacted.value(value)}`)
      )
    )
    return all.flat()
  })
  return { ...result, read }
})

describe("coffer org export", () => {
  it.scopedLive("reads again what changes while it is read, also in the middle of an environment", () =>
    Effect.gen(function* () {
      const envs: Record<string, Stored> = {
        dev: { revision: 1, values: { A: "1", B: "2" } },
        gone: { revision: 1, values: { A: "gone" } },
        prod: { revision: 1, values: { A: "3", B: "4" } }
      }
      const changes: Record<string, () => void> = {
        // Between two pages.
        "dev&after=v1.A": () => (envs["dev"] = { revision: 2, values: { A: "5", B: "6" } }),
        // After it was read.
        "prod&after=v1.A": () => (envs["dev"] = { revision: 3, values: { A: "7", B: "8", C: "9" } })
      }
      const { paths, url } = yield* serving(envs, (path) => {
        const name = Object.keys(changes).find((each) => path.endsWith(each))
        if (name === undefined) return
        changes[name]?.()
        delete changes[name]
        delete envs["gone"]
      })
      const out = join(folder, "changed.age")
      const { code, read, stderr, stdout } = yield* exported(url, out)
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "organization acme exported: 1 project, 2 environments, 5 secrets, encrypted in ")
      assert.deepStrictEqual(yield* read, ["dev A=7", "dev B=8", "dev C=9", "prod A=3", "prod B=4"])
      assert.strictEqual(paths.at(-1), `DELETE ${id}`)
    })
  )

  it.scopedLive("gives up with a sentence, and no file, after five rounds", () =>
    Effect.gen(function* () {
      const envs = { dev: { revision: 1, values: { A: "1" } } }
      const { paths, url } = yield* serving(envs, () => {
        envs.dev.revision++
      })
      const out = join(folder, "never.age")
      const { code, stderr } = yield* exported(url, out)
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr,
        `coffer: until 2026-01-31 12:00 UTC, the same command continues with --id ${id}\n` +
          "coffer: acme changes faster than it can be read: export again when fewer people and programs write\n"
      )
      assert.lengthOf(
        paths.filter((path) => path.includes("structure")),
        6
      )
      assert.isFalse(existsSync(out))
    })
  )
})
