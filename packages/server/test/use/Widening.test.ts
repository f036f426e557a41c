import { Api } from "@coffer/domain/Api"
import { ValueFlow } from "@coffer/domain/api/Requirement"
import { Access } from "@coffer/server/access/Access"
import { ProjectPreviews } from "@coffer/server/directory/previews/ProjectPreviews"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { EnvName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { HttpApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, TestClock } from "effect"
import type { Actor } from "@coffer/domain/access/Actor"
import {
  asActor,
  enter,
  envPath,
  grant,
  key,
  outcome,
  projectPath,
  removeSecret,
  setSecret,
  transaction
} from "../support/Services.js"
import { agent, allow, withUpstream, world } from "./World.js"

const writing = Layer.mergeAll(ProjectPreviews.Default, History.Default, Promotion.Default, Revisions.Default)

/** A secret in `staging` without rules, and one in `prod` with a rule; two accounts that may write both. */
const scene = Effect.gen(function* () {
  const { ada } = yield* world()
  const blind = yield* agent("blind")
  const seeing = yield* agent("seeing", true)
  yield* Effect.forEach([blind, seeing], (actor) => grant(actor, "write"))
  yield* setSecret(ada, "STRIPE_KEY", "of staging", { path: envPath("staging") })
  return { ada, blind, seeing }
})

const key_ = key("STRIPE_KEY")

const rollback = (actor: Actor, version: number) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enter(actor, "secret.write")
      return yield* (yield* History).rollback(place, key_, { version })
    })
  )

const undelete = (actor: Actor) =>
  transaction(
    Effect.flatMap(enter(actor, "secret.write"), (place) =>
      Effect.flatMap(History, (history) => history.undelete(place, key_))
    )
  )

const copy = (actor: Actor) =>
  transaction(
    Effect.gen(function* () {
      const access = yield* Access
      const from = yield* access.env(envPath("staging"), "secret.copy").pipe(asActor(actor))
      return yield* (yield* Promotion).copy(yield* enter(actor, "secret.write"), from, { keys: [key_] })
    })
  )

const revert = (actor: Actor, to: number) =>
  transaction(
    Effect.gen(function* () {
      return yield* (yield* Revisions).revert(yield* enter(actor, "secret.write"), { to }, undefined)
    })
  )

type Needed = Effect.Effect.Context<typeof scene> | Layer.Layer.Success<typeof writing> | Environments

/** Creates a preview from `staging`, whose secret comes with it. */
const create = (actor: Actor) =>
  Effect.gen(function* () {
    const access = yield* Access
    const from = EnvName.make("staging")
    const name = EnvName.make("pr-1")
    const end = (yield* Clock.currentTimeMillis) + 3_600_000
    return yield* transaction(
      Effect.gen(function* () {
        const place = yield* access.creating(projectPath(), { name, from, end })
        const origin = { from: yield* access.env(envPath("staging"), "secret.copy"), keys: undefined, prepared: null }
        return yield* (yield* Environments).create(place, name, { end, origin })
      })
    ).pipe(asActor(actor))
  })

/** The attempts of an account that may not reveal, for each call of the contract that moves values. */
const moves: Readonly<Record<string, Effect.Effect<void, unknown, Needed>>> = {
  "POST /api/orgs/:org_name/projects/:project_name/envs": Effect.gen(function* () {
    const { ada, blind, seeing } = yield* scene
    const path = envPath("pr-1")
    const remove = (force: boolean) =>
      transaction(
        Effect.flatMap(enter(ada, "env.delete", path), (place) =>
          Effect.flatMap(Environments, (environments) => environments.remove(place, force))
        )
      )
    const terms = { from: EnvName.make("staging"), pattern: Pattern.to.make("pr-*") }
    const previews = yield* ProjectPreviews
    yield* transaction(
      Effect.flatMap(Access, (access) =>
        Effect.flatMap(access.project(projectPath(), "previews.set"), (place) => previews.set(place, terms))
      )
    ).pipe(asActor(ada))
    yield* allow({}, "STRIPE_KEY", "staging")
    assert.strictEqual(yield* outcome(create(blind)), "success", "nothing may be done with it yet")
    yield* setSecret(ada, "REFERS", "${pr-1:STRIPE_KEY}", { kind: "reference" })
    yield* allow({ hosts: ["evil.test"] }, "REFERS")
    yield* remove(true)
    assert.strictEqual(yield* outcome(create(blind)), "UseWidens", "it would be used by what refers to it")
    assert.strictEqual(yield* outcome(create(seeing)), "success", "who may read the value may do as they like")
  }),
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/copy": Effect.gen(function* () {
    const { blind, seeing } = yield* scene
    assert.strictEqual(yield* outcome(copy(blind)), "UseWidens")
    yield* allow({ methods: ["GET"] }, "STRIPE_KEY", "staging")
    assert.strictEqual(yield* outcome(copy(blind)), "UseWidens", "the rule there allows POST too")
    yield* allow({ paths: ["/*"] }, "STRIPE_KEY", "staging")
    assert.strictEqual(yield* outcome(copy(blind)), "success", "the value may be used as widely where it comes from")
    yield* allow({ paths: ["/v1/payouts"] })
    yield* setSecret(seeing, "STRIPE_KEY", "another of staging", { path: envPath("staging") })
    yield* allow({ hosts: ["evil.test"] })
    assert.strictEqual(yield* outcome(copy(blind)), "UseWidens")
    assert.strictEqual(yield* outcome(copy(seeing)), "success", "who may read the value may do as they like")
  }),
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key/rollback": Effect.gen(function* () {
    const { ada, blind, seeing } = yield* scene
    yield* TestClock.adjust("1 minute")
    yield* setSecret(ada, "STRIPE_KEY", "second value")
    assert.strictEqual(yield* outcome(rollback(blind, 1)), "success", "the rule was there for that value")
    yield* TestClock.adjust("1 minute")
    yield* allow({ paths: ["/v1/payouts"] })
    assert.strictEqual(yield* outcome(rollback(blind, 1)), "UseWidens", "the new rule was not meant for it")
    assert.strictEqual(yield* outcome(rollback(seeing, 1)), "success")
  }),
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key/undelete": Effect.gen(function* () {
    const { ada, blind } = yield* scene
    yield* removeSecret(ada, "STRIPE_KEY")
    assert.strictEqual(yield* outcome(undelete(blind)), "success", "with the rules that it had")
  }),
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/revert": Effect.gen(function* () {
    const { ada, blind, seeing } = yield* scene
    yield* removeSecret(ada, "STRIPE_KEY")
    yield* setSecret(ada, "STRIPE_KEY", "second value")
    assert.strictEqual(yield* outcome(revert(blind, 1)), "success", "the new secret has no rule")
    yield* allow({ paths: ["/v1/payouts"] })
    yield* setSecret(ada, "STRIPE_KEY", "third value")
    assert.strictEqual(yield* outcome(revert(blind, 1)), "UseWidens", "the removed secret had another rule")
    assert.strictEqual(yield* outcome(revert(seeing, 1)), "success")
  })
}

