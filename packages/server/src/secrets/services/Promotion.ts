import type { DecryptionFailed } from "@coffer/domain/Errors"
import type { SecretKey } from "@coffer/domain/Names"
import type { Diff } from "@coffer/domain/Secret"
import { Effect, Redacted } from "effect"
import type { Place } from "../../access/Access.js"
import { Database } from "../../database/Database.js"
import { now } from "../../base/Time.js"
import { kindOf } from "../../keys/Envelope.js"
import { Instance } from "../../keys/Instance.js"
import { traced } from "../../base/tracing/Traced.js"
import { Widening } from "../use-rules/Widening.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { checkFound } from "./Bundles.js"
import { arrivalsOf, Changes, movesOf, type Wanted } from "./Changes.js"
import { checkMatch, etagOf } from "../stored/ETag.js"
import { SecretsRepo, type WholeRow } from "../stored/Repo.js"
import { Referring } from "../references/Referring.js"
import { type Content, Versions } from "../stored/Versions.js"

type Status = "only_here" | "only_there" | "same" | "different"

/** Copies and compares the values of two environments without showing them. */
export class Promotion extends Effect.Service<Promotion>()("@coffer/server/Promotion", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const widening = yield* Widening
    const { snapshot } = yield* Database
    const { epoch } = yield* Instance
    const referring = yield* Referring

    /**
     * Claims both environments in the order of their ids. Otherwise two copies in opposite directions could deadlock on
     * an engine with row locks.
     */
    const claimBoth = Effect.fnUntraced(function* (to: Place<"secret.write">, from: Place<"secret.copy">) {
      if (to.env.id < from.env.id) {
        const target = yield* changes.claim(to.env)
        return { target, origin: yield* changes.claim(from.env) }
      }
      const origin = yield* changes.claim(from.env)
      return { target: yield* changes.claim(to.env), origin }
    })

    /**
     * Copies the values of all keys or of `keys` from another environment. An equal value gets no new version. The ETag
     * covers both environments. Fails with Conflict if `ifMatch` does not name the current one.
     */
    const copy = traced("Promotion.copy")(
      Effect.fnUntraced(function* (
        to: Place<"secret.write">,
        from: Place<"secret.copy">,
        request: { readonly keys?: ReadonlyArray<SecretKey>; readonly dry_run?: boolean },
        ifMatch?: string
      ) {
        const at = yield* now
        const { origin, target } = yield* claimBoth(to, from)
        const tagOf = (revision: number) =>
          etagOf(epoch, { id: to.env.id, revision }, { id: from.env.id, revision: origin.revision })
        yield* checkMatch(to.env.name, ifMatch, tagOf(target.revision))
        const source = yield* repo.select(from.env.id, request.keys)
        yield* checkFound(source, request.keys)
        const values = yield* forEachInSlices(source, (secret) =>
          Effect.map(
            versions.open(from, secret, secret),
            (value) => [secret.key, { kind: kindOf(secret), value }] as const
          )
        )
        const wanted: Wanted = new Map(values)
        const sourceVersions = new Map(source.map(({ key, version }) => [key, version]))
        const steps = yield* changes.plan(to, target, wanted)
        yield* widening.check(to, movesOf(steps, source))
        const written = yield* changes.apply(to, target, steps, {
          at,
          dryRun: request.dry_run === true,
          references: { mayDangle: true, arriving: arrivalsOf(steps, source) },
          warnings: yield* changes.measure(to, target, steps, "moved"),
          eventOfSet: (key, version) => ({
            action: "secret.copy",
            metadata: { key, version, from: from.env.name, from_version: sourceVersions.get(key) }
          })
        })
        return { etag: tagOf(written.revision), written }
      })
    )

    /** Opens the secrets of an environment: references as texts, or as the values that they lead to, which then count as texts. */
    const opener = Effect.fnUntraced(function* (
      place: Place<"secret.compare">,
      secrets: ReadonlyArray<WholeRow>,
      resolved: boolean
    ) {
      const texts = secrets.filter((secret) => kindOf(secret) === "reference")
      const sources = yield* forEachInSlices(resolved ? texts : [], (secret) =>
        Effect.map(versions.open(place, secret, secret), (text) => ({ key: secret.key, text }))
      )
      const values = yield* referring.valuesOf(place, sources)
      return (secret: WholeRow): Effect.Effect<Content, DecryptionFailed> => {
        const value = values.get(secret.key)
        return value === undefined
          ? Effect.map(versions.open(place, secret, secret), (text) => ({ kind: kindOf(secret), value: text }))
          : Effect.succeed({ kind: "text", value })
      }
    })

    /**
     * Compares two environments by key. Returns no values: both sides are decrypted only to compare them. Fails with
     * ReferenceRefused if `resolved` is set and a reference leads to no value.
     */
    const diff = traced("Promotion.diff")(
      Effect.fnUntraced(function* (here: Place<"secret.compare">, there: Place<"secret.compare">, resolved?: boolean) {
        const mine = yield* repo.select(here.env.id, undefined)
        const theirs = yield* repo.select(there.env.id, undefined)
        const others = new Map(theirs.map((secret) => [secret.key, secret]))
        const keysHere = new Set(mine.map(({ key }) => key))
        const openMine = yield* opener(here, mine, resolved === true)
        const openTheirs = yield* opener(there, theirs, resolved === true)
        const statusOf = Effect.fnUntraced(function* (secret: WholeRow) {
          const other = others.get(secret.key)
          if (other === undefined) return { key: secret.key, status: "only_here" satisfies Status }
          const a = yield* openMine(secret)
          const b = yield* openTheirs(other)
          const isSame = a.kind === b.kind && Redacted.value(a.value) === Redacted.value(b.value)
          const status: Status = isSame ? "same" : "different"
          return { key: secret.key, status }
        })
        const inBoth = yield* forEachInSlices(mine, statusOf)
        const onlyThere = [...others.keys()]
          .filter((key) => !keysHere.has(key))
          .map((key) => ({ key, status: "only_there" satisfies Status }))
        const answer: Diff = { data: [...inBoth, ...onlyThere].sort((a, b) => (a.key < b.key ? -1 : 1)) }
        return answer
      }, snapshot)
    )

    return { copy, diff } as const
  }),
  dependencies: [SecretsRepo.Default, Changes.Default, Versions.Default, Widening.Default, Referring.Default]
}) {}
