import { createServer } from "node:https"
import { readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, LogLevel, Redacted } from "effect"
import { certificateFolder, makeCertificate } from "../support/Certificates.js"
import { pageProgram } from "../support/HttpProgram.js"
import { entries, failing } from "../support/Services.js"
import { create, loggingIn, renewing, rotationId, runNow, show, terms, turns, withRotations } from "./World.js"

describe("a rotation by the program of the page", () => {
  it.live("cut off at any statement is done by the next turn, and the stored value logs in at every moment", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* renewing(yield* pageProgram)
      yield* create(terms(database))
      const { turn } = yield* turns
      const id = yield* rotationId
      let at = 1
      for (let user = "app_b"; ; at++) {
        yield* runNow
        const { hit } = yield* failing(at, turn(id))
        const found = yield* loggingIn(ada, database)
        assert.notInclude(JSON.stringify(yield* entries()), found.password)
        if (!hit) break
        yield* turn(id)
        assert.deepInclude(yield* show, { state: "idle", failures: 0, problem: null })
        assert.strictEqual((yield* loggingIn(ada, database)).user, user, `statement ${at}`)
        user = user === "app_b" ? "app_a" : "app_b"
      }
      assert.isAtLeast(at, 15)
    }).pipe(withRotations, Logger.withMinimumLogLevel(LogLevel.None))
  )

  it.scopedLive("does a repeated step once, and refuses one that comes late or is signed with another key", () =>
    Effect.gen(function* () {
      const { admits, target } = yield* pageProgram
      const change = (password: string, confirm: Effect.Effect<void> = Effect.void) =>
        kinds.http.change(target, { user: "app_a", password: Redacted.make(password) }, confirm)
      yield* change("second")
      yield* change("third")
      yield* change("second")
      assert.isTrue(yield* Effect.promise(() => admits("app_a", "third")))
      const late = { ...Clock.make(), currentTimeMillis: Effect.sync(() => Date.now() - 21_000) }
      const woken = yield* Effect.flip(Effect.withClock(change("fourth"), late))
      assert.strictEqual(woken.reason, "login refused")
      const login = { ...target.login, password: Redacted.make("another") }
      assert.strictEqual((yield* Effect.flip(kinds.http.abilities({ ...target, login }))).reason, "login refused")
      assert.strictEqual(
        yield* Effect.flip(
          change("fourth", Effect.die("lost")).pipe(
            Effect.sandbox,
            Effect.mapError((cause) => cause._tag)
          )
        ),
        "Die"
      )
      assert.isTrue(yield* Effect.promise(() => admits("app_a", "third")))
      const unknown = kinds.http.change(target, { user: "app_c", password: Redacted.make("x") }, Effect.void)
      assert.strictEqual((yield* Effect.flip(unknown)).reason, "no user")
      assert.strictEqual((yield* Effect.flip(kinds.http.abilities({ ...target, ca: null }))).reason, "certificate")
      const elsewhere = { ...target, host: "db.example.com" }
      assert.strictEqual((yield* Effect.flip(kinds.http.abilities(elsewhere))).reason, "certificate")
    })
  )

  const lies: ReadonlyArray<readonly [string, string, (response: ServerResponse) => void]> = [
    ["says nothing", "timeout", () => undefined],
    ["hangs up", "connection", (response) => response.destroy()],
    ["sends no JSON", "connection", (response) => response.end("<html>")],
    ["sends a list", "connection", (response) => response.end("[]")],
    [
      "sends more values than anybody needs",
      "connection",
      (response) => response.end(`{"usernames":[${"1,".repeat(60_000)}1]}`)
    ],
    [
      "sends values without end in each other",
      "connection",
      (response) => response.end(`${"[".repeat(40)}${"]".repeat(40)}`)
    ],
    ["redirects", "statement refused", (response) => response.writeHead(307, { location: "https://127.0.0.1/" }).end()],
    ["refuses", "not allowed", (response) => response.writeHead(403).end("canary-text")],
    [
      "sends without end",
      "connection",
      (response) => {
        const more = (): unknown => response.writable && response.write(Buffer.alloc(1 << 16, 32), () => more())
        more()
      }
    ]
  ]
  it.scopedLive.each(lies)("fails if the program %s", ([, reason, respond]) =>
    Effect.gen(function* () {
      const { certFile, keyFile, pem: ca } = makeCertificate(yield* certificateFolder, "liar")
      const server = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const made = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (asked, response) => {
            asked.resume()
            respond(response)
          })
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) =>
          Effect.sync(() => {
            made.closeAllConnections()
            made.close()
          })
      )
      const address = server.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      const failure = yield* Effect.flip(
        kinds.http.abilities({
          ...{ host: "localhost", address: "127.0.0.1", port, database: "renewal", tls: "verify-full", ca },
          login: { user: "renewer", password: Redacted.make("canary-key") }
        })
      )
      assert.strictEqual(failure.reason, reason)
      assert.notInclude(failure.message, "canary")
    })
  )
})
