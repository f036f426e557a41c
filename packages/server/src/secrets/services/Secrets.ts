import { Conflict, type Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { SecretRead } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { dueOf } from "../stored/DueColumns.js"
import { method } from "../../base/tracing/Traced.js"
import { kindOf } from "../../keys/Envelope.js"
import { secretNotFound, versionNotFound } from "../stored/NotThere.js"
import { secretsRepo } from "../stored/Repo.js"
import { ReferenceReader } from "../references/ReferenceReader.js"
import { type Content, Versions } from "../stored/Versions.js"
import { Changes, secretWritten } from "./Changes.js"
import { deletion, setStep } from "./Steps.js"

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

export class Secrets extends Effect.Service<Secrets>()("@coffer/server/Secrets", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const audit = yield* AuditLog
    const referenceReader = yield* ReferenceReader
    const { snapshot } = yield* Database

    const find = Effect.fnUntraced(function* (place: Place<"secret.read">, key: SecretKey, version?: number) {
      const row =
        version === undefined
          ? yield* repo.findCurrent({ envId: place.env.id, key })
          : yield* repo.findAt({ envId: place.env.id, key, version })
      if (row === undefined) return yield* version === undefined ? secretNotFound(key) : versionNotFound(key, version)
      if (row.destroyed_at !== null) {
        return yield* new NotFound({ message: `version ${row.version} of secret ${key} was destroyed` })
      }
      return row
    })

    /** A secret with all that it refers to, as of one moment. */
    const findWhole = Effect.fnUntraced(function* (place: Place<"secret.read">, key: SecretKey, version?: number) {
      const row = yield* find(place, key, version)
      return { row, closure: kindOf(row) === "text" ? null : yield* referenceReader.load(place, [row]) }
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
      const first = yield* find(place, key, version)
      const { closure, row } =
        kindOf(first) === "text" || raw ? { row: first, closure: null } : yield* findWhole(place, key, version)
      const { id, version: found } = row
      const text = yield* versions.open(place, { id, key, version: found }, row)
      const { passed, value } =
        closure === null ? { value: text, passed: [] } : yield* referenceReader.valueOf(closure, { key, text })
      yield* audit.seen(sourceOf(place), {
        action: "secret.read",
        resource_type: "secret",
        resource_id: id,
        metadata: { key, version: found }
      })
      yield* referenceReader.auditPassed(place, passed, [key])
      const kind = kindOf(row)
      const answer: SecretRead = { key, value, version: found, ...(kind === "reference" && { kind }) }
      return answer
    })

    const list = method("Secrets.list", function* (place: Place<"secret.list">) {
      const rows = withinKeys(place, yield* repo.list(place.env.id))
      for (const row of rows) yield* versions.checkNewest(place, row)
      return rows.map(({ key, updated_at, version, ...row }) => ({ key, version, updated_at, ...dueOf(row) }))
    })

    /** Writes a new version. Fails with Conflict if the current version is not the expected one (0: no secret). */
    const set = method(
      "Secrets.set",
      function* (place: Place<"secret.write">, key: SecretKey, content: Content, expectedVersion?: number) {
        const claimed = yield* changes.claim(place)
        const current = yield* changes.current(place, key)
        yield* checkExpected(key, expectedVersion, current?.version ?? 0)
        const step = yield* setStep(key, content, current)
        const written = yield* changes.apply(claimed, [step], { values: "given" })
        return secretWritten(claimed, step, current)(written)
      }
    )

    const remove = method(
      "Secrets.remove",
      function* (place: Place<"secret.write">, key: SecretKey, expectedVersion?: number, force?: boolean) {
        const claimed = yield* changes.claim(place)
        const current = yield* changes.current(place, key)
        if (current === undefined) return yield* secretNotFound(key)
        yield* checkExpected(key, expectedVersion, current.version)
        yield* changes.apply(claimed, [deletion(key, current)], { force }).pipe(
          // Everything else is about values.
          Effect.catchAll((refused): Effect.Effect<never, Conflict | Forbidden> =>
            refused._tag === "Conflict" || refused._tag === "Forbidden" ? Effect.fail(refused) : Effect.die(refused)
          )
        )
      }
    )

    return { read, list, set, remove, ahead: changes.aheadOf } as const
  }),
  dependencies: [Changes.Default, Versions.Default, ReferenceReader.Default]
}) {}
