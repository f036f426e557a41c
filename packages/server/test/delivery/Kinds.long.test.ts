import type { TargetKindName, TargetPlace } from "@coffer/domain/secrets/TargetKinds"
import { targetKinds } from "@coffer/domain/secrets/TargetKinds"
import { TargetChecks } from "@coffer/server/secrets/delivery/TargetChecks"
import { kinds } from "@coffer/server/secrets/delivery/Kinds"
import { sealedBox } from "@coffer/server/secrets/delivery/kinds/SealedBox"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entries, envPath, raw, removeSecret, setSecret, writeBundle } from "../support/Services.js"
import { accessKeyId, parameterStore, secretsManager } from "./platforms/AwsPlatform.js"
import { pagesPlatform, workersPlatform } from "./platforms/CloudflarePlatform.js"
import { githubPlatform, opened, privateKeyOf } from "./platforms/GithubPlatform.js"
import { gitlabPlatform } from "./platforms/GitlabPlatform.js"
import { kubernetesPlatform } from "./platforms/KubernetesPlatform.js"
import { type Platform, StandIn } from "./platforms/StandIn.js"
import { vercelPlatform } from "./platforms/VercelPlatform.js"
import { asPerson, bao, canary, changesOf, plan, push, withPlatform, world } from "./World.js"

interface Case {
  readonly kind: TargetKindName
  readonly place: (url: string) => TargetPlace
  readonly platform: () => Platform
  /** A name that the platform does not take. */
  readonly badName: string
  /** A value that is a byte too long. */
  readonly tooLong: number
}

const aws = (url: string): TargetPlace => ({
  ...{ region: "eu-central-1", access_key_id: accessKeyId, path: "webshop/prod" },
  url
})
const cloudflareAccount = "023e105f4ecef8ad9ca31a8372d0c353"

const cases: Readonly<Record<string, Case>> = {
  "a repository of GitHub": {
    kind: "github-actions",
    place: (url) => ({ url, repository: "acme/webshop" }),
    platform: () => githubPlatform("/repos/acme/webshop/actions/secrets"),
    badName: "lower",
    tooLong: 48 * 1024 + 1
  },
  "an environment of GitHub": {
    kind: "github-actions",
    place: (url) => ({ url: `${url}/api/v3`, repository: "acme/webshop", environment: "production eu" }),
    platform: () => githubPlatform("/api/v3/repos/acme/webshop/environments/production%20eu/secrets"),
    badName: "GITHUB_TOKEN",
    tooLong: 48 * 1024 + 1
  },
  "an organization of GitHub": {
    kind: "github-actions",
    place: (url) => ({ url, organization: "acme", visibility: "all" }),
    platform: () => githubPlatform("/orgs/acme/actions/secrets"),
    badName: "A-B",
    tooLong: 48 * 1024 + 1
  },
  "a project of GitLab": {
    kind: "gitlab",
    place: (url) => ({ url, project: "acme/webshop", environment_scope: "production", masked: "true" }),
    platform: () => gitlabPlatform("/api/v4/projects/acme%2Fwebshop/variables"),
    badName: "A-B",
    tooLong: 10_001
  },
  "a Secret of Kubernetes": {
    kind: "kubernetes",
    place: (url) => ({ url, namespace: "webshop", name: "webshop-env" }),
    platform: () => kubernetesPlatform("/api/v1/namespaces/webshop/secrets/webshop-env"),
    badName: "A/B",
    tooLong: 0
  },
  "AWS Secrets Manager": {
    kind: "aws-secrets-manager",
    place: aws,
    platform: secretsManager,
    badName: "",
    // As long as values of Coffer are.
    tooLong: 0
  },
  "AWS Parameter Store": {
    kind: "aws-parameter-store",
    place: aws,
    platform: parameterStore,
    badName: "aws_key",
    tooLong: 4097
  },
  Vercel: {
    kind: "vercel",
    place: (url) => ({ url, project: "webshop", environment: "production", team: "team_1" }),
    platform: vercelPlatform,
    badName: "A-B",
    tooLong: 0
  },
  "a Worker of Cloudflare": {
    kind: "cloudflare",
    place: (url) => ({ url: `${url}/client/v4`, account: cloudflareAccount, worker: "webshop" }),
    platform: workersPlatform,
    badName: "A-B",
    tooLong: 5 * 1024 + 1
  },
  "a project of Cloudflare Pages": {
    kind: "cloudflare",
    place: (url) => ({ url: `${url}/client/v4`, account: cloudflareAccount, pages: "webshop" }),
    platform: pagesPlatform,
    badName: "A.B",
    tooLong: 5 * 1024 + 1
  }
}

