import { actorName } from "@coffer/domain/Actor"
import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { Conflict, DecryptionFailed, NotFound, ValidationError } from "@coffer/domain/Errors"
import { byteLength, type EnvId, SecretId, type SecretKey, type SecretValue } from "@coffer/domain/Names"
import type { Bundle, BundledSecret, BundleWritten, SecretChange } from "@coffer/domain/Secret"
import { Effect, Either, Redacted } from "effect"
import { createHash } from "node:crypto"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { now } from "../database/Time.js"
import { uuidV7 } from "../database/Uuid.js"
import { transaction } from "../database/Writer.js"
import { openEither, seal } from "../keys/Envelope.js"
import { Instance } from "../keys/Instance.js"
import { Keyring } from "../keys/Keyring.js"
import { checkLimits } from "./Limits.js"
import { type BundleRow, SecretsRepo, type Totals } from "./Repo.js"
import { bindingOf, missingEnvironment, sealedOf } from "./Secrets.js"

/** How many secrets are decrypted before other work gets its turn. */
const stride = 100

export interface BundleWrite {
  readonly set?: ReadonlyMap<SecretKey, Redacted.Redacted<SecretValue>>
  readonly delete?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
}

type Step =
  | { readonly change: "created"; readonly key: SecretKey; readonly value: Redacted.Redacted<SecretValue> }
  | {
      readonly change: "updated"
      readonly key: SecretKey
      readonly value: Redacted.Redacted<SecretValue>
      readonly row: BundleRow
    }
  | { readonly change: "deleted"; readonly key: SecretKey; readonly row: BundleRow }
  | { readonly change: "unchanged"; readonly key: SecretKey; readonly version: number }

const versionAfter = (step: Step): number => {
  switch (step.change) {
    case "created":
      return 1
    case "updated":
      return step.row.version + 1
    case "deleted":
      return step.row.version
    case "unchanged":
      return step.version
  }
}

const sizeOf = (value: Redacted.Redacted<SecretValue>): number => byteLength(Redacted.value(value))

const totalsAfter = (totals: Totals, steps: ReadonlyArray<Step>) =>
  steps.reduce(
    ({ secret_count, value_bytes }, step) => {
      switch (step.change) {
        case "created":
          return { secret_count: secret_count + 1, value_bytes: value_bytes + sizeOf(step.value) }
        case "updated":
          return { secret_count, value_bytes: value_bytes - step.row.value_bytes + sizeOf(step.value) }
        case "deleted":
          return { secret_count: secret_count - 1, value_bytes: value_bytes - step.row.value_bytes }
        case "unchanged":
          return { secret_count, value_bytes }
      }
    },
    { secret_count: totals.secret_count, value_bytes: totals.value_bytes }
  )

const inByteOrder = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0

/** Whether an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1) names an ETag. */
const names = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)

