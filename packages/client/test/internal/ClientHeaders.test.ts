import { assert, describe, it } from "@effect/vitest"
import { readHeaders } from "@coffer/client/internal/ClientHeaders"
import { exchangeWith } from "@coffer/client/internal/Connection"
import { parseServerUrl, type Source } from "@coffer/client/internal/ServerUrl"
import { trustOrigin } from "@coffer/client/internal/TrustedFiles"
import { Effect, Inspectable, Logger, Redacted } from "effect"
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, json, listen, withVariables } from "./Support.js"

const read = (variables: Record<string, string>) => Effect.either(readHeaders.pipe(withVariables(variables)))
const secret = "hunter2"

describe("the headers for what is before the server", () => {
  it.effect("are those of the variables, with lowercase names, and no text of them shows a value", () =>
    Effect.gen(function* () {
      const found = yield* readHeaders.pipe(
        withVariables({
          SERVICE_HEADER_CF_ACCESS_CLIENT_ID: "a.access",
          SERVICE_HEADER_Proxy_Authorization: `Bearer ${secret}`,
          SERVICE_HEADER_X_EMPTY: "",
          SERVICE_HEADERS_FILE: "",
          SERVICE_HEADROOM: "x"
        })
      )
      assert.deepStrictEqual(
        found.map(({ name, value }) => [name, Redacted.value(value)]),
        [
          ["cf-access-client-id", "a.access"],
          ["proxy-authorization", `Bearer ${secret}`]
        ]
      )
      assert.notInclude(JSON.stringify(found) + Inspectable.toStringUnknown(found), secret)
    })
  )

  it.effect("are never those of the client, its credentials, its connection or the body", () =>
    Effect.gen(function* () {
      for (const name of [
        ...["HOST", "AUTHORIZATION", "COOKIE", "X_API_KEY", "X_VAULT_TOKEN", "CONTENT_TYPE", "CONTENT_LENGTH"],
        ...["TRANSFER_ENCODING", "CONNECTION", "KEEP_ALIVE", "PROXY_CONNECTION", "TE", "TRAILER", "UPGRADE", "VIA"],
        ...["PREFER", "EXPECT", "RANGE", "X_COFFER", "X_COFFER_BREAK_GLASS", "X_COFFER_CLIENT", "x_coffer_reason"],
        ...["USER_AGENT", "ACCEPT", "ACCEPT_ENCODING", "IF_MATCH", "IF_NONE_MATCH", "SEC_FETCH_SITE", "Host"]
      ]) {
        const found = yield* read({ [`SERVICE_HEADER_${name}`]: secret })
        const header = name.toLowerCase().replaceAll("_", "-")
        assert.deepInclude(found, { _tag: "Left" }, name)
        assert.strictEqual(
          found._tag === "Left" ? found.left.message : "",
          `SERVICE_HEADER_${name}: the header ${header} cannot be set: the client or its connection sets it`
        )
      }
    })
  )

  it.scoped("that are wrong are named with their file and line, and never shown", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "headers")
      for (const [text, problem] of [
        [`${secret}\n`, "line 1: this is no header: write NAME: VALUE"],
        [`: ${secret}`, "line 1: this is no header: write NAME: VALUE"],
        [`\n# x\nx y: ${secret}`, "line 3: this is no header: write NAME: VALUE"],
        [` x-a: ${secret}`, "line 1: this is no header: write NAME: VALUE"],
        [`x-a : ${secret}`, "line 1: this is no header: write NAME: VALUE"],
        ["x-a:", "line 1: its value must be printable ASCII text"],
        [`x-a: ${secret}\r${secret}`, "line 1: its value must be printable ASCII text"],
        [`x-a: ${secret}\0`, "line 1: its value must be printable ASCII text"],
        [`x-a: ${secret}\tx`, "line 1: its value must be printable ASCII text"],
        [`x-a: ${secret}ä`, "line 1: its value must be printable ASCII text"],
        [`x-a: 1\nX-A: ${secret}`, "line 2: the header x-a is given twice"],
        [`Cookie: ${secret}`, "line 1: the header cookie cannot be set: the client or its connection sets it"]
      ] as const) {
        writeFileSync(path, text)
        chmodSync(path, 0o600)
        const found = yield* read({ SERVICE_HEADERS_FILE: path })
        const message = found._tag === "Left" ? found.left.message : ""
        assert.strictEqual(message, `SERVICE_HEADERS_FILE: ${path}, ${problem}`)
      }
      for (const value of [`${secret}\r\nx-b: 1`, `${secret}\n`, ` ${secret}`, `${secret}€`]) {
        const found = yield* read({ SERVICE_HEADER_X_A: value })
        const message = found._tag === "Left" ? found.left.message : ""
        assert.strictEqual(message, "SERVICE_HEADER_X_A: its value must be printable ASCII text")
      }
      writeFileSync(path, `x-a: ${secret}\n`)
      const both = yield* read({ SERVICE_HEADERS_FILE: path, SERVICE_HEADER_X_A: secret })
      assert.deepInclude(both, { _tag: "Left" })
      assert.strictEqual(
        both._tag === "Left" ? both.left.message : "",
        "SERVICE_HEADER_X_A: the header x-a is given twice"
      )
    })
  )

  it.scoped("come from a file that only its owner can read, and from no link, folder or missing file", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const path = join(home, "headers")
      writeFileSync(path, "x-a: b:c\r\n")
      for (const mode of [0o640, 0o604, 0o622]) {
        chmodSync(path, mode)
        const found = yield* read({ SERVICE_HEADERS_FILE: path })
        const message = found._tag === "Left" ? found.left.message : ""
        assert.strictEqual(message, `SERVICE_HEADERS_FILE: ${path} can be read by others; run: chmod 600 ${path}`)
      }
      for (const mode of [0o600, 0o400]) {
        chmodSync(path, mode)
        const [header] = yield* readHeaders.pipe(withVariables({ SERVICE_HEADERS_FILE: path }))
        assert.strictEqual(header && Redacted.value(header.value), "b:c")
      }
      symlinkSync(path, join(home, "link"))
      mkdirSync(join(home, "folder"))
      for (const [name, problem] of [
        ["link", "is a symbolic link; put the file itself there"],
        ["folder", "is not a file; move it away"],
        ["missing", "does not exist"]
      ] as const) {
        const found = yield* read({ SERVICE_HEADERS_FILE: join(home, name) })
        const message = found._tag === "Left" ? found.left.message : ""
        assert.strictEqual(message, `SERVICE_HEADERS_FILE: ${join(home, name)} ${problem}`)
      }
    })
  )

  it.scopedLive("go only where the credential may go, and never replace a header of the client", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const server = yield* listen((_, response) => json(response, 200, {}))
      const warnings: Array<unknown> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => warnings.push(message))
      )
      const variables = { HOME: home, SERVICE_HEADER_X_A: secret, SERVICE_HEADER_X_OWN: "theirs" }
      const ask = (source: Source, local: boolean) =>
        Effect.gen(function* () {
          const url = { ...(yield* parseServerUrl(server.url, source)), local }
          const { once } = yield* exchangeWith(url, Effect.succeed({ "x-own": "ours" }))
          yield* once({ url: new URL(`${server.url}/health`), method: "GET" })
          const { headers } = server.requests.at(-1) ?? assert.fail("no request")
          assert.strictEqual(headers["x-own"], "ours")
          return headers["x-a"]
        }).pipe(Effect.scoped, withVariables(variables), Effect.provide(logger))
      assert.strictEqual(yield* ask("variable", false), secret)
      assert.strictEqual(yield* ask("flag", false), secret)
      assert.strictEqual(yield* ask("file", true), secret)
      assert.deepStrictEqual(warnings, [])
      assert.isUndefined(yield* ask("file", false))
      assert.match(
        String(warnings),
        /is not trusted, so what SERVICE_HEADERS_FILE or SERVICE_HEADER_… holds is not sent there: .* coffer trust http/
      )
      assert.notInclude(String(warnings), secret)
      yield* trustOrigin(server.url).pipe(withVariables(variables))
      assert.strictEqual(yield* ask("file", false), secret)
    })
  )
})
