import type { SecretKey } from "@coffer/domain/Names"
import type { Diff } from "@coffer/domain/Secret"
import { Effect, Redacted } from "effect"
import type { Place } from "../access/Access.js"
import { now } from "../database/Time.js"
import { transaction } from "../database/Writer.js"
import { Instance } from "../keys/Instance.js"
import { forEachInTurns, turn } from "../Turn.js"
import { narrow } from "./Bundles.js"
import { Changes, type Wanted } from "./Changes.js"
import { checkMatch, etagOf } from "./ETag.js"
import { type BundleRow, missingEnvironment, SecretsRepo } from "./Repo.js"
import { Versions } from "./Versions.js"

/** How many secrets are decrypted before other work gets its turn. */
const stride = 100

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
          const totals = repo.totals(to.env.id)
          if (totals === undefined) return yield* missingEnvironment(to.env.name)
          const fromTotals = repo.totals(from.env.id)
          if (fromTotals === undefined) return yield* missingEnvironment(from.env.name)
          const tagOf = (revision: number) =>
            etagOf(epoch, { id: to.env.id, revision }, { id: from.env.id, revision: fromTotals.revision })
          yield* checkMatch(to.env.name, ifMatch, tagOf(totals.revision))
          const source = yield* Effect.flatMap(repo.bundleForUpdate(from.env.id), (rows) => narrow(rows, request.keys))
          const values = yield* forEachInTurns(source, (row) =>
            Effect.map(versions.open(from, row, row), (value) => [row.key, value] as const)
          )
          const wanted: Wanted = new Map(values)
          const sourceVersions = new Map(source.map(({ key, version }) => [key, version]))
          const steps = yield* changes.plan(to, yield* repo.bundleForUpdate(to.env.id), wanted)
          const written = yield* changes.apply(to, totals, steps, {
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

    /** Which keys are only here, only there, the same or different: decided by decrypting both, and nothing else leaves. */
    const diff = Effect.fn("Promotion.diff")(function* (here: Place<"secret.compare">, there: Place<"secret.compare">) {
      const mine = yield* repo.bundle(here.env.id)
      const others = new Map((yield* repo.bundle(there.env.id)).map((row) => [row.key, row]))
      const keysHere = new Set(mine.map(({ key }) => key))
      const statusOf = Effect.fnUntraced(function* (row: BundleRow, index: number) {
        if (index % stride === stride - 1) yield* turn
        const other = others.get(row.key)
        if (other === undefined) return { key: row.key, status: "only_here" satisfies Status }
        const [a, b] = [yield* versions.open(here, row, row), yield* versions.open(there, other, other)]
        const status: Status = Redacted.value(a) === Redacted.value(b) ? "same" : "different"
        return { key: row.key, status }
      })
      const inBoth = yield* Effect.forEach(mine, statusOf)
      const onlyThere = [...others.keys()]
        .filter((key) => !keysHere.has(key))
        .map((key) => ({ key, status: "only_there" satisfies Status }))
      const answer: Diff = { data: [...inBoth, ...onlyThere].sort((a, b) => (a.key < b.key ? -1 : 1)) }
      return answer
    })

    return { copy, diff } as const
  }),
  dependencies: [SecretsRepo.Default, Changes.Default, Versions.Default]
}) {}
