import { assert, describe, it } from "@effect/vitest"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { readSession } from "@coffer/client/internal/SessionFile"
import { forgetSession, storeSession } from "@coffer/client/internal/StoredSessions"
import { loadSettings } from "@coffer/client/internal/Settings"
import { trustOrigin } from "@coffer/client/internal/TrustedFiles"
import { Effect, Option, Redacted } from "effect"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { clientFor, folder, json, listen, settleCredential, withVariables } from "./Support.js"

const key = { SERVICE_API_KEY: "svc_sa_key" }
const token = Redacted.make("svc_st_token")
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe("an API key", () => {
  it.scopedLive("does not go to a server that only service.yml names, until a person trusts it", () =>
    Effect.gen(function* () {
      const home = yield* folder
      writeFileSync(join(home, "service.yml"), "server_url: https://evil.example\n")
      const variables = { ...key, HOME: home }
      const settle = (given = {}, more = {}) =>
        settleCredential(given, home).pipe(withVariables({ ...variables, ...more }))
      const error = yield* Effect.flip(settle())
      assert.strictEqual(error._tag, "UntrustedServer")
      assert.include(error.message, "SERVICE_SERVER_URL")
      assert.include(error.message, "coffer trust https://evil.example")
      assert.strictEqual((yield* settle({ serverUrl: "https://evil.example" })).type, "api_key")
      assert.strictEqual((yield* settle({}, { SERVICE_SERVER_URL: "https://evil.example" })).type, "api_key")
      yield* trustOrigin("https://evil.example").pipe(withVariables(variables))
      assert.strictEqual((yield* settle()).type, "api_key")
      assert.strictEqual(mode(join(home, ".config/coffer/trusted")), "600")
    })
  )

  it.scopedLive("is asked for without a home directory, where nothing is stored or trusted", () =>
    Effect.gen(function* () {
      const home = yield* folder
      writeFileSync(join(home, "service.yml"), "server_url: https://evil.example\n")
      const none = yield* Effect.flip(settleCredential({}, home).pipe(withVariables({})))
      assert.strictEqual(none._tag, "NotAuthenticated")
      assert.include(none.message, "set SERVICE_API_KEY")
      const untrusted = yield* Effect.flip(settleCredential({}, home).pipe(withVariables(key)))
      assert.strictEqual(untrusted._tag, "UntrustedServer")
    })
  )

  it.scopedLive("goes to this machine, and goes before a session", () =>
    Effect.gen(function* () {
      const home = yield* folder
      writeFileSync(join(home, "service.yml"), "server_url: http://127.0.0.1:7100\n")
      const variables = { ...key, HOME: home }
      yield* storeSession("http://127.0.0.1:7100", token).pipe(withVariables(variables))
      const credential = yield* settleCredential({}, home).pipe(withVariables(variables))
      assert.strictEqual(credential.type, "api_key")
    })
  )

  it.scopedLive("may come from a file, but not from two places, and is never shown", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const file = join(home, "key")
      writeFileSync(file, "svc_sa_from_file\n")
      const settle = (variables: Record<string, string>) =>
        settleCredential({}, home).pipe(withVariables({ HOME: home, ...variables }))
      const { secret } = yield* settle({ SERVICE_API_KEY_FILE: file })
      assert.strictEqual(Redacted.value(secret), "svc_sa_from_file")
      const bad = [
        { ...key, SERVICE_API_KEY_FILE: file },
        { SERVICE_API_KEY_FILE: join(home, "missing") },
        { SERVICE_API_KEY: "hunter2" },
        { SERVICE_API_KEY: "svc_sa_hunter2\nX-Other: 1" }
      ]
      for (const variables of bad) {
        const error = yield* Effect.flip(settle(variables))
        assert.strictEqual(error._tag, "BadSetting")
        assert.notInclude(error.message, "hunter2")
      }
    })
  )
})

