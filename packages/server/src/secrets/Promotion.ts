import type { SecretKey } from "@coffer/domain/Names"
import type { Diff } from "@coffer/domain/Secret"
import { Effect, Either, Redacted } from "effect"
import type { Place } from "../access/Access.js"
import { now } from "../database/Time.js"
import { transaction } from "../database/Writer.js"
import { Instance } from "../keys/Instance.js"
import { forEachInTurns } from "../Turn.js"
import { narrow } from "./Bundles.js"
import { Changes, type Wanted } from "./Changes.js"
import { checkMatch, etagOf } from "./ETag.js"
import { type CurrentSecret, missingEnvironment, SecretsRepo } from "./Repo.js"
import { Versions } from "./Versions.js"

type Status = "only_here" | "only_there" | "same" | "different"

/** Moving values between environments, and comparing them, without anybody seeing one. */
export class Promotion extends Effect.Service<Promotion>()("@coffer/server/Promotion", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const { epoch } = yield* Instance

    /**
     * Writes the values of some keys, or all, of another environment; a value that is the same already gets no version. The
     * ETag stands for both environments: with `ifMatch`, nothing is written when either has changed.
     */
    const copy = Effect.fn("Promotion.copy")(function* (
      to: Place<"secret.write">,
      from: Place<"secret.copy">,
      request: { readonly keys?: ReadonlyArray<SecretKey>; readonly dry_run?: boolean },
      ifMatch?: string
    ) {
      const at = yield* now
      return yield* transaction(
        Effect.gen(function* () {
          const target = yield* repo.contentsForUpdate(to.env.id)
          if (target === undefined) return yield* missingEnvironment(to.env.name)
          const origin = yield* repo.contentsForUpdate(from.env.id)
          if (origin === undefined) return yield* missingEnvironment(from.env.name)
          const tagOf = (revision: number) =>
            etagOf(epoch, { id: to.env.id, revision }, { id: from.env.id, revision: origin.totals.revision })
          yield* checkMatch(to.env.name, ifMatch, tagOf(target.totals.revision))
          const source = yield* narrow(origin.secrets, request.keys)
          const values = yield* forEachInTurns(source, (secret) =>
            Either.map(versions.open(from, secret, secret.content()), (value) => [secret.key, value] as const)
          )
          const wanted: Wanted = new Map(values)
          const sourceVersions = new Map(source.map(({ key, version }) => [key, version]))
          const steps = yield* changes.plan(to, target.secrets, wanted)
          const written = yield* changes.apply(to, target.totals, steps, {
            at,
            dryRun: request.dry_run === true,
            eventOfSet: (key, version) => ({
              action: "secret.copy",
              metadata: { key, version, from: from.env.name, from_version: sourceVersions.get(key) }
            })
          })
          return { etag: tagOf(written.revision), written }
        })
      )
    })

    const compare = Effect.fnUntraced(function* (here: Place<"secret.compare">, there: Place<"secret.compare">) {
      const mine = (yield* repo.contents(here.env.id))?.secrets ?? []
      const theirs = (yield* repo.contents(there.env.id))?.secrets ?? []
      const others = new Map(theirs.map((secret) => [secret.key, secret]))
      const keysHere = new Set(mine.map(({ key }) => key))
      const statusOf = Effect.fnUntraced(function* (secret: CurrentSecret) {
        const other = others.get(secret.key)
        if (other === undefined) return { key: secret.key, status: "only_here" satisfies Status }
        const a = yield* versions.open(here, secret, secret.content())
        const b = yield* versions.open(there, other, other.content())
        const status: Status = Redacted.value(a) === Redacted.value(b) ? "same" : "different"
        return { key: secret.key, status }
      })
      const inBoth = yield* forEachInTurns(mine, statusOf)
      const onlyThere = [...others.keys()]
        .filter((key) => !keysHere.has(key))
        .map((key) => ({ key, status: "only_there" satisfies Status }))
      const answer: Diff = { data: [...inBoth, ...onlyThere].sort((a, b) => (a.key < b.key ? -1 : 1)) }
      return answer
    })

    /** Which keys are only here, only there, the same or different: decided by decrypting both, and nothing else leaves. */
    const diff = Effect.fn("Promotion.diff")(function* (here: Place<"secret.compare">, there: Place<"secret.compare">) {
      const revisions = () => [here, there].map(({ env }) => repo.revision(env.id)).join()
      for (;;) {
        const before = revisions()
        const compared = yield* Effect.either(compare(here, there))
        // A version that was replaced since may be destroyed by now: then both are compared as they are now.
        if (Either.isRight(compared) || revisions() === before) return yield* compared
      }
    })

    return { copy, diff } as const
  }),
  dependencies: [SecretsRepo.Default, Changes.Default, Versions.Default]
}) {}
