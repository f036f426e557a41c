import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { account } from "../support/Services.js"
import { type Claims, gitlabClaims, kubernetesClaims } from "./Signer.js"
import { exchange, federate, start, withIssuer, world } from "./World.js"

type Conditions = Readonly<Record<string, string>>

/** An account `ci` that takes tokens of the issuer on these conditions. Returns what becomes of a token. */
const taking = (conditions: Conditions) =>
  Effect.gen(function* () {
    const { issuer, signer } = yield* world
    const { id } = yield* account("ci")
    yield* federate(id, issuer.url, { conditions })
    const attempt = (claims: Claims) =>
      Effect.promise(() => signer.sign(claims)).pipe(
        Effect.flatMap((token) => exchange(token, "acme/ci")),
        Effect.match({ onSuccess: () => "taken", onFailure: ({ message }) => message.replace(/^.*?token: /, "") })
      )
    return { issuer: issuer.url, attempt }
  })

const audience = "coffer:coffer.example.com/acme/ci"

describe("a token as GitLab publishes it", () => {
  it.effect("is taken by the ids of its project or group, and by nothing else of its ids", () =>
    Effect.gen(function* () {
      const { attempt, issuer } = yield* taking({ "/project_id": "20", "/ref_path": "refs/heads/feature-branch-1" })
      const claims = gitlabClaims(issuer, audience, start)
      assert.strictEqual(yield* attempt(claims), "taken")
      // A pipeline of a fork's merge request has the fork's id.
      assert.strictEqual(
        yield* attempt({ ...claims, project_id: "21" }),
        '/project_id is "21", /namespace_id is "72", /pipeline_id is "574"'
      )
      assert.strictEqual(yield* attempt({ ...claims, ref_path: "refs/heads/x" }), '/ref_path is "refs/heads/x"')
      assert.strictEqual(
        yield* attempt({ ...claims, project_id: 20 }),
        '/project_id is 20, /namespace_id is "72", /pipeline_id is "574"'
      )
      assert.strictEqual(yield* attempt({ ...claims, iat: start - 601 }), `iat is ${start - 601}`)
    }).pipe(withIssuer)
  )

  it.effect("is taken for every project of a group that the condition names", () =>
    Effect.gen(function* () {
      const { attempt, issuer } = yield* taking({ "/namespace_id": "72", "/ref_protected": "true" })
      const claims = gitlabClaims(issuer, audience, start)
      assert.strictEqual(yield* attempt({ ...claims, ref_protected: "true", project_id: "99" }), "taken")
      assert.strictEqual(yield* attempt(claims), '/ref_protected is "false"')
      assert.strictEqual(yield* attempt({ ...claims, ref_protected: true }), "/ref_protected is true")
    }).pipe(withIssuer)
  )
})

describe("a token as Kubernetes publishes it", () => {
  it.effect("is taken by its namespace and account", () =>
    Effect.gen(function* () {
      const names = {
        "/kubernetes.io/namespace": "my-namespace",
        "/kubernetes.io/serviceaccount/name": "my-serviceaccount"
      }
      const { attempt, issuer } = yield* taking(names)
      const claims = kubernetesClaims(issuer, audience, start)
      assert.strictEqual(yield* attempt(claims), "taken")
      const other = { ...claims, "kubernetes.io": { ...Object(claims["kubernetes.io"]), namespace: "other" } }
      assert.match(yield* attempt(other), /\/kubernetes\.io\/namespace is "other"/)
      assert.match(yield* attempt({ ...claims, "kubernetes.io": [names] }), /aud|absent|do not fit/)
      assert.strictEqual(
        yield* attempt({ ...claims, aud: [audience, "https://kubernetes.default.svc"] }),
        `aud is ["${audience}","https://kubernetes.default.svc"]`
      )
    }).pipe(withIssuer)
  )

  it.effect("is taken by the uid of its account, which no later account of the same name has", () =>
    Effect.gen(function* () {
      const uid = "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798"
      const { attempt, issuer } = yield* taking({ "/kubernetes.io/serviceaccount/uid": uid })
      const claims = kubernetesClaims(issuer, audience, start)
      assert.strictEqual(yield* attempt(claims), "taken")
      const later = { namespace: "my-namespace", serviceaccount: { name: "my-serviceaccount", uid: "another" } }
      assert.match(yield* attempt({ ...claims, "kubernetes.io": later }), /serviceaccount\/uid is "another"/)
    }).pipe(withIssuer)
  )
})