describe("a session", () => {
  it.scopedLive("goes to the origin that issued it and to no other", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const ours = yield* listen((_request, response) => json(response, 200, { data: [] }))
      const theirs = yield* listen((_request, response) => json(response, 200, { data: [] }))
      yield* Effect.gen(function* () {
        yield* storeSession(ours.url, token)
        for (const [server, expected] of [
          [ours, "session"],
          [theirs, "NotAuthenticated"]
        ] as const) {
          const settings = yield* loadSettings({ serverUrl: server.url }, "flag", home)
          const found = yield* Effect.either(credentialFor(yield* settings.server))
          assert.strictEqual(found._tag === "Right" ? found.right.type : found.left._tag, expected)
          if (found._tag === "Right") {
            const client = yield* clientFor(server.url, Option.some(found.right))
            yield* client.call("organizations", (api) => api.list({}))
          }
        }
        // Another name of the same machine is another origin.
        const settings = yield* loadSettings({ serverUrl: ours.url.replace("127.0.0.1", "localhost") }, "flag", home)
        assert.isTrue((yield* Effect.either(credentialFor(yield* settings.server)))._tag === "Left")
      }).pipe(withVariables({ HOME: home }))
      assert.strictEqual(ours.requests[0]?.headers.authorization, "Bearer svc_st_token")
      assert.deepStrictEqual(theirs.requests, [])
    })
  )
})

describe("the session file", () => {
  it.scopedLive("is its owner's alone, written whole, and gone with the last session", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const file = join(home, "xdg/coffer/session")
      yield* Effect.gen(function* () {
        yield* storeSession("https://a.example", token)
        yield* storeSession("https://b.example", Redacted.make("svc_st_other"))
        assert.strictEqual(mode(file), "600")
        assert.strictEqual(mode(join(home, "xdg/coffer")), "700")
        assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), {
          "https://a.example": "svc_st_token",
          "https://b.example": "svc_st_other"
        })
        yield* forgetSession("https://a.example")
        assert.isTrue(Option.isNone(yield* readSession("https://a.example")))
        assert.isTrue(Option.isSome(yield* readSession("https://b.example")))
        yield* forgetSession("https://b.example")
        assert.isFalse(existsSync(file))
      }).pipe(withVariables({ HOME: "/nowhere", XDG_CONFIG_HOME: join(home, "xdg") }))
    })
  )

  it.scopedLive("is refused when others may read it, when it is a link, and when it is something else", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const file = join(home, ".config/coffer/session")
      const read = readSession("https://a.example").pipe(withVariables({ HOME: home }))
      yield* storeSession("https://a.example", token).pipe(withVariables({ HOME: home }))
      for (const wide of [0o640, 0o604, 0o660, 0o777]) {
        chmodSync(file, wide)
        const error = yield* Effect.flip(read)
        assert.include(error.message, `chmod 600 ${file}`)
      }
      chmodSync(file, 0o600)
      renameSync(file, `${file}.real`)
      symlinkSync(`${file}.real`, file)
      assert.match((yield* Effect.flip(read)).message, /symbolic link/)
      // A login is refused too: it would have to read what is there.
      assert.match(
        (yield* Effect.flip(storeSession("https://b.example", token).pipe(withVariables({ HOME: home })))).message,
        /symbolic link/
      )
    })
  )

  it.scopedLive("is refused when it does not say what it should, without showing what it says", () =>
    Effect.gen(function* () {
      const home = yield* folder
      mkdirSync(join(home, ".config/coffer"), { recursive: true })
      for (const text of ["svc_st_hunter2", '{"https://a.example": 1}', '{"https://a.example": "svc st hunter2\\n"}']) {
        writeFileSync(join(home, ".config/coffer/session"), text, { mode: 0o600 })
        const error = yield* Effect.flip(readSession("https://a.example").pipe(withVariables({ HOME: home })))
        assert.match(error.message, /is not a session file/)
        assert.notInclude(error.message, "hunter2")
      }
    })
  )
})
