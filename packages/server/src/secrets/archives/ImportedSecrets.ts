import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { Conflict, type LimitExceeded, type NotFound } from "@coffer/domain/errors/Errors"
import type { SecretId } from "@coffer/domain/base/Ids"
import type { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { notFound } from "../../access/place/NotFound.js"
import { method } from "../../base/tracing/Traced.js"
import type { Transaction } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { formatOf } from "../../keys/Envelope.js"
import { Keyring } from "../../keys/Keyring.js"
import { duesRepo } from "../dues/Repo.js"
import { changesRepo } from "../stored/ChangesRepo.js"
import { dueTimes } from "../stored/DueMoves.js"
import { checkLimits } from "../stored/Limits.js"
import { referencesRepo } from "../stored/ReferencesRepo.js"
import { type Accounts, useRulesArchive } from "../use-rules/Archive.js"
import { type ImportedVersion, type ImportedVersions, makeImportedVersions } from "./ImportedVersions.js"
import { type ImportedPlace, importRepo, type ImportRow } from "./ImportRepo.js"

/** Versions that are encrypted, for an environment that has not changed since. */
interface Prepared extends ImportedVersions {
  readonly place: ImportedPlace
  readonly accounts: Accounts
}

const nothing = new Uint8Array(0)

/** How many rows a step after the last call writes. */
const rowsAtOnce = 200

const anotherCall = ({ env, project }: ImportedPlace) =>
  new Conflict({ message: `another call writes to ${project}/${env}: try again` })

/** A version with the revision of the environment that it makes. */
interface Placed extends ImportedVersion {
  readonly revision: number
}

/**
 * Archives of 0.3.0 have no revisions: there, versions of one author and time that follow each other are of one, as after a change of
 * many keys. A secret is in it once.
 */
const inRevisions = (versions: ReadonlyArray<ImportedVersion>, before: number): ReadonlyArray<Placed> => {
  let revision = before
  let last: ArchivedVersion | undefined
  let keys = new Set<SecretKey>()
  return versions.map((version) => {
    const { created_at, created_by, key, revision: given } = version.archived
    if (given !== undefined) {
      revision = Math.max(revision, given)
      last = undefined
      return { ...version, revision: given }
    }
    if (last?.created_at !== created_at || last.created_by !== created_by || keys.has(key)) {
      revision += 1
      keys = new Set()
    }
    last = version.archived
    keys.add(key)
    return { ...version, revision }
  })
}

/** The last of the new versions of each secret. */
const lastOf = (versions: ReadonlyArray<Placed>): ReadonlyArray<Placed> => [
  ...new Map(versions.map((version) => [version.secretId, version])).values()
]

/** Writes secrets into a hidden organization: the versions of each, from the first one on. */
export class ImportedSecrets extends Effect.Service<ImportedSecrets>()("@coffer/server/ImportedSecrets", {
  effect: Effect.gen(function* () {
    const repo = yield* importRepo
    const references = yield* referencesRepo
    const importedVersionsOf = yield* makeImportedVersions
    const rules = yield* useRulesArchive
    const dues = yield* duesRepo
    const { insertSecrets, recordChanges, setTotals } = yield* changesRepo
    const { kekId } = yield* Keyring

    const placeOf = (orgId: ImportRow["org_id"], project: ProjectName, env: EnvName) =>
      Effect.flatMap(repo.place({ orgId, project, env }), (found): Effect.Effect<ImportedPlace, NotFound> =>
        found === undefined ? notFound(`environment ${project}/${env} of the import`) : Effect.succeed(found)
      )

    /** Encrypts versions outside of the transaction that writes them. */
    const prepare = Effect.fnUntraced(function* (
      { org_id }: ImportRow,
      project: ProjectName,
      env: EnvName,
      data: ReadonlyArray<ArchivedVersion>
    ) {
      const place = yield* placeOf(org_id, project, env)
      const accounts = yield* rules.accountsOf(org_id, data)
      const prepared: Prepared = { place, accounts, ...(yield* importedVersionsOf(org_id, place, data)) }
      return prepared
    })

    const writeSecrets = Effect.fnUntraced(function* ({ existing, place }: Prepared, placed: ReadonlyArray<Placed>) {
      const begun = new Map<SecretId, string>()
      for (const { archived, secretId } of placed) {
        if (archived.version === 1) begun.set(secretId, archived.created_at)
      }
      const ends = lastOf(placed)
      yield* insertSecrets(
        ends.flatMap(({ archived: { created_at, key, version }, secretId: id }) =>
          existing.has(key)
            ? []
            : [
                {
                  id,
                  env_id: place.env_id,
                  key,
                  version,
                  created_at: begun.get(id) ?? created_at,
                  updated_at: created_at
                }
              ]
        )
      )
      for (const { archived, secretId: id } of ends) {
        const { created_at: at, key, version } = archived
        if (existing.has(key)) yield* repo.advanceSecret({ id, version, at })
      }
    })

    const writeVersions = Effect.fnUntraced(function* (place: ImportedPlace, placed: ReadonlyArray<Placed>) {
      yield* repo.insertVersions(
        placed.map(({ archived, bytes, revision, sealed, secretId }) => ({
          secret_id: secretId,
          version: archived.version,
          revision,
          format: sealed?.format ?? formatOf(archived.kind ?? "text"),
          kek_id: sealed?.kek_id ?? kekId,
          wrapped_key: sealed?.wrapped_key ?? null,
          ciphertext: sealed?.ciphertext ?? nothing,
          value_bytes: bytes,
          created_by: archived.created_by,
          created_at: archived.created_at,
          destroyed_at: archived.destroyed_at ?? null
        }))
      )
      yield* recordChanges(
        placed.map(({ archived: { created_at, created_by, key, version }, revision, secretId }) => ({
          env_id: place.env_id,
          revision,
          key,
          secret_id: secretId,
          version,
          change: version === 1 ? "created" : "updated",
          created_by,
          created_at
        }))
      )
      yield* repo.insertNotes(
        placed.flatMap(({ archived: { note }, revision }) =>
          note === undefined ? [] : [{ env_id: place.env_id, revision, note }]
        )
      )
      yield* references.insert(
        placed.flatMap(({ archived: { version }, secretId, targets }) => {
          const row = { secret_id: secretId, version, env_id: place.env_id, project_id: place.project_id }
          const rows = targets.map(({ env, key }) => ({ ...row, target_env: env ?? place.env, target_key: key }))
          return [...new Map(rows.map((each) => [`${each.target_env}:${each.target_key}`, each])).values()]
        })
      )
    })

    const writeDues = ({ org_id }: ImportRow, { env_id }: ImportedPlace, placed: ReadonlyArray<Placed>) =>
      dues.save(
        placed.flatMap(({ archived: { created_at, current }, secretId: secret_id }) => {
          const { expires_at = null, owner = null, rotate_every_days = null } = current ?? {}
          if (expires_at === null && owner === null && rotate_every_days === null) return []
          const { dueAt, eventAt } = dueTimes({ expires_at, rotate_every_days, turn_at: null }, created_at)
          return [{ secret_id, org_id, env_id, owner, expires_at, rotate_every_days, due_at: dueAt, event_at: eventAt }]
        })
      )

    /** Writes what is new of prepared versions. Fails with Conflict if another call has written there meanwhile. */
    const write = method(
      "ImportedSecrets.write",
      function* (
        row: ImportRow,
        prepared: Prepared,
        by: string
      ): Effect.fn.Return<void, Conflict | LimitExceeded | NotFound, Transaction> {
        const { versions, existing } = prepared
        if ((yield* repo.touch({ id: row.id })).length === 0) return yield* notFound(`import ${row.id}`)
        if (versions.length === 0) return
        const place = yield* placeOf(row.org_id, prepared.place.project, prepared.place.env)
        if (place.revision !== prepared.place.revision) {
          return yield* anotherCall(place)
        }
        const placed = inRevisions(versions, place.revision)
        const ends = lastOf(placed)
        const after = {
          secret_count: place.secret_count + ends.filter(({ archived }) => !existing.has(archived.key)).length,
          value_bytes: ends.reduce(
            (sum, { archived, bytes }) => sum + bytes - (existing.get(archived.key)?.value_bytes ?? 0),
            place.value_bytes
          )
        }
        yield* checkLimits(place, after)
        // Two calls may write the same key of an environment whose revision neither of them moves.
        yield* Effect.zipRight(writeSecrets(prepared, placed), writeVersions(place, placed)).pipe(
          orTaken(() => anotherCall(place))
        )
        yield* writeDues(row, place, placed)
        yield* rules.write({ by, envId: place.env_id, orgId: row.org_id }, placed, prepared.accounts)
        yield* setTotals({
          id: place.env_id,
          revision: Math.max(place.revision, ...placed.map(({ revision }) => revision)),
          ...after
        })
      }
    )

    const admitUsePeople = (orgId: ImportRow["org_id"]) => rules.admitPeople(orgId, rowsAtOnce)

    /** Begins the histories of some environments after one. Returns the last of them; null if there are no more. */
    const beginHistories = Effect.fnUntraced(function* (orgId: ImportRow["org_id"], after: string) {
      const last = (yield* repo.filled({ orgId, after, limit: rowsAtOnce })).at(-1)
      if (last === undefined) return null
      yield* repo.beginHistories({ orgId, after, last: last.id })
      return last.id
    })

    return { prepare, write, unknownUsePeople: rules.unknownPeople, admitUsePeople, beginHistories } as const
  })
}) {}
