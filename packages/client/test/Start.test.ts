import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll } from "vitest"
import { Coffer } from "../src/Coffer.js"
import { Variables } from "../src/internal/Variables.js"
import type { Options } from "../src/Options.js"
import { listen } from "./internal/Support.js"
import { type Account, testPlace } from "./support/Place.js"

const place = testPlace()
let reader: Account

beforeAll(async () => {
  reader = await place.account("reader", "app*")
  await place.environment("app1", { A: "1" })
  await place.environment("other2", { A: "1" })
  await place.environment("app-empty")
})

const start = (env: string, more?: Parameters<typeof place.options>[2]) =>
  Layer.build(Coffer.layer(place.options(env, reader, more)))

describe("a start", () => {
  const wrong: ReadonlyArray<readonly [string, Parameters<typeof place.options>[2], string, RegExp]> = [
    [
      "a key that is none",
      { credential: { apiKey: Redacted.make("canary") } },
      "BadSetting",
      /^credential\.apiKey does not hold an API key/
    ],
    [
      "a key that the server does not know",
      { credential: { apiKey: Redacted.make(`svc_sa_${"a".repeat(49)}`) } },
      "Unauthorized",
      /^credential\.apiKey: http\S+ refuses the credential: it is unknown, expired or revoked$/
    ],
    [
      "a place of two names",
      { place: "acme/webshop" },
      "BadSetting",
      /^place must be ORGANIZATION\/PROJECT\/ENVIRONMENT/
    ],
    [
      "a place that no place is called",
      { place: "acme/Web/prod" },
      "BadSetting",
      /^place must be .*: a project name has/
    ],
    ["a place that does not exist", { place: "acme/nothing/prod" }, "NotFound", /^place: /],
    ["a place without a right to it", { place: "acme/webshop/other2" }, "Forbidden", /^place: .*read/],
    [
      "a place without secrets",
      { place: "acme/webshop/app-empty" },
      "EmptyEnvironment",
      /^place: acme\/webshop\/app-empty holds no secrets$/
    ],
    ["a URL that is none", { server: "coffer" }, "BadSetting", /^server is not a URL$/],
    [
      "a server that is none",
      { server: "http://127.0.0.1:9" },
      "ServerUnreachable",
      /^cannot reach http:\/\/127\.0\.0\.1:9: .*; check the option server$/
    ],
    ["a key that no key is called", { keys: ["a b"] }, "BadSetting", /^keys: "a b": a secret key has/],
    ["no folder", { offline: { folder: "", maxAge: "1 hour" } }, "BadSetting", /^offline\.folder must be the path/],
    [
      "a shell's folder",
      { offline: { folder: "~/x", maxAge: "1 hour" } },
      "BadSetting",
      /^offline\.folder .*without ~/
    ],
    ["no time", { every: 0 }, "BadSetting", /^every must be a time/],
    ["no name", { name: "a\nb" }, "BadSetting", /^name must be a name/]
  ]

  it.scopedLive("says in one sentence which option is wrong", () =>
    Effect.gen(function* () {
      const { url: other } = yield* listen((_, response) => void response.end("<html>"))
      const page = /^http\S+ answered 200, not as a Coffer server does; check the option server$/
      const elsewhere = `${place.server.url}/coffer`
      const path = /^server: http\S+\/coffer has no such path: check the option server$/
      for (const [what, more, tag, sentence] of [
        ...wrong,
        ["another program's server", { server: other }, "UnexpectedResponse", page] as const,
        ["another path of the server", { server: elsewhere }, "NotFound", path] as const
      ]) {
        const error = yield* Effect.flip(start("app1", more))
        assert.strictEqual(error._tag, tag, what)
        assert.match(error.message, sentence, what)
        assert.notInclude(error.message, "canary")
      }
    })
  )

  it.scopedLive("needs a credential, and takes a person's session only if the option says so", () =>
    Effect.gen(function* () {
      const { credential: _, ...options } = place.options("app1", reader, { server: place.server.url })
      const read = (credential: Pick<Options, "credential">, env: Readonly<Record<string, string>>) =>
        Effect.flatMap(Coffer, (coffer) => coffer.get("A")).pipe(
          Effect.provide(Coffer.layer({ ...options, ...credential })),
          Effect.map(Redacted.value),
          Effect.merge,
          Effect.provideService(Variables, env)
        )
      const person = { HOME: place.home.folder }
      const key = join(place.home.folder, "key")
      yield* Effect.sync(() => writeFileSync(key, `${reader.apiKey}\n`, { mode: 0o600 }))
      assert.match(
        String(yield* read({}, person)),
        /no credential: set SERVICE_API_KEY, SERVICE_API_KEY_FILE or SERVICE_ACCOUNT/
      )
      assert.strictEqual(yield* read({ credential: { session: "stored" } }, person), "1")
      assert.match(
        String(yield* read({ credential: { session: "stored" } }, { HOME: "/nowhere" })),
        /credential\.session: there is no session at http\S+: run coffer login/
      )
      const account = { SERVICE_ACCOUNT: "acme/deploy" }
      assert.strictEqual(yield* read({}, { ...account, SERVICE_API_KEY_FILE: key }), "1")
      assert.match(
        String(yield* read({}, { ...person, ...account })),
        /SERVICE_ACCOUNT is acme\/deploy, but there is no/
      )
      const option = { credential: { apiKey: Redacted.make(reader.apiKey) } }
      assert.strictEqual(yield* read(option, { ...account, SERVICE_API_KEY: "canary" }), "1")
      assert.match(String(yield* read({}, { SERVICE_API_KEY: "canary" })), /SERVICE_API_KEY does not hold(?!.*canary)/)
    })
  )
})
