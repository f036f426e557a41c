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
import { forEachInTurns, turn } from "../Turn.js"
import { Changes, type Wanted } from "./Changes.js"
import { checkMatch, etagOf, namesETag } from "./ETag.js"
import { type CurrentSecret, missingEnvironment, SecretsRepo } from "./Repo.js"
import { type Value, Versions } from "./Versions.js"

export interface BundleWrite {
  readonly set?: ReadonlyMap<SecretKey, Value>
  readonly delete?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
}

/** The secrets of some keys, or all; the first key that is not there is named. */
export const narrow = (secrets: ReadonlyArray<CurrentSecret>, keys: ReadonlyArray<SecretKey> | undefined) => {
  if (keys === undefined) return Effect.succeed(secrets)
  const there = new Set(secrets.map(({ key }) => key))
  const absent = keys.find((key) => !there.has(key))
  if (absent !== undefined) return new NotFound({ message: `secret ${absent} is not there` })
  const wanted = new Set(keys)
  return Effect.succeed(secrets.filter(({ key }) => wanted.has(key)))
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
        for (;;) {
          const known = ifNoneMatch === undefined ? undefined : repo.revision(place.env.id)
          if (known !== undefined && ifNoneMatch !== undefined) {
            const etag = tagOf(place.env.id, known)
            if (namesETag(ifNoneMatch, etag)) return { etag, bundle: undefined }
          }
          const contents = yield* repo.contents(place.env.id)
          if (contents === undefined) return yield* missingEnvironment(place.env.name)
          const { revision } = contents.totals
          const opened = yield* Effect.either(
            forEachInTurns(yield* narrow(contents.secrets, keys), (secret) => {
              const { key, updated_at, version } = secret
              return Either.map(versions.open(place, secret, secret.content()), (value): BundledSecret => ({
                key,
                value,
                version,
                updated_at
              }))
            })
          )
          // A version that was replaced since may be destroyed by now: then the environment is read as it is now.
          if (Either.isLeft(opened) && repo.revision(place.env.id) !== revision) continue
          const data = yield* opened
          yield* audit.read(sourceOf(place), {
            action: "secret.read",
            resource_type: "env",
            resource_id: place.env.id,
            metadata: { revision, keys: data.map(({ key, version }) => ({ key, version })) }
          })
          const bundle: Bundle = { revision, data }
          return { etag: tagOf(place.env.id, revision), bundle }
        }
      })
    )

    /**
     * Writes and deletes secrets, all or nothing; a value that is the same already gets no version. With `ifMatch`, an
     * environment that is not as that ETag says is a Conflict and nothing is written.
     */
    const write = traced("Bundles.write")(
      Effect.fnUntraced(function* (place: Place<"secret.write">, request: BundleWrite, ifMatch: string | undefined) {
        const wanted = yield* wantedOf(request)
        // Decoding 2,000 keys and reading 2,000 secrets take a turn each.
        if (wanted.size > 200) yield* turn
        const at = yield* now
        return yield* transaction(
          Effect.gen(function* () {
            const contents = yield* repo.contentsForUpdate(place.env.id)
            if (contents === undefined) return yield* missingEnvironment(place.env.name)
            const { secrets, totals } = contents
            yield* checkMatch(place.env.name, ifMatch, tagOf(place.env.id, totals.revision))
            const steps = yield* changes.plan(place, secrets, wanted)
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