const project = "/api/orgs/:org_name/projects"
const rules = `${project}/:project_name/envs/:env_name/secrets/:key/use-rules`
const [targets, connections, rotations, roles, leases] = ["targets", "connections", "rotations", "roles", "leases"].map(
  (kind) => `${project}/:project_name/envs/:env_name/${kind}`
)

/** Changes below projects that put no value into a secret. A new call is in this list, or declares its `ValueFlow`. */
const without = [
  `POST ${project}`,
  `PATCH ${project}/:project_name`,
  `DELETE ${project}/:project_name`,
  `PUT ${project}/:project_name/declared/:key`,
  `DELETE ${project}/:project_name/declared/:key`,
  `PUT ${project}/:project_name/previews`,
  `DELETE ${project}/:project_name/previews`,
  `DELETE ${project}/:project_name/envs/:env_name`,
  `PUT ${project}/:project_name/envs/:env_name/protection`,
  `DELETE ${project}/:project_name/envs/:env_name/protection`,
  `POST ${rules}`,
  `PATCH ${rules}/:use_rule_id`,
  `DELETE ${rules}/:use_rule_id`,
  `POST ${project}/:project_name/envs/:env_name/use`,
  `POST ${targets}`,
  `PATCH ${targets}/:target_name`,
  `DELETE ${targets}/:target_name`,
  `POST ${targets}/:target_name/plan`,
  `POST ${targets}/:target_name/check`,
  `POST ${targets}/:target_name/push`,
  `POST ${connections}`,
  `DELETE ${connections}/:connection_name`,
  `POST ${connections}/:connection_name/test`,
  `DELETE ${connections}/:connection_name/orphans/:lease_id`,
  // The values that a rotation writes are new: none moves.
  `POST ${rotations}`,
  `PATCH ${rotations}/:rotation_name`,
  `DELETE ${rotations}/:rotation_name`,
  `POST ${rotations}/:rotation_name/run`,
  `POST ${roles}`,
  `DELETE ${roles}/:role_name`,
  `POST ${roles}/:role_name/leases`,
  `POST ${leases}/:lease_id/renew`,
  `DELETE ${leases}/:lease_id`,
  // Values come back with the rules that they had.
  `POST ${project}/:project_name/trash/:removed_id/restore`,
  `POST ${project}/:project_name/trash/:removed_id/erase`
]

const changes = (() => {
  const found: Array<{ readonly call: string; readonly flow: string | undefined }> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      if (endpoint.method === "GET" || !endpoint.path.startsWith(project)) return
      const flow = Option.getOrUndefined(Context.getOption(mergedAnnotations, ValueFlow))
      found.push({ call: `${endpoint.method} ${endpoint.path}`, flow })
    }
  })
  return found
})()

describe("a value moves under wider use rules", () => {
  it("by calls that the contract names, each of which has its test here", () => {
    const silent = changes.filter(({ flow }) => flow === undefined).map(({ call }) => call)
    assert.sameMembers(silent, without)
    const moving = changes.filter(({ flow }) => flow === "moved").map(({ call }) => call)
    assert.sameMembers(moving, Object.keys(moves))
  })

  for (const [call, test] of Object.entries(moves)) {
    it.effect(`not by ${call}, unless the account may read it`, () =>
      test.pipe(Effect.provide(writing), withUpstream())
    )
  }
})
