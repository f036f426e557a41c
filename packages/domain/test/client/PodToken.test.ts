import { assert, describe, it } from "@effect/vitest"
import { identityToken, podTokenPath } from "@coffer/domain/client/IdentityToken"
import { Effect, Redacted } from "effect"
import { afterEach, vi } from "vitest"
import { withVariables } from "./Support.js"

/** What stands at paths that a test cannot write to. */
const files = vi.hoisted(() => new Map<string, string>())

vi.mock(import("node:fs"), async (original) => {
  const real = await original()
  const readFileSync = (path: string, encoding: "utf8") => files.get(path) ?? real.readFileSync(path, encoding)
  return {
    ...real,
    existsSync: (path) => files.has(String(path)) || real.existsSync(path),
    // The tests read texts by their paths alone.
    readFileSync: readFileSync as typeof real.readFileSync
  }
})

afterEach(() => {
  files.clear()
})

const read = (variables: Readonly<Record<string, string>> = {}) =>
  identityToken("acme/deploy", "coffer:coffer.example.com/acme/deploy").pipe(withVariables(variables))

describe("the token of a pod", () => {
  it.effect("is read from where the lines for Kubernetes mount it, without any variable", () =>
    Effect.gen(function* () {
      assert.strictEqual(podTokenPath, "/var/run/secrets/coffer/token")
      files.set(podTokenPath, "e30.e30.cG9k\n")
      assert.strictEqual(Redacted.value(yield* read()), "e30.e30.cG9k")
    })
  )

  it.effect("comes after a token that a variable names", () =>
    Effect.gen(function* () {
      files.set(podTokenPath, "e30.e30.cG9k")
      assert.strictEqual(Redacted.value(yield* read({ SERVICE_ID_TOKEN: "e30.e30.dmFy" })), "e30.e30.dmFy")
    })
  )

  it.effect("is read again for each sign-in, because the cluster replaces it", () =>
    Effect.gen(function* () {
      files.set(podTokenPath, "e30.e30.b25l")
      yield* read()
      files.set(podTokenPath, "e30.e30.dHdv")
      assert.strictEqual(Redacted.value(yield* read()), "e30.e30.dHdv")
    })
  )

  it.effect("is not repeated if it is no token", () =>
    Effect.gen(function* () {
      files.set(podTokenPath, "hunter2")
      const { message } = yield* Effect.flip(read())
      assert.include(message, `the content of ${podTokenPath} is not a signed token`)
      assert.notInclude(message, "hunter2")
    })
  )
})