/** An environment with a target at a stand-in. */
const at = ({ kind, place, platform }: Case, delayMillis = 0) =>
  Effect.gen(function* () {
    const there = platform()
    const standIn = yield* Effect.acquireRelease(
      Effect.promise(() => StandIn.start(there, delayMillis)),
      (made) => Effect.promise(() => made.stop())
    )
    const { ada } = yield* world({ kind, place: place(standIn.url), remove: "own" })
    return { ada, there, standIn }
  })

const check = Effect.flatMap(TargetChecks, (checks) => checks.check(envPath(), bao))

const run = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provide(test, TargetChecks.Default).pipe(withPlatform)

describe("every kind", () => {
  it("has a stand-in", () => {
    const tried = new Set([...Object.values(cases).map(({ kind }) => kind), "vault"])
    assert.sameMembers(Object.keys(targetKinds), [...tried])
  })
})

describe.each(Object.entries(cases))("%s", (_name, one) => {
  const { tells } = kinds[one.kind]

  it.effect("gets new, changed and removed keys, and keeps what others wrote", () =>
    Effect.gen(function* () {
      const { ada, standIn, there } = yield* at(one)
      there.write("OTHER", "somebody's value")
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY new"])
      assert.lengthOf(
        standIn.writes().filter(({ headers }) => headers["x-amz-target"] === undefined),
        0
      )
      yield* push(ada)
      assert.deepStrictEqual(there.values(), { OTHER: "somebody's value", STRIPE_KEY: canary })
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY same"])
      yield* setSecret(ada, "STRIPE_KEY", 'another value: é"\\')
      yield* setSecret(ada, "SECOND", "the second value")
      const masks = one.kind === "gitlab"
      assert.deepStrictEqual(yield* changesOf(ada), [
        "OTHER theirs",
        masks ? "SECOND refused" : "SECOND new",
        masks ? "STRIPE_KEY refused" : "STRIPE_KEY changed"
      ])
      if (masks) {
        yield* setSecret(ada, "STRIPE_KEY", 'another_value:é"\\$X')
        yield* setSecret(ada, "SECOND", "the_second_value")
      }
      yield* push(ada)
      assert.sameMembers(Object.keys(there.values()), ["OTHER", "SECOND", "STRIPE_KEY"])
      assert.match(there.values()["STRIPE_KEY"] ?? "", /^another.value:.?é"\\/)
      yield* removeSecret(ada, "SECOND")
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "SECOND removed", "STRIPE_KEY same"])
      yield* push(ada)
      assert.sameMembers(Object.keys(there.values()), ["OTHER", "STRIPE_KEY"])
    }).pipe(run)
  )

  it.effect("takes over a key of somebody else only when it is told to", () =>
    Effect.gen(function* () {
      const { ada, there } = yield* at(one)
      there.write("STRIPE_KEY", "by_hand_before")
      yield* push(ada)
      assert.deepStrictEqual(there.values(), { STRIPE_KEY: "by_hand_before" })
      yield* push(ada, { take_over: true })
      assert.deepStrictEqual(there.values(), { STRIPE_KEY: canary })
    }).pipe(run)
  )

  it.effect("shows what somebody changed or removed there, and a push repairs it", () =>
    Effect.gen(function* () {
      const { ada, there } = yield* at(one)
      yield* push(ada)
      const state = Effect.map(check.pipe(asPerson(ada), Effect.scoped), ({ data, state }) => [
        state,
        data.map((key) => `${key.name} ${key.state}`).join()
      ])
      const known = tells === "names" ? "unknown" : "in step"
      assert.deepStrictEqual(yield* state, [known, `STRIPE_KEY ${known}`])
      there.write("STRIPE_KEY", "by_hand_since")
      const changed = tells === "names" ? "unknown" : "changed there"
      assert.deepStrictEqual(yield* state, [changed, `STRIPE_KEY ${changed}`])
      if (tells !== "names") {
        assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY changed"])
        yield* push(ada)
        assert.deepStrictEqual(there.values(), { STRIPE_KEY: canary })
      }
      there.write("STRIPE_KEY", null)
      assert.deepStrictEqual(yield* state, ["missing there", "STRIPE_KEY missing there"])
      yield* push(ada)
      assert.deepStrictEqual(there.values(), { STRIPE_KEY: canary })
    }).pipe(run)
  )

  it.effect("refuses names and sizes before anything is sent", () =>
    Effect.gen(function* () {
      const { ada, there } = yield* at(one)
      const { refuses } = kinds[one.kind]
      const place = one.place("http://127.0.0.1:1")
      assert.isNotNull(refuses(one.badName, "long enough", place))
      assert.isNull(refuses("A_1", "long_enough", place))
      if (one.tooLong === 0) return
      assert.isNull(refuses("A", "x".repeat(one.tooLong - 1), place))
      assert.isNotNull(refuses("A", "x".repeat(one.tooLong), place))
      yield* setSecret(ada, "LONG", "x".repeat(one.tooLong))
      const { data } = yield* plan(ada)
      assert.deepInclude(
        data.find(({ name }) => name === "LONG"),
        { change: "refused" }
      )
      yield* push(ada)
      assert.deepStrictEqual(Object.keys(there.values()), ["STRIPE_KEY"])
    }).pipe(run)
  )

  it.effect("tells nothing of a response or a value in failures, entries and rows", () =>
    Effect.gen(function* () {
      const { ada, standIn } = yield* at(one)
      const texts: Array<string> = []
      // A Secret that is not there is an empty one.
      const statuses = [400, 401, 403, 404, 422, 429, 500].filter(
        (status) => status !== 404 || one.kind !== "kubernetes"
      )
      for (const status of statuses) {
        standIn.before = () => ({ status, json: { message: "Canary of a response", __type: "Canary of a type" } })
        texts.push((yield* Effect.flip(Effect.scoped(plan(ada)))).message)
      }
      standIn.before = ({ method }) => (method === "GET" ? undefined : { status: 500, json: { message: "Canary" } })
      yield* Effect.ignore(push(ada))
      texts.push(JSON.stringify(yield* entries()))
      const db = yield* raw
      for (const table of ["targets", "target_keys", "target_sources"]) {
        texts.push(JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all()))
      }
      for (const text of texts) assert.notMatch(text, /Canary/)
      for (const text of texts.slice(0, statuses.length)) assert.match(text, /^target bao: /)
    }).pipe(run)
  )
})

