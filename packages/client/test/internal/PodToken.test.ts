import { assert, describe, it } from "@effect/vitest"
import { identityToken, PodTokenPath } from "@coffer/client/internal/IdentityToken"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, withVariables } from "./Support.js"

/** A cluster that mounts a token, and writes another text there when it is told to. */
const pod = Effect.map(folder, (path) => {
  const file = join(path, "token")
  const read = (variables: Readonly<Record<string, string>> = {}) =>
    identityToken("acme/deploy", "coffer:coffer.example.com/acme/deploy", { setting: "SERVICE_ACCOUNT" }).pipe(
      withVariables(variables),
      Effect.provideService(PodTokenPath, file)
    )
  return { file, read, write: (text: string) => Effect.sync(() => writeFileSync(file, text)) }
})

describe("the token of a pod", () => {
  it.effect("is mounted where the lines for Kubernetes say", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* PodTokenPath, "/var/run/secrets/coffer/token")
    })
  )

  it.scoped("is read without any variable", () =>
    Effect.gen(function* () {
      const { read, write } = yield* pod
      yield* write("e30.e30.cG9k\n")
      assert.strictEqual(Redacted.value(yield* read()), "e30.e30.cG9k")
    })
  )

  it.scoped("comes after a token that a variable names", () =>
    Effect.gen(function* () {
      const { read, write } = yield* pod
      yield* write("e30.e30.cG9k")
      assert.strictEqual(Redacted.value(yield* read({ SERVICE_ID_TOKEN: "e30.e30.dmFy" })), "e30.e30.dmFy")
    })
  )

  it.scoped("is read again for each sign-in, because the cluster replaces it", () =>
    Effect.gen(function* () {
      const { read, write } = yield* pod
      yield* write("e30.e30.b25l")
      yield* read()
      yield* write("e30.e30.dHdv")
      assert.strictEqual(Redacted.value(yield* read()), "e30.e30.dHdv")
    })
  )

  it.scoped("is not repeated if it is no token", () =>
    Effect.gen(function* () {
      const { file, read, write } = yield* pod
      yield* write("hunter2")
      const { message } = yield* Effect.flip(read())
      assert.include(message, `the content of ${file} is not a signed token`)
      assert.notInclude(message, "hunter2")
    })
  )

  it.scoped("is asked for by its path where a pod has no token", () =>
    Effect.gen(function* () {
      const { file, read } = yield* pod
      const { message } = yield* Effect.flip(read({ KUBERNETES_SERVICE_HOST: "10.0.0.1" }))
      assert.include(message, `mount a projected token at ${file}`)
    })
  )
})
