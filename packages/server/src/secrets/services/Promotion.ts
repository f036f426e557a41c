import type { EnvId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { Diff } from "@coffer/domain/secrets/Diff"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { admitKeys, mayName, withinKeys } from "../../access/AllowedKeys.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { Instance } from "../../keys/Instance.js"
import { method } from "../../base/tracing/Traced.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { checkFound } from "./Bundles.js"
import { type Claimed, type Draft, smallChange, type Wanted } from "./ChangePlans.js"
import { Changes } from "./Changes.js"
import { Comparisons } from "./Comparisons.js"
import { checkMatch, etagOf } from "../stored/EnvironmentETag.js"
import type { Totals } from "../stored/ChangesRepo.js"
import { secretsRepo, type WholeRow } from "../stored/Repo.js"
import { ReferenceReader } from "../references/ReferenceReader.js"
import { type Altered, type Content, Versions } from "../stored/Versions.js"

type Status = "only_here" | "only_there" | "same" | "different"

/** The environments of a copy. */
export interface Ends {
  readonly to: Place<"secret.write">
  readonly from: Place<"secret.copy">
}

interface CopyRequest {
  readonly keys?: ReadonlyArray<SecretKey>
  readonly dry_run?: boolean
}

/** A copy that was planned before its transaction. It holds as long as both environments have the same revisions. */
export interface Prepared {
  readonly envId: EnvId
  readonly revision: number
  readonly source: ReadonlyArray<WholeRow>
  readonly leftOut: number
  readonly draft: Draft | null
}

/** Copies and compares the values of two environments without showing them. */
export class Promotion extends Effect.Service<Promotion>()("@coffer/server/Promotion", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const audit = yield* AuditLog
    const changes = yield* Changes
    const versions = yield* Versions
    const { snapshot } = yield* Database
    const { epoch } = yield* Instance
    const referenceReader = yield* ReferenceReader
    const comparisons = yield* Comparisons

    /** Fails with Forbidden for a key that the caller names and may not read or write. */
    const admitNamed = ({ from, to }: Ends, keys: ReadonlyArray<SecretKey> = []) =>
      Effect.zipRight(admitKeys(audit, from, keys), admitKeys(audit, to, keys))

    /** The secrets that a copy of everything may take, and how many it leaves out: the caller may not name their keys in both. */
    const copied = (to: Place<"secret.write">, from: Place<"secret.copy">, all: ReadonlyArray<WholeRow>) => {
      const source = withinKeys(to, withinKeys(from, all))
      return { source, leftOut: all.length - source.length }
    }

    /** The current values of secrets. */
    const valuesOf = (from: Place<"secret.copy">, source: ReadonlyArray<WholeRow>) =>
      Effect.map(
        versions.openAll(from, source),
        (values): Wanted =>
          new Map(Array.zipWith(source, values, (secret, value) => [secret.key, { kind: kindOf(secret), value }]))
      )

    /**
     * Does the work of a large copy that needs no transaction. Call it before the transaction of `copy`. A new environment is empty,
     * and made only in that transaction.
     */
    const prepare = Effect.fnUntraced(function* <E, R>(
      entering: Effect.Effect<Ends, E, R>,
      { dry_run, keys }: CopyRequest,
      isNew = false
    ) {
      if (keys !== undefined && keys.length <= smallChange) return null
      const { from, to } = yield* entering
      if (keys === undefined && from.extent !== null && from.extent.secrets <= smallChange) return null
      yield* changes.beginLarge
      const contents = yield* repo.contents(from.env.id, keys)
      if (contents === undefined || contents.secrets.length <= smallChange) return null
      yield* admitNamed({ from, to }, keys)
      const { leftOut, source } = copied(to, from, contents.secrets)
      const wanted = yield* valuesOf(from, source)
      const draft = isNew
        ? yield* changes.draftFrom(to, { revision: 0, secrets: [] }, wanted, { dryRun: false })
        : yield* changes.draft(to, wanted, dry_run === true)
      return { envId: from.env.id, revision: contents.revision, source, leftOut, draft } satisfies Prepared
    })

    /** The source of a copy and its steps, as they were prepared or as they are now. */
    const stepsOf = Effect.fnUntraced(function* (
      claimed: Claimed,
      from: Place<"secret.copy">,
      origin: Totals,
      { dry_run = false, keys }: CopyRequest,
      prepared: Prepared | null
    ) {
      if (prepared?.envId === from.env.id && prepared.revision === origin.revision) {
        const { draft, leftOut, source } = prepared
        // Rights may have changed meanwhile.
        const isSame = copied(claimed.place, from, source).leftOut === 0
        if (isSame && changes.isCurrent(draft, claimed)) return { source, leftOut, steps: draft.steps }
      }
      const { leftOut, source } = copied(claimed.place, from, yield* repo.select(from.env.id, keys))
      const wanted = yield* valuesOf(from, source)
      return { source, leftOut, steps: yield* changes.plan(claimed, wanted, { dryRun: dry_run }) }
    })

    /**
     * Copies the values of all keys or of `keys` from another environment. An equal value gets no new version. The ETag
     * covers both environments. Fails with Conflict if `ifMatch` does not name the current one.
     */
    const copy = method(
      "Promotion.copy",
      function* (
        to: Place<"secret.write">,
        from: Place<"secret.copy">,
        request: CopyRequest,
        ifMatch?: string,
        prepared: Prepared | null = null
      ) {
        const claimed = yield* changes.claim(to)
        const origin = yield* changes.totals(from.env)
        const tagOf = (revision: number) =>
          etagOf(epoch, { id: to.env.id, revision }, { id: from.env.id, revision: origin.revision })
        yield* checkMatch(to.env.name, ifMatch, tagOf(claimed.totals.revision))
        yield* admitNamed({ from, to }, request.keys)
        const { leftOut, source, steps } = yield* stepsOf(claimed, from, origin, request, prepared)
        yield* checkFound(source, request.keys)
        const sourceVersions = new Map(source.map(({ key, version }) => [key, version]))
        const written = yield* changes.apply(claimed, steps, {
          dryRun: request.dry_run === true,
          values: "moved",
          moved: source,
          recorded: (key) => ({
            action: "secret.copy",
            from: from.env.name,
            from_version: sourceVersions.get(key)
          })
        })
        const isNarrowed = from.reach !== null || to.reach !== null
        const answer: BundleWritten = { ...written, ...(isNarrowed && { left_out: leftOut }) }
        return { etag: tagOf(written.revision), written: answer }
      }
    )

    /**
     * The secrets of an environment that the caller may compare with those of another one, and, with the right to read, what they refer
     * to.
     */
    const side = Effect.fnUntraced(function* (
      place: Place<"secret.compare">,
      other: Place<"secret.compare">,
      reading?: Place<"secret.read">
    ) {
      const all = yield* repo.select(place.env.id, undefined)
      const [left, secrets] = Array.partition(all, ({ key }) => mayName(place, key) && mayName(other, key))
      const leftOut = left.map(({ key }) => key)
      return { place, secrets, leftOut, closure: reading && (yield* referenceReader.load(reading, secrets, secrets)) }
    })

    /** Opens the secrets of a side: references as texts or, if they were loaded, as the values that they lead to, which then count as texts. */
    const opener = Effect.fnUntraced(function* ({
      closure,
      place,
      secrets
    }: Effect.Effect.Success<ReturnType<typeof side>>) {
      const references = secrets.filter((secret) => kindOf(secret) === "reference")
      const texts = yield* versions.openAll(place, closure === undefined ? [] : references)
      const sources = Array.zipWith(references, texts, ({ key }, text) => ({ key, text }))
      const values =
        closure === undefined ? new Map<SecretKey, Value>() : yield* referenceReader.valuesOf(closure, sources)
      return (secret: WholeRow): Either.Either<Content, Altered> => {
        const value = values.get(secret.key)
        return value === undefined
          ? Either.map(versions.opened(place, secret, secret), (text) => ({ kind: kindOf(secret), value: text }))
          : Either.right({ kind: "text", value })
      }
    })

    /**
     * Compares two environments by key. Returns no values: both sides are decrypted only to compare them. With `reading`, references
     * are compared by the values that they lead to: an account that is never given values could otherwise compare one value with a
     * thousand guesses at once. Fails with ReferenceRefused if one leads to no value.
     */
    const diff = method(
      "Promotion.diff",
      function* (
        here: Place<"secret.compare">,
        there: Place<"secret.compare">,
        reading?: { readonly here: Place<"secret.read">; readonly there: Place<"secret.read"> }
      ) {
        yield* comparisons.admit(here, {
          resource_type: "env",
          resource_id: here.env.id,
          metadata: { with: there.env.name }
        })
        // Values are decrypted and compared after the snapshot, for which other readers wait.
        const { mine, theirs } = yield* snapshot(
          Effect.all({ mine: side(here, there, reading?.here), theirs: side(there, here, reading?.there) })
        )
        const [openMine, openTheirs] = [yield* opener(mine), yield* opener(theirs)]
        const others = new Map(theirs.secrets.map((secret) => [secret.key, secret]))
        const keysHere = new Set(mine.secrets.map(({ key }) => key))
        const statusOf = (secret: WholeRow): Either.Either<Diff["data"][number], Altered> => {
          const { key } = secret
          const other = others.get(key)
          if (other === undefined) return Either.right({ key, status: "only_here" })
          return Either.flatMap(openMine(secret), (a) =>
            Either.map(openTheirs(other), (b) => {
              const isSame = a.kind === b.kind && Redacted.value(a.value) === Redacted.value(b.value)
              return { key, status: isSame ? "same" : "different" }
            })
          )
        }
        const inBoth = yield* Effect.catchAll(Either.all(yield* mapInSlices(mine.secrets, statusOf)), versions.failed)
        const onlyThere = [...others.keys()]
          .filter((key) => !keysHere.has(key))
          .map((key) => ({ key, status: "only_there" satisfies Status }))
        const isNarrowed = here.reach !== null || there.reach !== null
        const answer: Diff = {
          data: [...inBoth, ...onlyThere].sort((a, b) => (a.key < b.key ? -1 : 1)),
          ...(isNarrowed && { left_out: new Set([...mine.leftOut, ...theirs.leftOut]).size })
        }
        return answer
      }
    )

    return { prepare, copy, diff } as const
  }),
  dependencies: [Changes.Default, Comparisons.Default, Versions.Default, ReferenceReader.Default]
}) {}
