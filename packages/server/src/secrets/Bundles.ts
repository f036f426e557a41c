import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { type NotFound, ValidationError } from "@coffer/domain/Errors"
import type { EnvId } from "@coffer/domain/Ids"
import type { SecretKey } from "@coffer/domain/Names"
import type { Bundle, BundledSecret, BundleFormat } from "@coffer/domain/Secret"
import { Effect } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { now } from "../database/Time.js"
import { namesETag } from "../http/ETag.js"
import { Instance } from "../keys/Instance.js"
import { traced } from "../tracing/Traced.js"
import { forEachInSlices } from "../EventLoop.js"
import { Changes, type Wanted } from "./Changes.js"
import { checkMatch, etagOf } from "./ETag.js"
import { missingEnvironment, SecretsRepo, type WholeRow } from "./Repo.js"
import { secretNotFound } from "./Secrets.js"
import { type Value, Versions } from "./Versions.js"

export interface BundleWrite {
  readonly set?: ReadonlyMap<SecretKey, Value>
  readonly delete?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
}

/** Fails with NotFound for the first requested key without a secret. */
export const checkFound = (
  secrets: ReadonlyArray<WholeRow>,
  keys: ReadonlyArray<SecretKey> | undefined
): Effect.Effect<void, NotFound> => {
  const existing = new Set(secrets.map(({ key }) => key))
  const absent = keys?.find((key) => !existing.has(key))
  return absent === undefined ? Effect.void : secretNotFound(absent)
}

/** Returns the requested value or deletion of each key. Fails with ValidationError if a key is both set and deleted. */
const wantedOf = ({ delete: keys = [], set = new Map() }: BundleWrite): Effect.Effect<Wanted, ValidationError> => {
  const both = keys.find((key) => set.has(key))
  if (both !== undefined) return new ValidationError({ message: `${both}: is both in set and in delete` })
  return set.size + keys.length > maxBundleKeys
    ? new ValidationError({ message: `the body: names more than ${maxBundleKeys} keys` })
    : Effect.succeed(new Map([...set, ...keys.map((key) => [key, null] as const)]))
}

/** Reads many secrets of an environment in one response, and writes many atomically. */
export class Bundles extends Effect.Service<Bundles>()("@coffer/server/Bundles", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const audit = yield* AuditLog
    const { epoch } = yield* Instance

    /** Each form of a bundle has a tag of its own; that of the list stands for the environment itself. */
    const tagOf = (id: EnvId, revision: number, format: BundleFormat = "list"): string =>
      etagOf(format === "list" ? epoch : `${epoch} ${format}`, { id, revision })

    /**
     * Returns all secrets of an environment, or those of `keys`, with the ETag of their form. If `ifNoneMatch` names
     * the current ETag, no bundle is returned, no value is decrypted and no audit entry is written.
     */
    const read = traced("Bundles.read")(
      Effect.fnUntraced(function* (
        place: Place<"secret.read">,
        keys: ReadonlyArray<SecretKey> | undefined,
        ifNoneMatch: string | undefined,
        format: BundleFormat = "list"
      ) {
        const { id, name } = place.env
        if (ifNoneMatch !== undefined) {
          const known = yield* repo.revision({ envId: id })
          const etag = known && tagOf(id, known.revision, format)
          if (etag !== undefined && namesETag(ifNoneMatch, etag)) return { etag, bundle: undefined }
        }
        const contents = yield* repo.contents(id, keys)
        if (contents === undefined) return yield* missingEnvironment(name)
        const { revision, secrets } = contents
        yield* checkFound(secrets, keys)
        const data = yield* forEachInSlices(secrets, (secret) =>
          Effect.map(versions.open(place, secret, secret), (value): BundledSecret => {
            const { key, updated_at, version } = secret
            return { key, value, version, updated_at }
          })
        )
        yield* audit.read(sourceOf(place), {
          action: "secret.read",
          resource_type: "env",
          resource_id: id,
          metadata: { revision, keys: data.map(({ key, version }) => ({ key, version })) }
        })
        const bundle: Bundle = { revision, data }
        return { etag: tagOf(id, revision, format), bundle }
      })
    )

    /**
     * Sets and deletes secrets atomically. An equal value gets no new version. Fails with Conflict if `ifMatch` does
     * not name the current ETag of the environment.
     */
    const write = traced("Bundles.write")(
      Effect.fnUntraced(function* (place: Place<"secret.write">, request: BundleWrite, ifMatch: string | undefined) {
        const wanted = yield* wantedOf(request)
        const at = yield* now
        const totals = yield* changes.claim(place.env)
        yield* checkMatch(place.env.name, ifMatch, tagOf(place.env.id, totals.revision))
        const steps = yield* changes.plan(place, totals, wanted)
        const written = yield* changes.apply(place, totals, steps, {
          at,
          dryRun: request.dry_run === true,
          eventOfSet: (key, version) => ({ action: "secret.set", metadata: { key, version } })
        })
        return { etag: tagOf(place.env.id, written.revision), written }
      })
    )

    return { read, write } as const
  }),
  dependencies: [SecretsRepo.Default, Changes.Default, Versions.Default]
}) {}