describe("a sealed box", () => {
  // Sealed by libsodium's crypto_box_seal for the key pair of this private key.
  const privateKey = privateKeyOf(
    Buffer.from("77076d0a7318a57d3c16c17251b26645c6db92b3d2fbb5a3c7d8b6a2f3a4c5d6", "hex")
  )

  it("of libsodium is opened by the stand-in, so that it opens what libsodium opens", () => {
    const sealed = "ouVAIzMh2l1CnHMVk+xvQ0TnmeQBhAbULBwOCm6FXzlD3eoWacJazYrGrUZSRd3Sul0R1cBLsVsaxhSNhE9/clgTCg=="
    assert.strictEqual(opened(Buffer.from(sealed, "base64"), privateKey), "sealed by libsodium")
  })

  it.effect("fails for what is no key", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(sealedBox(Buffer.from("short"), "x")), "no key")
      assert.strictEqual(yield* Effect.flip(sealedBox(Buffer.alloc(32), "x")), "no key")
    })
  )
})

describe("many keys", () => {
  const github = cases["a repository of GitHub"] ?? assert.fail()

  it.effect("go there four at a time, and what was done stays done when the platform asks for fewer calls", () =>
    Effect.gen(function* () {
      const { ada, standIn, there } = yield* at(github, 5)
      for (let i = 0; i < 90; i++) yield* setSecret(ada, `KEY_${i}`, `value ${i}`)
      let writes = 0
      standIn.before = ({ method }) =>
        method === "PUT" && ++writes > 50 ? { status: 429, headers: { "retry-after": "7" } } : undefined
      assert.match((yield* Effect.flip(push(ada))).message, /it asks for fewer calls/)
      assert.isAtMost(standIn.most, 4)
      assert.lengthOf(Object.keys(there.values()), 50)
      // A step is over before the storm is seen, and no further one begins.
      assert.isAtMost(writes, 60)
      standIn.before = () => undefined
      const { data } = yield* plan(ada)
      assert.lengthOf(
        data.filter(({ change }) => change === "same"),
        50
      )
      const before = standIn.writes().length
      yield* push(ada)
      assert.strictEqual(standIn.writes().length - before, 41)
      assert.lengthOf(Object.keys(there.values()), 91)
    }).pipe(run)
  )

  it.effect("are pushed: a thousand of them, each once", () =>
    Effect.gen(function* () {
      const { ada, standIn, there } = yield* at(github)
      const wanted = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [`KEY_${i}`, `value ${i}`]))
      yield* writeBundle(ada, { set: wanted })
      const before = standIn.writes().length
      const { left, pushed } = yield* push(ada)
      assert.deepStrictEqual([pushed, left], [1000, 0])
      assert.strictEqual(standIn.writes().length - before, 1000)
      assert.isAtMost(standIn.most, 4)
      assert.deepStrictEqual(there.values(), { ...wanted, STRIPE_KEY: canary })
      assert.isTrue((yield* changesOf(ada)).every((change) => change.endsWith(" same")))
    }).pipe(run)
  )

  it.effect("are read from all pages: a thousand of them in GitLab", () =>
    Effect.gen(function* () {
      const gitlab = cases["a project of GitLab"] ?? assert.fail()
      const { ada, there } = yield* at(gitlab)
      for (let i = 0; i < 1000; i++) there.write(`THEIRS_${i}`, "x")
      assert.lengthOf((yield* plan(ada)).data, 1001)
    }).pipe(run)
  )
})
