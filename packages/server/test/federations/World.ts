import { Federations, type NewFederation } from "@coffer/server/directory/federations/Federations"
import { Exchange } from "@coffer/server/directory/federations/Exchange"
import { TokenTest } from "@coffer/server/directory/federations/TokenTest"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { Access } from "@coffer/server/access/Access"
import { Conditions } from "@coffer/domain/directory/Federation"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import { FederationName } from "@coffer/domain/base/Names"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { Effect, Layer, Redacted, Schema, TestClock } from "effect"
import { account, asActor, onDatabase, organization, orgPath, person, transaction } from "../support/Services.js"
import { certificateFor, host, Issuer } from "./Issuer.js"
import { type Claims, publicUrl, Signer } from "./Signer.js"

/** The time at which tests begin, in seconds. */
export const start = Date.UTC(2026, 0, 31, 12) / 1000

const certificate = certificateFor(host)

/** Names end on this machine; the certificate of the tests is trusted. */
const Network = Layer.succeed(
  NetworkAccess,
  NetworkAccess.of({
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    certificates: certificate.cert
  })
)

export const audience = "coffer:coffer.example.com/acme/deploy"

/** The claims of GitHub Actions, as its documentation publishes them. */
export const githubClaims = (issuer: string, seconds = start): Claims => ({
  jti: "example-id",
  sub: "repo:octo-org/octo-repo:environment:production",
  environment: "production",
  aud: audience,
  ref: "refs/heads/main",
  sha: "example-sha",
  repository: "octo-org/octo-repo",
  repository_owner: "octo-org",
  actor_id: "12",
  repository_visibility: "private",
  repository_id: "74",
  repository_owner_id: "65",
  run_id: "example-run-id",
  run_number: "10",
  run_attempt: "2",
  runner_environment: "github-hosted",
  actor: "octocat",
  workflow: "example-workflow",
  head_ref: "",
  base_ref: "",
  event_name: "workflow_dispatch",
  ref_type: "branch",
  job_workflow_ref: "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main",
  iss: issuer,
  nbf: seconds - 5,
  exp: seconds + 295,
  iat: seconds
})

export const conditions = { "/repository_id": "74", "/environment": "production" }

const decodeConditions = Schema.decodeSync(Conditions)

type Wish = Partial<Omit<NewFederation, "conditions" | "name">> & {
  readonly name?: string
  readonly conditions?: Readonly<Record<string, string>>
}

/** Makes a federation as ada, who owns the organization. */
export const federate = (id: ServiceAccountId, issuer: string, wish: Wish = {}, org = "acme") =>
  Effect.gen(function* () {
    const federations = yield* Federations
    const access = yield* Access
    const ada = yield* person("ada@example.com")
    const request: NewFederation = {
      issuer,
      ...wish,
      name: FederationName.make(wish.name ?? "github"),
      conditions: decodeConditions(wish.conditions ?? conditions)
    }
    yield* federations.vet(request)
    const place = yield* access.org(orgPath(org), "federation.create").pipe(asActor(ada))
    return yield* transaction(federations.create(place, id, request))
  })

export const from = (ip: string) =>
  Effect.provideService(RequestInfo, RequestInfo.of({ id: "", ip, client: null, route: null, actor: null }))

export const exchange = (token: string, name = "acme/deploy", ip = "192.0.2.1") =>
  Effect.flatMap(Exchange, ({ federate }) => federate(Redacted.make(token), name)).pipe(from(ip))

/** An issuer with one key, and an account that takes its tokens. */
export const world = Effect.gen(function* () {
  const { issuer, signer } = yield* Parts
  yield* TestClock.setTime(start * 1000)
  yield* organization()
  const bot = yield* account("deploy")
  const federation = yield* federate(bot.id, issuer.url)
  const claims = githubClaims(issuer.url)
  return { issuer, signer, bot, federation, claims }
})

class Parts extends Effect.Tag("@coffer/server/World/Parts")<
  Parts,
  { readonly issuer: Issuer; readonly signer: Signer }
>() {}

const parts = Effect.acquireRelease(
  Effect.promise(async () => {
    const [issuer, signer] = await Promise.all([Issuer.start(certificate), Signer.make("RS256")])
    issuer.keys = [signer.publicKey]
    return { issuer, signer }
  }),
  ({ issuer }) => Effect.promise(() => issuer.stop())
)

/** Runs a test with an issuer of its own, which the server knows, on a database of its own. */
export const withIssuer = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(parts, (made) =>
    test.pipe(
      Effect.provide(
        Layer.mergeAll(Exchange.Default, Federations.Default, TokenTest.Default).pipe(Layer.provide(Network))
      ),
      Effect.provideService(Parts, made),
      onDatabase({
        SERVICE_PUBLIC_URL: publicUrl,
        SERVICE_OIDC_MACHINE_ISSUERS: made.issuer.url,
        SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8"
      })
    )
  ).pipe(Effect.scoped)
