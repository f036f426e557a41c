import { actorName } from "@coffer/domain/Actor"
import { Conflict, NotFound } from "@coffer/domain/Errors"
import { SecretId } from "@coffer/domain/Ids"
import type { SecretKey } from "@coffer/domain/Names"
import type { SecretRead, SecretWritten } from "@coffer/domain/Secret"
import { Effect } from "effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { valueChangesOf, warningsOf, WriteChecks } from "../declared/WriteChecks.js"
import { Database } from "../../database/Database.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { dueOf } from "../stored/DueColumns.js"
import { traced } from "../../base/tracing/Traced.js"
import { kindOf } from "../../keys/Envelope.js"
import { ChangesRepo } from "../stored/ChangesRepo.js"
import { checkLimits } from "../stored/Limits.js"
import { secretNotFound, versionNotFound } from "../stored/NotThere.js"
import { SecretsRepo } from "../stored/Repo.js"
import { type Change, referenceAt, ReferenceChecks } from "../references/ReferenceChecks.js"
import { ReferenceReader } from "../references/ReferenceReader.js"
import { type Content, sizeOf, Versions } from "../stored/Versions.js"

/** Fails with Conflict unless a secret is at the expected version; 0 means that it does not exist. */
export const checkExpected = (
  key: SecretKey,
  expected: number | undefined,
  current: number
): Effect.Effect<void, Conflict> =>
  expected === undefined || expected === current
    ? Effect.void
    : new Conflict({
        message:
          current === 0
            ? `secret ${key} does not exist, and version ${expected} was expected`
            : `secret ${key} is at version ${current}, and ${expected === 0 ? "no secret" : `version ${expected}`} was expected`
      })

const asText: Change = { kind: "text" }
const gone: Change = { kind: "gone" }

