import { actorName } from "@coffer/domain/access/Actor"
import { RotationId } from "@coffer/domain/base/Ids"
import type { ConnectionName, RotationName } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import { type Rotation, rotationDefaults, RotationWindow } from "@coffer/domain/secrets/Rotation"
import { writesProblem } from "@coffer/domain/secrets/RotationTemplate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { connectionsRepo } from "../connections/Repo.js"
import { turnDues } from "../dues/TurnDues.js"
import { drawnPasswords } from "./DrawnPasswords.js"
import { type RotationRow, rotationsRepo } from "./Repo.js"

export const rotationLimit = recordLimit(20, (max) => `an environment has at most ${max} rotations`)

/** At least as hard to guess as 80 random bits. */
const leastBits = 80

type Writes = Readonly<Record<string, string>>
type Window = typeof RotationWindow.Type

export interface NewRotation {
  readonly name: RotationName
  readonly connection: ConnectionName
  readonly users: ReadonlyArray<string>
  readonly writes: Writes
  readonly every?: string
  readonly window?: Window
  readonly length?: number
  readonly alphabet?: string
}

export interface ChangedRotation {
  readonly writes?: Writes
  readonly every?: string
  readonly window?: Window | null
  readonly paused?: boolean
}

const Terms = Schema.Struct({
  users: Schema.parseJson(Schema.Array(Schema.String)),
  writes: Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String })),
  open_at: Schema.NullOr(Schema.parseJson(RotationWindow))
})
const decodeTerms = Schema.decode(Terms)

/** The terms of a row, which are stored as JSON. */
export const termsOf = ({ open_at, users, writes }: Pick<RotationRow, "open_at" | "users" | "writes">) =>
  Effect.map(Effect.orDie(decodeTerms({ open_at, users, writes })), (terms) => ({ ...terms, window: terms.open_at }))

const rotationOf = (row: RotationRow): Effect.Effect<Rotation> =>
  Effect.map(termsOf(row), ({ users, window, writes }) => ({
    ...{ name: row.name, connection: row.connection, users, writes, every: row.every, window },
    ...{
      length: row.length,
      alphabet: row.alphabet,
      state: row.state,
      next_user: users[row.turn % users.length] ?? ""
    },
    due_at: row.due_at === 0 ? row.updated_at : timestamp(row.due_at),
    ...{ rotated_at: row.rotated_at, failures: row.failures, problem: row.problem, paused: row.paused },
    ...{ created_by: row.created_by, created_at: row.created_at, updated_at: row.updated_at }
  }))

const checkWrites = (writes: Writes, terms: { readonly users: ReadonlyArray<string>; readonly alphabet: string }) => {
  const problem = writesProblem(writes, terms)
  return problem === null ? Effect.void : new ValidationError({ message: `writes: ${problem}` })
}

type ChangingPlace = Place<"rotation.create" | "rotation.update" | "rotation.delete" | "rotation.run">

