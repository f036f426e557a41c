import type { Actor } from "@coffer/domain/access/Actor"
import type { UseRequest } from "@coffer/domain/secrets/UseRequest"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { NetworkAccess, type Resolved } from "@coffer/server/base/outbound/Outbound"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { Approvals } from "@coffer/server/secrets/use/Approvals"
import { UsePermits } from "@coffer/server/secrets/use/UsePermits"
import { Uses } from "@coffer/server/secrets/use/Uses"
import { type NewTerms, UseRules } from "@coffer/server/secrets/use-rules/UseRules"
import { Headers } from "@effect/platform"
import { Context, Effect, Layer, Redacted, TestClock } from "effect"
import { certificateFor } from "../federations/Issuer.js"
import {
  asActor,
  envPath,
  grant,
  key,
  onDatabase,
  organization,
  orgPath,
  person,
  setSecret,
  transaction,
  withKey
} from "../support/Services.js"
import { Upstream } from "./Upstream.js"

/** The name of the other side: no resolver but that of the tests knows it. */
export const host = "api.test"
const certificate = certificateFor(host, "other.test")

/** A value that occurs nowhere else. */
export const canary = "sk_live_Canary7"

export class Other extends Context.Tag("@coffer/server/World/Other")<Other, Upstream>() {}

const toLoopback = (_host: string): Promise<ReadonlyArray<Resolved>> =>
  Promise.resolve([{ address: "127.0.0.1", family: 4 }])

/** How names are resolved. */
export const resolver = { resolve: toLoopback }

const Network = Layer.succeed(
  NetworkAccess,
  NetworkAccess.of({ resolve: (name) => resolver.resolve(name), certificates: certificate.cert })
)

const upstream = Effect.acquireRelease(
  Effect.promise(() => Upstream.start(certificate)),
  (server) => Effect.promise(() => server.stop())
)

/** Runs a test on a database of its own, with an other side. */
export const withUpstream =
  (settings: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.flatMap(upstream, (server) =>
      test.pipe(
        Effect.provide(
          Layer.mergeAll(
            Uses.Default,
            UseRules.Default,
            Approvals.Default,
            UsePermits.Default,
            ServiceAccounts.Default
          ).pipe(Layer.provide([Network, Mailer.Default]))
        ),
        Effect.provideService(Other, server),
        onDatabase({ SERVICE_BROKER: "1", SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8", ...settings })
      )
    ).pipe(Effect.scoped)

/** An account with a key, as it is after its sign-in. */
export const agent = (name = "agent", reveal = false) =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "service_account.create")).pipe(
      asActor(ada)
    )
    const accounts = yield* ServiceAccounts
    const created = transaction(accounts.create(place, { name: ServiceAccountName.make(name), reveal }))
    const made = yield* Effect.flatMap(created, withKey)
    const { identify } = yield* Authenticator
    return (yield* identify(Headers.fromInput({ "x-api-key": Redacted.value(made.api_key) }))).actor
  })

export const bearer: NewTerms = {
  hosts: [host],
  methods: ["GET", "POST"],
  paths: ["/v1/refunds", "/v1/refunds/*"],
  place: { in: "header", name: "authorization", format: "Bearer {}" },
  accounts: ["agent"]
}

/** Makes a rule as ada, who owns the organization. The port of the other side is added to its hosts. */
export const allow = (terms: Partial<NewTerms> = {}, name = "STRIPE_KEY", env = "prod") =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    const { port } = yield* Other
    const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(env), "use_rule.create")).pipe(
      asActor(ada)
    )
    const hosts = (terms.hosts ?? bearer.hosts).map((one) => `${one}:${port}`)
    const rules = yield* UseRules
    return yield* transaction(rules.create(place, key(name), { ...bearer, ...terms, hosts }))
  })

/** An account with `use` that may refund, at a server that returns what it gets. */
export const world = (terms: Partial<NewTerms> = {}, value = canary) =>
  Effect.gen(function* () {
    resolver.resolve = toLoopback
    yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
    const ada = yield* organization()
    const bot = yield* agent()
    yield* grant(bot, "use")
    yield* setSecret(ada, "STRIPE_KEY", value)
    const rule = yield* allow(terms)
    const other = yield* Other
    return { ada, bot, rule, other }
  })

/** Makes a request as an actor: to the other side, by a path. */
export const ask = (actor: Actor, request: Partial<UseRequest> & { readonly path?: string } = {}) =>
  Effect.gen(function* () {
    const { port } = yield* Other
    const uses = yield* Uses
    const { path = "/v1/refunds", ...rest } = request
    return yield* uses.use(envPath(), {
      method: "GET",
      url: `https://${host}:${port}${path}`,
      secrets: [key("STRIPE_KEY")],
      ...rest
    })
  }).pipe(asActor(actor))

export const refusal = (...parameters: Parameters<typeof ask>) =>
  Effect.map(Effect.flip(ask(...parameters)), (error) =>
    "code" in error ? `${error.code} ${error.message}` : String(error)
  )