export class Secrets extends Effect.Service<Secrets>()("@coffer/server/Secrets", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const changes = yield* ChangesRepo
    const versions = yield* Versions
    const audit = yield* AuditLog
    const references = yield* ReferenceChecks
    const referenceReader = yield* ReferenceReader
    const { validate } = yield* WriteChecks
    const { snapshot } = yield* Database

    /** A secret as it is stored. */
    const stored = Effect.fnUntraced(function* (place: Place<"secret.read">, key: SecretKey, version?: number) {
      const row =
        version === undefined
          ? yield* repo.findCurrent({ envId: place.env.id, key })
          : yield* repo.findAt({ envId: place.env.id, key, version })
      if (row === undefined) return yield* version === undefined ? secretNotFound(key) : versionNotFound(key, version)
      if (row.destroyed_at !== null) {
        return yield* new NotFound({ message: `version ${row.version} of secret ${key} was destroyed` })
      }
      const value = yield* versions.open(place, { id: row.id, key, version: row.version }, row)
      return { id: row.id, version: row.version, kind: kindOf(row), value }
    })

    /** A secret with what it refers to, all as of one moment. */
    const resolved = Effect.fnUntraced(function* (place: Place<"secret.read">, key: SecretKey, version?: number) {
      const secret = yield* stored(place, key, version)
      return secret.kind === "text"
        ? { ...secret, passed: [] }
        : { ...secret, ...(yield* referenceReader.valueOf(place, { key, text: secret.value })) }
    }, snapshot)

    /**
     * Reads the current or a given version of a secret; a reference as the value that it leads to, unless `raw` is set. Fails
     * with DecryptionFailed if the row was tampered with, and with ReferenceRefused if a reference leads to no value.
     */
    const read = Effect.fnUntraced(function* (
      place: Place<"secret.read">,
      key: SecretKey,
      version?: number,
      raw = false
    ) {
      const secret = yield* stored(place, key, version)
      const {
        id,
        kind,
        passed,
        value,
        version: found
      } = secret.kind === "text" || raw ? { ...secret, passed: [] } : yield* resolved(place, key, version)
      yield* audit.read(sourceOf(place), {
        action: "secret.read",
        resource_type: "secret",
        resource_id: id,
        metadata: { key, version: found }
      })
      yield* referenceReader.auditPassed(place, passed, [key])
      const answer: SecretRead = { key, value, version: found, ...(kind === "reference" && { kind }) }
      return answer
    })

    const list = traced("Secrets.list")(
      Effect.fnUntraced(function* (place: Place<"secret.list">) {
        const rows = yield* repo.list(place.env.id)
        for (const row of rows) yield* versions.checkNewest(place, row)
        return rows.map(({ key, updated_at, version, ...row }) => ({ key, version, updated_at, ...dueOf(row) }))
      })
    )

    /** Finds the live secret that a change refers to. Fails if its current version is not the newest. */
    const currentOf = Effect.fnUntraced(function* (place: Place<"secret.write">, key: SecretKey) {
      const current = yield* repo.findLive({ envId: place.env.id, key })
      if (current !== undefined) yield* versions.checkNewest(place, { ...current, key })
      return current
    })

    /** Writes a new version. Fails with Conflict if the current version is not the expected one (0: no secret). */
    const set = traced("Secrets.set")(
      Effect.fnUntraced(function* (
        place: Place<"secret.write">,
        key: SecretKey,
        content: Content,
        expectedVersion?: number
      ) {
        const written_at = yield* now
        const totals = yield* changes.totals(place.env)
        const current = yield* currentOf(place, key)
        yield* checkExpected(key, expectedVersion, current?.version ?? 0)
        const after = {
          secret_count: totals.secret_count + (current === undefined ? 1 : 0),
          value_bytes: totals.value_bytes - (current?.value_bytes ?? 0) + sizeOf(content.value)
        }
        yield* checkLimits(totals, after)
        const change = content.kind === "text" ? asText : yield* referenceAt(key, content.value)
        const admitted = yield* references.admit(place, new Map([[key, change]]))
        const warnings = yield* validate(place, totals, valueChangesOf(key, content))
        const { created_at, id, version } =
          current === undefined
            ? { id: SecretId.make(yield* uuidV7), version: 1, created_at: written_at }
            : { ...current, version: current.version + 1 }
        const revision = totals.revision + 1
        yield* versions.write(place, [{ id, key, version, ...content }], { revision, at: written_at }, admitted)
        yield* changes.moveDues(totals, place.env.id, { revision, at: written_at })
        yield* changes.setTotals({ id: place.env.id, revision, ...after })
        yield* audit.write(sourceOf(place), {
          action: "secret.set",
          resource_type: "secret",
          resource_id: id,
          metadata: { key, version }
        })
        const written: SecretWritten = {
          key,
          version,
          created_at,
          updated_at: written_at,
          ...warningsOf(warnings)
        }
        return written
      })
    )

    const remove = traced("Secrets.remove")(
      Effect.fnUntraced(function* (
        place: Place<"secret.write">,
        key: SecretKey,
        expectedVersion?: number,
        force = false
      ) {
        const removed_at = yield* now
        const totals = yield* changes.totals(place.env)
        const current = yield* currentOf(place, key)
        if (current === undefined) return yield* secretNotFound(key)
        yield* checkExpected(key, expectedVersion, current.version)
        yield* references.admitRemoval(place, new Map([[key, gone]]), force)
        const revision = totals.revision + 1
        yield* changes.remove({
          env_id: place.env.id,
          revision,
          key,
          secret_id: current.id,
          version: current.version,
          created_by: actorName(place.actor),
          created_at: removed_at
        })
        yield* changes.setTotals({
          id: place.env.id,
          revision,
          secret_count: totals.secret_count - 1,
          value_bytes: totals.value_bytes - current.value_bytes
        })
        yield* audit.write(sourceOf(place), {
          action: "secret.delete",
          resource_type: "secret",
          resource_id: current.id,
          metadata: { key, version: current.version }
        })
      })
    )

    return { read, list, set, remove } as const
  }),
  dependencies: [
    SecretsRepo.Default,
    ChangesRepo.Default,
    Versions.Default,
    ReferenceChecks.Default,
    ReferenceReader.Default,
    WriteChecks.Default
  ]
}) {}
