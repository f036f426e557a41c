import { Variables } from "../src/internal/Variables.js"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { beforeAll } from "vitest"
import { Cluster } from "../../cli/test/support/Federations.js"
import { Coffer } from "../src/Coffer.js"
import type { CredentialOption } from "../src/Options.js"
import { testPlace } from "./support/Place.js"

const place = testPlace((url) => ({ SERVICE_PUBLIC_URL: url }))
let cluster: Cluster

beforeAll(async () => {
  cluster = await Cluster.start(place)
  await place.environment("app", { A: "1" })
})

/** Without the bridge: the audience of a token has the port of the server. */
const options = () => ({ server: place.server.url, place: "acme/webshop/app", every: "1 hour" }) as const

describe("an account that signs in", () => {
  it.scopedLive("signs in again at the end of its session, with the token of its platform", () =>
    Effect.gen(function* () {
      const token = yield* Effect.promise(() => cluster.token())
      const env = { SERVICE_ACCOUNT: "acme/deploy", SERVICE_ID_TOKEN: token }
      const built = yield* Layer.build(Coffer.layer(options())).pipe(Effect.provideService(Variables, env))
      const coffer = Context.get(built, Coffer)
      assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
      yield* Effect.promise(() => cluster.endSessions())
      yield* Effect.promise(() => place.write("app", { set: { A: "2" } }))
      const { values } = yield* Effect.provideService(coffer.refresh, Variables, env)
      assert.strictEqual(Redacted.value(values.get("A") ?? Redacted.make("")), "2")
    })
  )

  it.scopedLive("takes a token from its options, and names the option when it cannot sign in", () =>
    Effect.gen(function* () {
      const token = Redacted.make(yield* Effect.promise(() => cluster.token({ jti: "another" })))
      const account = "acme/deploy"
      const coffer = Context.get(
        yield* Layer.build(Coffer.layer({ ...options(), credential: { account, token } })),
        Coffer
      )
      yield* Effect.promise(() => cluster.endSessions())
      yield* coffer.refresh
      const refusals: ReadonlyArray<readonly [CredentialOption, string]> = [
        [{ account: "deploy" }, "credential.account must be ORGANIZATION/ACCOUNT"],
        [{ account }, "credential.account is acme/deploy, but there is no identity token"],
        [{ account, token: Redacted.make("canary") }, "credential.token is not a signed token"],
        [{ account, token: Redacted.make("e30.e30.c2ln") }, "the server does not let acme/deploy sign in"]
      ]
      for (const [credential, sentence] of refusals) {
        const error = yield* Effect.flip(Layer.build(Coffer.layer({ ...options(), credential })))
        assert.include(error.message, sentence)
        assert.notInclude(error.message, "canary")
      }
    })
  )
})
