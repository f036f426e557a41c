import { actorName } from "@coffer/domain/access/Actor"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import { TargetId } from "@coffer/domain/base/Ids"
import type { SecretKey, TargetName } from "@coffer/domain/base/Names"
import type { Target, TargetAutomation, TargetTerms } from "@coffer/domain/secrets/Target"
import { isTargetKind, placeProblem, type TargetKindName, type TargetPlace } from "@coffer/domain/secrets/TargetKinds"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { now, timestamp } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orTaken } from "../../database/SqlErrors.js"
import { secretNotFound } from "../stored/NotThere.js"
import { secretsRepo } from "../stored/Repo.js"
import { type TargetRow, targetsRepo } from "./Repo.js"

const targetLimit = recordLimit(20, (max) => `an environment has at most ${max} targets`)

type Automation = typeof TargetAutomation.Type

type TargetsPlace = Place<"target.update" | "target.list" | "target.create" | "target.delete" | "target.push">

export interface NewTarget extends Partial<Pick<TargetTerms, "keys" | "rename" | "remove">> {
  readonly name: TargetName
  readonly kind: TargetKindName
  readonly place: TargetPlace
  readonly credential_key: SecretKey
  readonly prefix?: string
  readonly automatic?: Automation
}

export interface ChangedTarget {
  readonly automatic?: Automation
  readonly paused?: boolean
}

const Texts = Schema.Record({ key: Schema.String, value: Schema.String })
const Terms = Schema.parseJson(
  Schema.Struct({
    place: Texts,
    prefix: Schema.NullOr(Schema.String),
    keys: Schema.Array(Schema.String),
    rename: Texts,
    remove: Schema.Literal("own", "never")
  })
)
const decodeTerms = Schema.decode(Terms)

/** A target as it works. A row of a kind that a later release added is a defect. */
export interface StoredTarget extends Pick<TargetRow, "id" | "name" | "credential_key" | "pushed_revision"> {
  readonly kind: TargetKindName
  readonly terms: TargetTerms
}

export const storedTarget = ({ kind, terms, ...row }: TargetRow): Effect.Effect<StoredTarget> =>
  isTargetKind(kind)
    ? Effect.map(Effect.orDie(decodeTerms(terms)), (decoded) => ({ ...row, kind, terms: decoded }))
    : Effect.dieMessage(`target ${row.name} is of a kind that this server does not know`)

const targetOf = ({ id: _id, retry_at, terms, ...row }: TargetRow): Effect.Effect<Target> =>
  Effect.map(Effect.orDie(decodeTerms(terms)), (decoded) => ({
    ...row,
    ...decoded,
    retry_at: retry_at === null ? null : timestamp(retry_at)
  }))

/** The places on other platforms that secrets of an environment are pushed to. */
export class Targets extends Effect.Service<Targets>()("@coffer/server/Targets", {
  effect: Effect.gen(function* () {
    const repo = yield* targetsRepo
    const secrets = yield* secretsRepo
    const audit = yield* AuditLog
    const outbound = yield* Outbound

    const find = Effect.fnUntraced(function* ({ env }: TargetsPlace, name: TargetName) {
      return (yield* repo.find({ envId: env.id, name })) ?? (yield* notFound(`target ${name}`))
    })

    const list = method("Targets.list", function* ({ env }: Place<"target.list">) {
      return yield* Effect.forEach(yield* repo.list({ envId: env.id }), targetOf)
    })

    const get = method("Targets.get", function* (place: Place<"target.list">, name: TargetName) {
      return yield* targetOf(yield* find(place, name))
    })

    const checkPlace = Effect.fnUntraced(function* ({ kind, place }: NewTarget) {
      const problem = placeProblem(kind, place)
      if (problem !== null) return yield* new ValidationError({ message: problem })
      if (place["url"] === undefined) return
      yield* Effect.mapError(
        outbound.check(place["url"]),
        ({ message }) => new ValidationError({ message: `place: url: ${message}` })
      )
    })

    const create = method("Targets.create", function* (place: Place<"target.create">, request: NewTarget) {
      const {
        automatic = "off",
        credential_key,
        keys = [],
        kind,
        name,
        prefix = null,
        remove = "never",
        rename = {}
      } = request
      yield* checkPlace(request)
      if ((yield* secrets.findLive({ envId: place.env.id, key: credential_key })) === undefined) {
        return yield* secretNotFound(credential_key)
      }
      yield* targetLimit.room(yield* repo.count({ envId: place.env.id }))
      const id = TargetId.make(yield* uuidV7)
      const created_at = yield* now
      const terms: TargetTerms = { place: request.place, prefix, keys, rename, remove }
      yield* repo
        .insert([
          {
            ...{ id, env_id: place.env.id, name, kind, credential_key, terms: JSON.stringify(terms) },
            ...{ created_by: actorName(place.actor), creator_id: place.actor.id, created_at },
            ...{ automatic, pusher_id: place.actor.id }
          }
        ])
        .pipe(orTaken(() => new Conflict({ message: `the target name ${name} is in use: choose another` })))
      yield* audit.change(sourceOf(place), {
        action: "target.create",
        resource_type: "target",
        resource_id: id,
        metadata: { name, kind, credential_key, ...terms, automatic }
      })
      return yield* targetOf(yield* find(place, name))
    })

    /** Whoever changes it is the person by whose rights the server pushes from then on. */
    const update = method(
      "Targets.update",
      function* (place: Place<"target.update">, name: TargetName, { automatic, paused }: ChangedTarget) {
        const row = yield* find(place, name)
        yield* repo.setAutomatic({
          id: row.id,
          automatic: automatic ?? row.automatic,
          paused: paused === undefined ? row.paused : paused ? `paused by ${actorName(place.actor)}` : null,
          pusherId: place.actor.id
        })
        yield* audit.change(sourceOf(place), {
          action: "target.update",
          resource_type: "target",
          resource_id: row.id,
          metadata: {
            name,
            kind: row.kind,
            ...(automatic !== undefined && { automatic }),
            ...(paused !== undefined && { paused })
          }
        })
        return yield* targetOf(yield* find(place, name))
      }
    )

    const remove = method("Targets.remove", function* (place: Place<"target.delete">, name: TargetName) {
      const { id, kind, owned } = yield* find(place, name)
      yield* repo.remove({ id })
      yield* audit.change(sourceOf(place), {
        action: "target.delete",
        resource_type: "target",
        resource_id: id,
        metadata: { name, kind, left: owned }
      })
    })

    return { list, get, find, create, update, remove } as const
  }),
  dependencies: [Outbound.Default]
}) {}
