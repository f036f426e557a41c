import { keysOf } from "@coffer/domain/access/Actor"
import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { type NotFound, ReferenceRefused, ValidationError } from "@coffer/domain/errors/Errors"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Bundle, BundledSecret, BundleError, BundleFormat } from "@coffer/domain/secrets/Bundle"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Place, sourceOf } from "../../access/Access.js"
import { admitKeys, keysTagOf, withinKeys } from "../../access/AllowedKeys.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { Extent } from "../../access/place/PlaceRow.js"
import { Database } from "../../database/Database.js"
import { etagOfAll, namesETag } from "../../http/ETag.js"
import { beginLargeResponse } from "../../http/LargeResponses.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { Instance } from "../../keys/Instance.js"
import { type Passage, referenceRefused, ReferenceReader } from "../references/ReferenceReader.js"
import type { Closure } from "../references/Resolver.js"
import { method } from "../../base/tracing/Traced.js"
import { type Draft, smallChange, type Wanted } from "./ChangePlans.js"
import { Changes } from "./Changes.js"
import { checkMatch, etagOf } from "../stored/EnvironmentETag.js"
import { missingEnvironment, secretsRepo, type WholeRow } from "../stored/Repo.js"
import { secretNotFound } from "../stored/NotThere.js"
import { type Content, Versions } from "../stored/Versions.js"

export interface BundleRead {
  readonly keys?: ReadonlyArray<SecretKey> | undefined
  readonly ifNoneMatch?: string | undefined
  readonly format?: BundleFormat
  /** References as their texts. */
  readonly raw?: boolean
}

