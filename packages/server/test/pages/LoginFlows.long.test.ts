import { UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import { type Flow, LoginFlows } from "@coffer/server/edges/pages/LoginFlows"
import { toHome } from "@coffer/server/edges/pages/Intents"
import { NodeRequest } from "@coffer/server/http/NodeRequest"
import { KeyringLive } from "@coffer/server/keys/Keyring"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, TestClock, TestContext } from "effect"
import fc from "fast-check"
import { IncomingMessage, type IncomingHttpHeaders } from "node:http"
import { Socket } from "node:net"
import { runs } from "../../../domain/test/support/Runs.js"
import { configAt } from "../support/Services.js"

const minute = 60_000
const ada = Schema.decodeSync(Email)("ada@example.com")
const person = { id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), email: ada, ended: 0, provenAt: null }

const within = (masterKey: string) =>
  LoginFlows.Default.pipe(
    Layer.provideMerge(KeyringLive),
    Layer.provideMerge(
      configAt("service.db", { SERVICE_MASTER_KEY: masterKey, SERVICE_PUBLIC_URL: "https://coffer.test" })
    )
  )
const layer = within("1".repeat(64))
const name = "__Host-coffer-flow"

/** As part of a request with these headers. */
const requested = (headers: IncomingHttpHeaders) => {
  const source = new IncomingMessage(new Socket())
  Object.assign(source.headers, headers)
  return Effect.provideService(
    HttpServerRequest.HttpServerRequest,
    new NodeRequest(source, () => ({ hold: () => true, begin: () => Effect.void }))
  )
}

/** The cookie that a browser has after a flow was kept. */
const kept = (flow: Flow) =>
  Effect.gen(function* () {
    const response = yield* (yield* LoginFlows).keep(HttpServerResponse.empty(), flow)
    const [cookie] = Object.values(response.cookies.cookies)
    assert.strictEqual(cookie?.name, name)
    return cookie?.value ?? ""
  }).pipe(requested({}))

const found = (cookie: string) => Effect.flatMap(LoginFlows, ({ find }) => find).pipe(requested({ cookie }))

type Step = { readonly wait: number } | { readonly keep: "nobody" | "person" }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom(0, 1, 4 * minute, 10 * minute - 1, 10 * minute).map((wait) => ({ wait })),
  fc.constantFrom("nobody" as const, "person" as const).map((keep) => ({ keep }))
)

const run = <A>(test: Effect.Effect<A, unknown, LoginFlows>): Promise<A> =>
  Effect.runPromise(Effect.provide(test, Layer.merge(layer, TestContext.TestContext)))

describe("a login in a browser", () => {
  it("lasts 10 minutes from its last page on, but no more than 10 from the one on which the person was known", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) =>
        run(
          Effect.gen(function* () {
            const { begin } = yield* LoginFlows
            let cookie = ""
            let now = 0
            /** Until when the plain reading says that the flow counts, and until when with its person. */
            let end = 0
            let known: number | null = null
            for (const one of steps) {
              if ("wait" in one) {
                yield* TestClock.adjust(one.wait)
                now += one.wait
              } else {
                const flow = Option.getOrElse(yield* found(cookie), () => begin(toHome))
                if (now >= end) known = null
                const next = one.keep === "person" ? { ...flow, person } : flow
                if (next.person !== null) known ??= now + 10 * minute
                end = known ?? now + 10 * minute
                cookie = `${name}=${yield* kept(next)}`
              }
              const flow = yield* found(cookie)
              assert.strictEqual(Option.isSome(flow), now < end)
              if (Option.isSome(flow)) assert.strictEqual(flow.value.person !== null, known !== null)
            }
          })
        )
      ),
      { numRuns: runs(300) }
    ))

  it("comes back as it was kept, and from no other cookie", () => {
    const flow = fc.record({
      email: fc.option(fc.constant(ada)),
      person: fc.option(fc.constant(person)),
      provider: fc.option(fc.record({ state: fc.string(), nonce: fc.string(), verifier: fc.string() }))
    })
    return fc.assert(
      fc.asyncProperty(flow, fc.nat(), fc.integer({ min: 1, max: 255 }), (parts, at, change) =>
        run(
          Effect.gen(function* () {
            const flow = { ...(yield* LoginFlows).begin(toHome), ...parts }
            const sealed = yield* kept(flow)
            const { expires: _, provenUntil: __, ...others } = Option.getOrThrow(yield* found(`${name}=${sealed}`))
            const { expires: ___, provenUntil: ____, ...expected } = flow
            assert.deepStrictEqual(others, expected)

            const bytes = Buffer.from(sealed, "base64url")
            const index = at % bytes.length
            bytes[index] = (bytes[index] ?? 0) ^ change
            for (const other of [
              `${name}=${bytes.toString("base64url")}`,
              `${name}=${sealed.slice(0, -4)}`,
              `coffer-flow=${sealed}`,
              `${name}=${sealed}; ${name}=${sealed}`
            ]) {
              assert.isTrue(Option.isNone(yield* found(other)), other)
            }
            const elsewhere = yield* found(`${name}=${sealed}`).pipe(Effect.provide(within("2".repeat(64))))
            assert.isTrue(Option.isNone(elsewhere), "opened with another master key")
          })
        )
      ),
      { numRuns: runs(200) }
    )
  })

  it("takes a form that was made for it and that no other site sent", () => {
    const site = fc.constantFrom(undefined, "same-origin", "same-site", "cross-site", "none", "")
    const form = fc.constantFrom<"own" | "another" | "longer" | "none">("own", "another", "longer", "none")
    return fc.assert(
      fc.asyncProperty(site, form, (site, form) =>
        run(
          Effect.gen(function* () {
            const { begin, checkForm } = yield* LoginFlows
            const flow = begin(toHome)
            const csrf = {
              own: flow.csrf,
              another: begin(toHome).csrf,
              longer: `${flow.csrf}x`,
              none: undefined
            }[form]
            const headers = site === undefined ? {} : { "sec-fetch-site": site }
            const passed = yield* Effect.isSuccess(checkForm(flow, csrf)).pipe(requested(headers))
            assert.strictEqual(passed, form === "own" && (site === undefined || site === "same-origin"))
          })
        )
      ),
      { numRuns: runs(200) }
    )
  })
})
