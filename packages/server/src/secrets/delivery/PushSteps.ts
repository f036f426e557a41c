import { createHmac } from "node:crypto"
import type { TargetName } from "@coffer/domain/base/Names"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { type Place, sourceOf } from "../../access/Access.js"
import { type AuditSource, systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { Database } from "../../database/Database.js"
import { Keyring } from "../../keys/Keyring.js"
import { passedEntries } from "../references/ReferenceReader.js"
import { secretsRepo } from "../stored/Repo.js"
import { kinds } from "./Kinds.js"
import { type Plan, planName, planOf } from "./Plan.js"
import { makePlatformCalls } from "./PlatformCalls.js"
import type { Begun, Prepared } from "./Sending.js"
import { targetsRepo } from "./Repo.js"
import { type StoredTarget, storedTarget, Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

/** A push that cannot begin: nothing was sent. */
export class NotBegun extends Data.TaggedError("NotBegun")<{
  readonly why: "changed" | "busy" | "credential"
  readonly message: string
}> {}

export const changedMeanwhile = (name: TargetName) =>
  new NotBegun({
    why: "changed",
    message: `target ${name}: the environment or the platform has changed since the plan, and nothing was sent: plan again`
  })

/** A push by the server itself: the log has it as the server's act, with the person by whose rights it is. */
interface ByItself {
  readonly as: string
}

/** The steps before a push sends: for people who ask for one, and for the job. */
export const makePushSteps = Effect.gen(function* () {
  const audit = yield* AuditLog
  const repo = yield* targetsRepo
  const secrets = yield* secretsRepo
  const targets = yield* Targets
  const values = yield* TargetValues
  const ask = yield* makePlatformCalls
  const { snapshot } = yield* Database
  const { pushDigestKey } = yield* Keyring

  /** Digests under a key of the server: equal ones are those of one value at one name of one target. */
  const digestOf =
    ({ id }: StoredTarget) =>
    (name: string, value: Redacted.Redacted): string =>
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
      return yield* new NotBegun({
        why: "credential",
        message: `target ${name}: the secret ${target.credential_key}, which authenticates there, has no value: ${credential.left}`
      })
    }
    const connection = { place: target.terms.place, credential: credential.right, ask }
    const listed = yield* kind.list(connection)
    const [own, keys] = yield* snapshot(
      Effect.all([repo.own({ id: target.id }), repo.credentials({ envId: place.env.id })])
    )
    const plan: Plan = planOf({
      ...{ kind, terms: target.terms, secrets: found.secrets, listed, own, takeOver, digestOf: digestOf(target) },
      credentials: new Set<string>([...keys.map(({ credential_key }) => credential_key), target.credential_key])
    })
    const { revision, sources } = found
    const prepared: Prepared = {
      ...{ target, kind, connection, listed, own, plan, revision, sources },
      digestOf: digestOf(target)
    }
    return { prepared, passed: found.passed, planned: planName(target.id, revision, listed, plan) }
  })

  /** Begins the push in a transaction: the keys are in the log, and known as ours, before the first value leaves. */
  const begin = Effect.fnUntraced(function* (
    place: Place<"target.push">,
    { own, plan: { put, remove }, revision, target }: Prepared,
    passed: Parameters<typeof passedEntries>[2],
    byItself?: ByItself
  ) {
    const by = (source: AuditSource): AuditSource =>
      byItself === undefined ? source : { ...source, actor: systemSource(`target ${target.name}`).actor }
    const row = yield* targets.find(place, target.name)
    const known = yield* secrets.revision({ envId: place.env.id })
    if (row.id !== target.id || known?.revision !== revision) return yield* changedMeanwhile(target.name)
    const [claimed] = yield* repo.claim({ id: target.id })
    if (claimed === undefined) {
      return yield* new NotBegun({
        why: "busy",
        message: `target ${target.name}: another push goes on: try again in a minute`
      })
    }
    const at = yield* now
    if (put.size + remove.length === 0) return { token: claimed.push_token } satisfies Begun
    yield* audit.change(by(sourceOf(place)), {
      action: "secret.push",
      resource_type: "target",
      resource_id: target.id,
      metadata: {
        ...{ name: target.name, kind: target.kind, revision },
        ...byItself,
        keys: [...put].map(([name, { key, version }]) => ({ key, version, name })),
        ...(remove.length > 0 && { removed: remove })
      }
    })
    const keys = [...put.values()].map(({ key }) => key)
    for (const { event, source } of passedEntries(place, "secret.push", passed, keys)) {
      yield* audit.change(by(source), event)
    }
    const known_ = new Set(own.map(({ name }) => name))
    yield* repo.insertKeys(
      [...put].map(([name, { key }]) => ({
        ...{ target_id: target.id, name, secret_key: key, digest: null, stamp: null, pushed_at: at }
      }))
    )
    return { token: claimed.push_token, isFresh: (name: string) => !known_.has(name) } satisfies Begun
  })

  return { prepare, begin } as const
})