export interface BundleWrite {
  readonly set?: ReadonlyMap<SecretKey, Value>
  /** The texts of references. */
  readonly references?: ReadonlyMap<SecretKey, Value>
  readonly delete?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
  /** Whether keys may go that others refer to. */
  readonly force?: boolean
  /** The note in the revision's history. */
  readonly note?: string
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

/** Returns what each key becomes. Fails with ValidationError if a key is in more than one of the parts of a write. */
const wantedOf = ({
  delete: keys = [],
  references = new Map(),
  set = new Map()
}: BundleWrite): Effect.Effect<Wanted, ValidationError> => {
  const wrong = (message: string) => new ValidationError({ message })
  const both = keys.find((key) => set.has(key))
  if (both !== undefined) return wrong(`${both}: is both in set and in delete`)
  const again = [...references.keys()].find((key) => set.has(key) || keys.includes(key))
  if (again !== undefined) return wrong(`${again}: is in references and also in ${set.has(again) ? "set" : "delete"}`)
  return set.size + references.size + keys.length > maxBundleKeys
    ? wrong(`the body: names more than ${maxBundleKeys} keys`)
    : Effect.succeed(
        new Map<SecretKey, Content | null>([
          ...[...set].map(([key, value]) => [key, { kind: "text", value }] as const),
          ...[...references].map(([key, value]) => [key, { kind: "reference", value }] as const),
          ...keys.map((key) => [key, null] as const)
        ])
      )
}

/** A bundle without resolved references. */
const asStored = { closure: null, passages: [] }
const unresolved = { values: new Map<SecretKey, never>(), passed: [] }

/** The bytes of each secret in a bundle besides its value: key, version, time. */
const bytesOfSecret = 160

/** The size of a bundle's response. Of references, it is known only when they are resolved. */
const bundleBytes = (extent: Extent | null): number =>
  extent === null ? 0 : extent.bytes + extent.secrets * bytesOfSecret

/** How many keys a message explains. */
const maxExplained = 20

/** Fails unless every value could be made: an object of values cannot say which are missing. */
const checkWhole = (errors: ReadonlyArray<BundleError>): Effect.Effect<void, ReferenceRefused> => {
  if (errors.length === 0) return Effect.void
  const some = errors.slice(0, maxExplained).map(({ message }) => message)
  const more = errors.length > some.length ? [`and ${errors.length - some.length} more keys`] : []
  return new ReferenceRefused({ message: [...some, ...more].join("; ") })
}

/** Reads many secrets of an environment in one response, and writes many atomically. */
export class Bundles extends Effect.Service<Bundles>()("@coffer/server/Bundles", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const audit = yield* AuditLog
    const referenceReader = yield* ReferenceReader
    const { snapshot } = yield* Database
    const { epoch } = yield* Instance

    const tagOfEnvironment = (id: EnvId, revision: number, form = "list"): string =>
      etagOf(form === "list" ? epoch : `${epoch} ${form}`, { id, revision })

    /**
     * Each format has its own ETag. The ETag of `list` is the environment's. With references to other environments, it also names
     * these; for a caller who may name only some keys, also those: others see another bundle under the same address.
     */
    const tagOf = (
      place: Place<"secret.read" | "secret.write">,
      revision: number,
      form = "list",
      passages: ReadonlyArray<Passage> = []
    ): string => {
      const { id } = place.env
      const only = keysTagOf(place)
      return passages.length === 0 && only === null
        ? tagOfEnvironment(id, revision, form)
        : etagOfAll(epoch, form, id, revision, passages, only)
    }

    /** The tag of the environment as it is now. Undefined if it is removed. */
    const currentTag = Effect.fnUntraced(function* (place: Place<"secret.read">, form: string, raw: boolean) {
      const { id } = place.env
      const known = yield* repo.revision({ envId: id })
      if (known === undefined || known.refers === 0 || raw) return known && tagOf(place, known.revision, form)
      return yield* snapshot(
        Effect.gen(function* () {
          const now = yield* repo.revision({ envId: id })
          return now && tagOf(place, now.revision, form, yield* referenceReader.passages(place))
        })
      )
    })

    /** Reads secrets as they are stored, with whether values of the environment may depend on others. */
    const stored = Effect.fnUntraced(function* (
      place: Place<"secret.read">,
      keys: ReadonlyArray<SecretKey> | undefined
    ) {
      const only = keysOf(place.actor)
      const contents = yield* repo.contents(place.env.id, keys ?? (only === null ? undefined : [...only]))
      if (contents === undefined) return yield* missingEnvironment(place.env.name)
      const { refers, revision, secrets } = contents
      const rows = withinKeys(place, secrets)
      yield* checkFound(rows, keys)
      return { revision, rows, isReferring: refers || rows.some((row) => kindOf(row) === "reference") }
    })

    /** Adds what the references among secrets lead to, as of one moment: if the environment has changed, they are read again. */
    const whole = Effect.fnUntraced(function* (
      place: Place<"secret.read">,
      keys: ReadonlyArray<SecretKey> | undefined,
      before: Effect.Effect.Success<ReturnType<typeof stored>>
    ) {
      const now = yield* repo.revision({ envId: place.env.id })
      const { revision, rows } = now?.revision === before.revision ? before : yield* stored(place, keys)
      const closure = yield* referenceReader.load(place, rows, rows)
      return { revision, rows, closure, passages: yield* referenceReader.passages(place) }
    }, snapshot)

    /** Resolves the references among secrets. These were loaded before. */
    const resolved = (closure: Closure<"secret.read">, opened: ReadonlyArray<readonly [WholeRow, Value]>) =>
      referenceReader.resolve(
        closure,
        opened.flatMap(([row, text]) => (kindOf(row) === "reference" ? [{ key: row.key, text }] : [])),
        new Map(opened.map(([{ key }, text]) => [key, text]))
      )

    /**
     * Returns all secrets of an environment, or those of `keys`, with the ETag of their form. If `ifNoneMatch` names
     * the current ETag, no bundle is returned, no value is decrypted and no audit entry is written. Keys whose references lead
     * to no value are among the errors of a list, and fail an object with ReferenceRefused.
     */
    const read = method(
      "Bundles.read",
      function* (place: Place<"secret.read">, { format = "list", ifNoneMatch, keys, raw = false }: BundleRead = {}) {
        const { id } = place.env
        yield* admitKeys(audit, place, keys ?? [])
        const form = raw ? `${format} raw` : format
        if (ifNoneMatch !== undefined) {
          const etag = yield* currentTag(place, form, raw)
          if (etag !== undefined && namesETag(ifNoneMatch, etag)) return { etag, bundle: undefined }
        }
        yield* beginLargeResponse(bundleBytes(place.extent))
        const first = yield* stored(place, keys)
        const { closure, passages, revision, rows } =
          raw || !first.isReferring ? { ...first, ...asStored } : yield* whole(place, keys, first)
        if (closure !== null) yield* beginLargeResponse(bundleBytes(place.extent) + closure.bytes)
        const opened = Array.zip(rows, yield* versions.openAll(place, rows))
        const { passed, values } = closure === null ? unresolved : yield* resolved(closure, opened)
        const errors: globalThis.Array<BundleError> = []
        const data: globalThis.Array<BundledSecret> = []
        for (const [row, text] of opened) {
          const { key, updated_at, version } = row
          const kind = kindOf(row)
          const value = values.get(key) ?? Either.right(text)
          if (Either.isLeft(value)) {
            const { code, message } = referenceRefused(key, value.left)
            errors.push({ key, code, message })
          } else data.push({ key, value: value.right, version, updated_at, ...(kind === "reference" && { kind }) })
        }
        if (format === "object") yield* checkWhole(errors)
        const keysRead = data.map(({ key, version }) => ({ key, version }))
        yield* audit.seen(sourceOf(place), {
          action: "secret.read",
          resource_type: "env",
          resource_id: id,
          metadata: { revision, keys: keysRead }
        })
        yield* referenceReader.auditPassed(
          place,
          passed,
          keysRead.map(({ key }) => key)
        )
        const bundle: Bundle = { revision, data, ...(errors.length > 0 && { errors }) }
        return { etag: tagOf(place, revision, form, passages), bundle }
      }
    )

    /** Fails with Conflict if `ifMatch` names neither the environment's ETag nor that of its bundle, as values or texts. */
    const checkCurrent = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      ifMatch: string | undefined,
      revision: number
    ) {
      const { id, name } = place.env
      const tags = [tagOfEnvironment(id, revision), tagOf(place, revision), tagOf(place, revision, "list raw")]
      if (ifMatch === undefined || tags.some((etag) => namesETag(ifMatch, etag))) return
      yield* checkMatch(name, ifMatch, tagOf(place, revision, "list", yield* referenceReader.passages(place)))
    })

    /** Does the work of a large write that needs no transaction. Call it before the transaction of `write`. */
    const prepare = <E, R>(entering: Effect.Effect<Place<"secret.write">, E, R>, request: BundleWrite) =>
      Effect.flatMap(wantedOf(request), (wanted) =>
        wanted.size <= smallChange
          ? Effect.succeed(null)
          : Effect.flatMap(Effect.zipRight(changes.beginLarge, entering), (place) =>
              Effect.zipRight(
                admitKeys(audit, place, wanted.keys()),
                changes.draft(place, wanted, request.dry_run === true)
              )
            )
      )

    /** Sends what `write` reads first: see `Access.change`. */
    const ahead = ({ delete: gone = [], force, references = new Map(), set = new Map() }: BundleWrite) =>
      changes.aheadOfSome([...set.keys(), ...references.keys(), ...gone], gone.length > 0 && force !== true)

    /**
     * Sets and deletes secrets atomically. An equal value gets no new version. Fails with Conflict if `ifMatch` does
     * not name the current ETag of the environment. `draft` is what `prepare` returned.
     */
    const write = method(
      "Bundles.write",
      function* (
        place: Place<"secret.write">,
        request: BundleWrite,
        ifMatch: string | undefined,
        draft: Draft | null = null
      ) {
        const wanted = yield* wantedOf(request)
        yield* admitKeys(audit, place, wanted.keys())
        const claimed = yield* changes.claim(place)
        yield* checkCurrent(place, ifMatch, claimed.totals.revision)
        const { dry_run: dryRun = false, force = false, note } = request
        const steps = changes.isCurrent(draft, claimed) ? draft.steps : yield* changes.plan(claimed, wanted, { dryRun })
        const written = yield* changes.apply(claimed, steps, { dryRun, force, note, values: "given" })
        return { etag: tagOfEnvironment(place.env.id, written.revision), written }
      }
    )

    return { read, prepare, ahead, write } as const
  }),
  dependencies: [Changes.Default, Versions.Default, ReferenceReader.Default]
}) {}