/** All secrets of an environment at once: read in one answer, or written all or nothing. */
export class Bundles extends Effect.Service<Bundles>()("@coffer/server/Bundles", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const keyring = yield* Keyring
    const audit = yield* AuditLog
    const { epoch } = yield* Instance

    /** Never the same for other content: the environment, its revision, and the epoch that a restored file gets anew. */
    const etagOf = (envId: EnvId, revision: number): string =>
      `"${createHash("sha256").update(`${envId} ${revision} ${epoch}`).digest("base64url").slice(0, 27)}"`

    const openRow = (place: Place<"secret.read" | "secret.write">, row: BundleRow) => {
      const sealed = sealedOf(row)
      return sealed === null
        ? Either.left(new DecryptionFailed({ message: `secret ${row.key} has lost its data key` }))
        : Either.mapLeft(
            openEither(keyring, bindingOf(place, row.id, row.key, row.version), sealed),
            () => new DecryptionFailed({ message: `secret ${row.key} does not authenticate: it was altered` })
          )
    }

    const narrow = (rows: ReadonlyArray<BundleRow>, keys: ReadonlyArray<SecretKey> | undefined) => {
      if (keys === undefined) return Effect.succeed(rows)
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const absent = keys.find((key) => !byKey.has(key))
      if (absent !== undefined) return new NotFound({ message: `secret ${absent} is not there` })
      const wanted = new Set(keys)
      return Effect.succeed(rows.filter(({ key }) => wanted.has(key)))
    }

    /**
     * The secrets of an environment, or those of some keys, with the ETag of what they are; no bundle when the caller
     * names that ETag already: then no value is decrypted and nothing is recorded.
     */
    const read = Effect.fn("Bundles.read")(function* (
      place: Place<"secret.read">,
      keys: ReadonlyArray<SecretKey> | undefined,
      ifNoneMatch: string | undefined
    ) {
      const revision = yield* repo.revision(place.env.id)
      if (revision === undefined) return yield* missingEnvironment(place)
      const etag = etagOf(place.env.id, revision)
      if (ifNoneMatch !== undefined && names(ifNoneMatch, etag)) return { etag, bundle: undefined }
      const rows = yield* Effect.flatMap(repo.bundle(place.env.id), (all) => narrow(all, keys))
      const data: Array<BundledSecret> = []
      for (const [index, row] of rows.entries()) {
        if (index % stride === stride - 1) yield* Effect.yieldNow()
        const { key, updated_at, version } = row
        data.push({ key, value: yield* openRow(place, row), version, updated_at })
      }
      yield* audit.read(sourceOf(place), {
        action: "secret.read",
        resource_type: "env",
        resource_id: place.env.id,
        metadata: { revision, keys: data.map(({ key, version }) => ({ key, version })) }
      })
      const bundle: Bundle = { revision, data }
      return { etag, bundle }
    })

    const check = ({ delete: keys = [], set = new Map() }: BundleWrite): Effect.Effect<void, ValidationError> => {
      const both = keys.find((key) => set.has(key))
      if (both !== undefined) return new ValidationError({ message: `${both}: is both in set and in delete` })
      return set.size + keys.length > maxBundleKeys
        ? new ValidationError({ message: `at most ${maxBundleKeys} keys at once` })
        : Effect.void
    }

    /** What a write would do to each key. A value that cannot be opened any more counts as another one. */
    const plan = (
      place: Place<"secret.write">,
      rows: ReadonlyArray<BundleRow>,
      { delete: keys = [], set = new Map() }: BundleWrite
    ): ReadonlyArray<Step> => {
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const sets = [...set].map(([key, value]): Step => {
        const row = byKey.get(key)
        if (row === undefined) return { change: "created", key, value }
        const before = row.value_bytes === sizeOf(value) ? openRow(place, row) : Either.right(null)
        return Either.isRight(before) && before.right !== null && Redacted.value(before.right) === Redacted.value(value)
          ? { change: "unchanged", key, version: row.version }
          : { change: "updated", key, value, row }
      })
      const deletes = [...new Set(keys)].map((key): Step => {
        const row = byKey.get(key)
        return row === undefined ? { change: "unchanged", key, version: 0 } : { change: "deleted", key, row }
      })
      return [...sets, ...deletes].sort(inByteOrder)
    }

    const apply = (place: Place<"secret.write">, revision: number, written_at: string) =>
      Effect.fnUntraced(function* (step: Step) {
        if (step.change === "unchanged") return []
        const { key } = step
        const version = versionAfter(step)
        if (step.change === "deleted") {
          yield* repo.remove(step.row.id, revision, written_at)
          const metadata = { key, version }
          return [{ action: "secret.delete", resource_type: "secret", resource_id: step.row.id, metadata } as const]
        }
        const id = step.change === "updated" ? step.row.id : SecretId.make(yield* uuidV7)
        yield* step.change === "updated"
          ? repo.setVersion(id, version, written_at)
          : repo.insertSecret({ id, env_id: place.env.id, key, created_at: written_at })
        const sealed = yield* seal(keyring, bindingOf(place, id, key, version), step.value)
        yield* repo.insertVersion({
          ...sealed,
          secret_id: id,
          version,
          revision,
          value_bytes: sizeOf(step.value),
          created_by: actorName(place.actor),
          created_at: written_at
        })
        const metadata = { key, version }
        return [{ action: "secret.set", resource_type: "secret", resource_id: id, metadata } as const]
      })

    /**
     * Writes and deletes secrets, all or nothing; a value that is the same already gets no version. With `ifMatch`, an
     * environment that is not as that ETag says is a Conflict and nothing is written.
     */
    const write = Effect.fn("Bundles.write")(function* (
      place: Place<"secret.write">,
      request: BundleWrite,
      ifMatch: string | undefined
    ) {
      yield* check(request)
      const written_at = yield* now
      const envId = place.env.id
      return yield* transaction(
        Effect.gen(function* () {
          const totals = yield* repo.totals(envId)
          if (totals === undefined) return yield* missingEnvironment(place)
          if (ifMatch !== undefined && !names(ifMatch, etagOf(envId, totals.revision))) {
            return yield* new Conflict({
              message: `environment ${place.env.name} has changed since that ETag: read it again`
            })
          }
          const steps = plan(place, yield* repo.bundleForUpdate(envId), request)
          const after = totalsAfter(totals, steps)
          yield* checkLimits(totals, after)
          const data = steps.map((step): SecretChange => ({
            key: step.key,
            version: versionAfter(step),
            change: step.change
          }))
          if (request.dry_run === true || steps.every(({ change }) => change === "unchanged")) {
            const unwritten: BundleWritten = { revision: totals.revision, data }
            return unwritten
          }
          const next = yield* repo.nextRevision(envId)
          if (next === undefined) return yield* missingEnvironment(place)
          const events = yield* Effect.forEach(steps, apply(place, next.revision, written_at))
          yield* repo.setTotals(envId, after.secret_count, after.value_bytes)
          yield* audit.write(sourceOf(place), ...events.flat())
          const written: BundleWritten = { revision: next.revision, data }
          return written
        })
      )
    })

    return { read, write, etagOf } as const
  }),
  dependencies: [SecretsRepo.Default]
}) {}