/** The rotations of an environment. Their turns are done by a job. */
export class Rotations extends Effect.Service<Rotations>()("@coffer/server/Rotations", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const repo = yield* rotationsRepo
    const connections = yield* connectionsRepo
    const passwords = yield* drawnPasswords
    const { clock } = yield* Database
    const noteTurn = yield* turnDues

    /** Notes in the due dates of its secrets when a rotation turns next. */
    const noteNext = ({ env, org }: ChangingPlace, id: RotationId, writes: Writes, millis: number | null) =>
      noteTurn({ id, env_id: env.id, org_id: org.id, keys: Object.keys(writes) }, millis)

    const find = (place: ChangingPlace | Place<"rotation.list">, name: RotationName) =>
      Effect.flatMap(repo.find({ envId: place.env.id, name }), (row) =>
        row === undefined ? notFound(`rotation ${name}`) : Effect.succeed(row)
      )

    const read = (place: ChangingPlace | Place<"rotation.list">, name: RotationName) =>
      Effect.flatMap(find(place, name), rotationOf)

    const record = (place: ChangingPlace, id: RotationId, metadata: Readonly<Record<string, unknown>>) =>
      audit.change(sourceOf(place), { action: place.action, resource_type: "rotation", resource_id: id, metadata })

    const list = traced("Rotations.list")((place: Place<"rotation.list">) =>
      Effect.flatMap(repo.ofEnv({ envId: place.env.id }), (rows) => Effect.forEach(rows, rotationOf))
    )

    const get = traced("Rotations.get")((place: Place<"rotation.list">, name: RotationName) => read(place, name))

    const create = method("Rotations.create", function* (place: Place<"rotation.create">, request: NewRotation) {
      const { alphabet = rotationDefaults.alphabet, every = rotationDefaults.every, name, users, writes } = request
      const { length = rotationDefaults.length, window = null } = request
      const connection = yield* connections.find({ envId: place.env.id, name: request.connection })
      if (connection === undefined) return yield* notFound(`connection ${request.connection}`)
      if (users.includes(connection.login) || new Set(users).size < users.length) {
        return yield* new ValidationError({
          message: "users: must be two different ones, and not the connection's own user"
        })
      }
      if (Object.hasOwn(writes, connection.password_key)) {
        return yield* new ValidationError({ message: "writes: has the secret with the connection's password" })
      }
      if (length * Math.log2(alphabet.length) < leastBits) {
        return yield* new ValidationError({ message: "length: is too short for an alphabet of so few characters" })
      }
      yield* checkWrites(writes, { users, alphabet })
      yield* rotationLimit.room(yield* repo.count({ envId: place.env.id }))
      const id = RotationId.make(yield* uuidV7)
      const created_at = yield* now
      const dueAt = (yield* clock) + spanMillis(every)
      yield* repo
        .insert([
          {
            ...{ id, org_id: place.org.id, env_id: place.env.id, connection_id: connection.id, name, every },
            ...{ users: JSON.stringify(users), writes: JSON.stringify(writes), length, alphabet },
            open_at: window === null ? null : JSON.stringify(window),
            // Programs use the first of two users now.
            ...{ state: "idle", turn: users.length - 1, draw: 0, failures: 0 },
            due_at: dueAt,
            ...{ created_by: actorName(place.actor), created_at, updated_at: created_at }
          }
        ])
        .pipe(orTaken(() => new Conflict({ message: `rotation ${name} exists already` })))
      yield* noteNext(place, id, writes, dueAt)
      yield* record(place, id, { name, connection: connection.name, users, writes: Object.keys(writes), every, window })
      return yield* read(place, name)
    })

    const update = method(
      "Rotations.update",
      function* (place: Place<"rotation.update">, name: RotationName, request: ChangedRotation) {
        const row = yield* find(place, name)
        const before = yield* termsOf(row)
        const { every = row.every, paused, window = before.window, writes = before.writes } = request
        yield* checkWrites(writes, { users: before.users, alphabet: row.alphabet })
        const millis = yield* clock
        const isResumed = paused === false && row.paused !== null
        const isMoved = request.every !== undefined && row.state === "idle" && row.failures === 0
        const pause = paused === undefined ? row.paused : paused ? `paused by ${actorName(place.actor)}` : null
        const dueAt =
          // A turn that was begun goes on at once.
          isResumed && row.state !== "idle"
            ? millis
            : isMoved
              ? Math.min(row.due_at, millis + spanMillis(every))
              : row.due_at
        yield* repo.update({
          id: row.id,
          writes: JSON.stringify(writes),
          every,
          openAt: window === null ? null : JSON.stringify(window),
          paused: pause,
          failures: isResumed ? 0 : row.failures,
          dueAt,
          now: timestamp(millis)
        })
        yield* noteNext(place, row.id, writes, pause === null ? (dueAt === 0 ? millis : dueAt) : null)
        yield* record(place, row.id, {
          name,
          ...(request.writes !== undefined && { writes: Object.keys(writes) }),
          ...(request.every !== undefined && { every }),
          ...(request.window !== undefined && { window }),
          ...(paused !== undefined && { paused })
        })
        return yield* read(place, name)
      }
    )

    const remove = method("Rotations.remove", function* (place: Place<"rotation.delete">, name: RotationName) {
      const row = yield* find(place, name)
      const { users } = yield* termsOf(row)
      if (users.length === 1 && !["idle", "written"].includes(row.state)) {
        return yield* new Conflict({
          message: `rotation ${name} is within a turn, whose password would be lost: wait for its end, or resume it`
        })
      }
      yield* noteNext(place, row.id, {}, null)
      yield* passwords.forget(row)
      yield* repo.remove({ id: row.id })
      yield* record(place, row.id, { name })
    })

    const run = method("Rotations.run", function* (place: Place<"rotation.run">, name: RotationName) {
      const row = yield* find(place, name)
      if (row.paused !== null) {
        return yield* new Conflict({ message: `rotation ${name} is paused (${row.paused}): resume it first` })
      }
      yield* repo.runNow({ id: row.id })
      yield* record(place, row.id, { name })
      return yield* read(place, name)
    })

    return { list, get, create, update, remove, run } as const
  })
}) {}
