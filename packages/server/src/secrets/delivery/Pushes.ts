import { createHmac } from "node:crypto"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { Conflict, UpstreamFailed } from "@coffer/domain/errors/Errors"
import type { TargetName } from "@coffer/domain/base/Names"
import type { PushResult, TargetPlan } from "@coffer/domain/secrets/Target"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { method } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { now } from "../../base/Time.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { Keyring } from "../../keys/Keyring.js"
import type { Value } from "../../keys/Envelope.js"
import { passedEntries } from "../references/ReferenceReader.js"
import { secretsRepo } from "../stored/Repo.js"
import { kinds } from "./Kinds.js"
import { type Plan, planName, planOf } from "./Plan.js"
import { makePlatformCalls } from "./PlatformCalls.js"
import { makeSending, type Prepared } from "./Sending.js"
import { targetsRepo } from "./Repo.js"
import { type StoredTarget, storedTarget, Targets } from "./Targets.js"
import type { PlatformFailed } from "./PlatformFailed.js"
import { TargetValues } from "./TargetValues.js"

export interface PlanRequest {
  readonly take_over?: boolean
}

const changedMeanwhile = (name: TargetName) =>
  new Conflict({
    message: `target ${name}: the environment or the platform has changed since the plan, and nothing was sent: plan again`
  })

const failedAt = (name: TargetName, { reason }: PlatformFailed) =>
  new UpstreamFailed({ message: `target ${name}: ${reason}` })

/** Compares environments with their targets, and pushes secrets there. */
export class Pushes extends Effect.Service<Pushes>()("@coffer/server/Pushes", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const audit = yield* AuditLog
    const repo = yield* targetsRepo
    const secrets = yield* secretsRepo
    const targets = yield* Targets
    const values = yield* TargetValues
    const ask = yield* makePlatformCalls
    const send = yield* makeSending
    const { snapshot } = yield* Database
    const { pushDigestKey } = yield* Keyring

    /** Digests under a key of the server: equal ones are those of one value at one name of one target. */
    const digestOf =
      ({ id }: StoredTarget) =>
      (name: string, value: Value): string =>
        createHmac("sha256", pushDigestKey)
          .update(JSON.stringify([id, name, Redacted.value(value)]))
          .digest("base64url")

    /** Reads both sides. */
    const prepare = Effect.fnUntraced(function* (place: Place<"target.push">, name: TargetName, takeOver: boolean) {
      const target = yield* Effect.flatMap(targets.find(place, name), storedTarget)
      const kind = kinds[target.kind]
      const { found } = yield* values.read(place)
      const credential =
        found.secrets.find(({ key }) => key === target.credential_key)?.value ?? Either.left("is removed")
      if (Either.isLeft(credential)) {
        return yield* new Conflict({
          message: `target ${name}: the secret ${target.credential_key}, which authenticates there, has no value: ${credential.left}`
        })
      }
      const connection = { place: target.terms.place, credential: credential.right, ask }
      const listed = yield* Effect.mapError(kind.list(connection), (failure) => failedAt(name, failure))
      const [own, keys] = yield* snapshot(
        Effect.all([repo.own({ id: target.id }), repo.credentials({ envId: place.env.id })])
      )
      const plan: Plan = planOf({
        ...{ kind, terms: target.terms, secrets: found.secrets, listed, own, takeOver, digestOf: digestOf(target) },
        credentials: new Set<string>([...keys.map(({ credential_key }) => credential_key), target.credential_key])
      })
      const prepared: Prepared = {
        target,
        kind,
        connection,
        listed,
        own,
        plan,
        digestOf: digestOf(target),
        revision: found.revision
      }
      return { prepared, passed: found.passed, planned: planName(target.id, found.revision, listed, plan) }
    })

    const plan = method("Pushes.plan", function* (path: EnvPath, name: TargetName, request: PlanRequest) {
      const place = yield* access.env(path, "target.push")
      const { planned, prepared } = yield* prepare(place, name, request.take_over === true)
      const made: TargetPlan = { target: name, revision: prepared.revision, plan: planned, data: prepared.plan.changes }
      return made
    })

    /** Begins the push in a transaction: the keys are in the log, and known as ours, before the first value leaves. */
    const begin = Effect.fnUntraced(function* (
      place: Place<"target.push">,
      { own, plan: { put, remove }, revision, target }: Prepared,
      passed: Parameters<typeof passedEntries>[2]
    ) {
      const row = yield* targets.find(place, target.name)
      const known = yield* secrets.revision({ envId: place.env.id })
      if (row.id !== target.id || known?.revision !== revision) return yield* changedMeanwhile(target.name)
      const [claimed] = yield* repo.claim({ id: target.id })
      if (claimed === undefined) {
        return yield* new Conflict({ message: `target ${target.name}: another push goes on: try again in a minute` })
      }
      const at = yield* now
      if (put.size + remove.length === 0) return { token: claimed.push_token }
      yield* audit.change(sourceOf(place), {
        action: "secret.push",
        resource_type: "target",
        resource_id: target.id,
        metadata: {
          ...{ name: target.name, kind: target.kind, revision },
          keys: [...put].map(([name, { key, version }]) => ({ key, version, name })),
          ...(remove.length > 0 && { removed: remove })
        }
      })
      const keys = [...put.values()].map(({ key }) => key)
      for (const { event, source } of passedEntries(place, "secret.push", passed, keys)) {
        yield* audit.change(source, event)
      }
      const known_ = new Set(own.map(({ name }) => name))
      yield* repo.insertKeys(
        [...put].map(([name, { key }]) => ({
          ...{ target_id: target.id, name, secret_key: key, digest: null, pushed_at: at }
        }))
      )
      return { token: claimed.push_token, isFresh: (name: string) => !known_.has(name) }
    })

    const push = method(
      "Pushes.push",
      function* (path: EnvPath, name: TargetName, request: PlanRequest & { readonly plan: string }) {
        const entering = access.env(path, "target.push")
        const place = yield* entering
        const { passed, planned, prepared } = yield* prepare(place, name, request.take_over === true)
        if (planned !== request.plan) return yield* changedMeanwhile(name)
        const begun = yield* access.change(entering, (inside) => begin(inside, prepared, passed))
        const done = yield* send(place, prepared, begun).pipe(
          Effect.catchTag("PlatformFailed", (failure) => failedAt(name, failure))
        )
        const result: PushResult = { target: name, revision: prepared.revision, ...done }
        return result
      }
    )

    return { plan, push } as const
  }),
  dependencies: [Targets.Default, TargetValues.Default, Outbound.Default]
}) {}
