import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { NotFound, ValidationError } from "@coffer/domain/Errors"
import type { EnvId, SecretKey } from "@coffer/domain/Names"
import type { Bundle, BundledSecret } from "@coffer/domain/Secret"
import { Effect, Either } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { now } from "../database/Time.js"
import { transaction } from "../database/Writer.js"
import { Instance } from "../keys/Instance.js"
import { traced } from "../tracing/Traced.js"
import { turn } from "../Turn.js"
import { Changes, type Wanted } from "./Changes.js"
import { checkMatch, etagOf, namesETag } from "./ETag.js"
import { type BundleRow, missingEnvironment, SecretsRepo } from "./Repo.js"
import { type Value, Versions } from "./Versions.js"

/** How many secrets are decrypted before other work gets its turn. */
const stride = 100

export interface BundleWrite {
  readonly set?: ReadonlyMap<SecretKey, Value>
  readonly delete?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
}

/** The rows of some keys, or all; the first key that is not there is named. */
export const narrow = (rows: ReadonlyArray<BundleRow>, keys: ReadonlyArray<SecretKey> | undefined) => {
  if (keys === undefined) return Effect.succeed(rows)
  const there = new Set(rows.map(({ key }) => key))
  const absent = keys.find((key) => !there.has(key))
  if (absent !== undefined) return new NotFound({ message: `secret ${absent} is not there` })
  const wanted = new Set(keys)
  return Effect.succeed(rows.filter(({ key }) => wanted.has(key)))
}

/** What a request to write a bundle wants of each key. Fails with ValidationError when it contradicts itself. */
const wantedOf = ({ delete: keys = [], set = new Map() }: BundleWrite): Effect.Effect<Wanted, ValidationError> => {
  const both = keys.find((key) => set.has(key))
  if (both !== undefined) return new ValidationError({ message: `${both}: is both in set and in delete` })
  return set.size + keys.length > maxBundleKeys
    ? new ValidationError({ message: `the body: names more than ${maxBundleKeys} keys` })
    : Effect.succeed(new Map([...set, ...keys.map((key) => [key, null] as const)]))
}

/** All secrets of an environment at once: read in one answer, or written all or nothing. */
export class Bundles extends Effect.Service<Bundles>()("@coffer/server/Bundles", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const audit = yield* AuditLog
    const { epoch } = yield* Instance

    const tagOf = (id: EnvId, revision: number): string => etagOf(epoch, { id, revision })

    const revisionOf = (place: Place<"secret.read">) =>
      Effect.flatMap(repo.revision(place.env.id), (revision) =>
        revision === undefined ? missingEnvironment(place.env.name) : Effect.succeed(revision)
      )

    /** All rows, and the revision that they are of: a write between two statements must not lend one's ETag to the other. */
    const settled = Effect.fnUntraced(function* (place: Place<"secret.read">, known: number) {
      let before = known
      for (;;) {
        const all = yield* repo.bundle(place.env.id)
        const revision = yield* revisionOf(place)
        if (revision === before) return { all, revision }
        before = revision
      }
    })

    /**
     * The secrets of an environment, or those of some keys, with the ETag of what they are; no bundle when the caller
     * names that ETag already: then no value is decrypted and nothing is recorded.
     */
    const read = traced("Bundles.read")(
      Effect.fnUntraced(function* (
        place: Place<"secret.read">,
        keys: ReadonlyArray<SecretKey> | undefined,
        ifNoneMatch: string | undefined
      ) {
        const known = yield* revisionOf(place)
        const knownTag = tagOf(place.env.id, known)
        if (ifNoneMatch !== undefined && namesETag(ifNoneMatch, knownTag)) return { etag: knownTag, bundle: undefined }
        const { all, revision } = yield* settled(place, known)
        const etag = tagOf(place.env.id, revision)
        const rows = yield* narrow(all, keys)
        const data: Array<BundledSecret> = []
        for (const row of rows) {
          if (data.length > 0 && data.length % stride === 0) yield* turn
          const { key, updated_at, version } = row
          const value = versions.open(place, row, row)
          if (Either.isLeft(value)) return yield* value.left
          data.push({ key, value: value.right, version, updated_at })
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
    )

    /**
     * Writes and deletes secrets, all or nothing; a value that is the same already gets no version. With `ifMatch`, an
     * environment that is not as that ETag says is a Conflict and nothing is written.
     */
    const write = traced("Bundles.write")(
      Effect.fnUntraced(function* (place: Place<"secret.write">, request: BundleWrite, ifMatch: string | undefined) {
        const wanted = yield* wantedOf(request)
        const at = yield* now
        return yield* transaction(
          Effect.gen(function* () {
            const totals = repo.totals(place.env.id)
            if (totals === undefined) return yield* missingEnvironment(place.env.name)
            yield* checkMatch(place.env.name, ifMatch, tagOf(place.env.id, totals.revision))
            const steps = yield* changes.plan(place, yield* repo.bundleForUpdate(place.env.id), wanted)
            return yield* changes.apply(place, totals, steps, {
              at,
              dryRun: request.dry_run === true,
              eventOfSet: (key, version) => ({ action: "secret.set", metadata: { key, version } })
            })
          })
        )
      })
    )

    return { read, write, etagOf: tagOf } as const
  }),
  dependencies: [SecretsRepo.Default, Changes.Default, Versions.Default]
}) {}
