import type { EnvId } from "@coffer/domain/base/Ids"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { nextTick } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { Erasures } from "../../database/Erasures.js"
import { isBusy } from "../../database/jobs/EachRow.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { type InOrganization, makeSettling, type TrashRow } from "../../directory/trash/Settling.js"
import { keyWithoutNonce } from "../../keys/Envelope.js"
import { changesRepo } from "../stored/ChangesRepo.js"
import { trashRepo } from "./Repo.js"

/** How many versions one transaction erases. */
const versionsAtOnce = 200

const rowsAtOnce = 100

const nothing = new Uint8Array(0)

interface Version {
  readonly id: string
  readonly version: number
  readonly wrapped_key: Uint8Array
}

const skippedIfBusy = (cause: Cause.Cause<never>) => (isBusy(cause) ? Option.some(Effect.void) : Option.none())

const actions = { org: "org.erase", project: "project.erase", env: "env.erase" } as const

/**
 * Erases what nothing brings back: the data keys and the ciphertexts of its values, the passwords that its rotations have drawn, and
 * what signs its webhooks. Its rows stay, with names, keys and the numbers of versions, as those of destroyed versions do.
 */
export const makeErasing = Effect.gen(function* () {
  const repo = yield* trashRepo
  const { destroyVersion } = yield* changesRepo
  const { settle } = yield* makeSettling
  const audit = yield* AuditLog
  const erasures = yield* Erasures

  /** Erases some versions. Another server may have done it, and the place may be done. */
  const eraseSome = (row: TrashRow, versions: ReadonlyArray<Version>, inOrganization: InOrganization) =>
    Effect.gen(function* () {
      if (versions.length === 0) return
      const at = yield* now
      const isErasing = yield* inOrganization(
        row.org_id,
        Effect.gen(function* () {
          if ((yield* repo.isErasing({ id: row.id })) === undefined) return false
          yield* erasures.note
          for (const { id, version } of versions) yield* destroyVersion({ id, version, now: at, nothing })
          return true
        })
      )
      if (isErasing) yield* erasures.erase(versions.map(({ wrapped_key }) => keyWithoutNonce(wrapped_key)))
    })

  const eraseSecret = Effect.fnUntraced(function* (
    row: TrashRow,
    id: string,
    waiting: Array<Version>,
    inOrganization: InOrganization
  ) {
    for (let after = 0; ;) {
      const versions = yield* repo.versions({ id, after, limit: versionsAtOnce })
      waiting.push(...versions.map((version) => ({ id, ...version })))
      while (waiting.length >= versionsAtOnce) {
        yield* eraseSome(row, waiting.splice(0, versionsAtOnce), inOrganization)
      }
      const last = versions.at(-1)
      if (last === undefined || versions.length < versionsAtOnce) return
      after = last.version
    }
  })

  const eraseEnvironment = Effect.fnUntraced(function* (row: TrashRow, envId: EnvId, inOrganization: InOrganization) {
    const waiting: Array<Version> = []
    for (const page of [repo.secrets, repo.removedSecrets]) {
      for (let [key, revision] = ["", -1]; ;) {
        const secrets = yield* page({ envId, key, revision, limit: rowsAtOnce })
        for (const { id } of secrets) yield* eraseSecret(row, id, waiting, inOrganization)
        const last = secrets.at(-1)
        if (last === undefined) break
        key = last.key
        revision = last.removed_revision
        yield* nextTick
      }
    }
    yield* eraseSome(row, waiting, inOrganization)
  })

  /**
   * Erases the values of a place, in transactions of some rows each, and forgets it. What is done stays done if it is cut off. Returns
   * false, and erases nothing yet, while leases there have not ended: the job of leases ends them, or gives them up after an hour.
   */
  const erase = Effect.fnUntraced(function* (row: TrashRow, inOrganization: InOrganization) {
    yield* settle(row, inOrganization)
    if ((yield* repo.lease({ id: row.id })) !== undefined) return false
    for (let after = ""; ;) {
      const environments = yield* repo.environmentsIn({ id: row.id, after, limit: rowsAtOnce })
      for (const { id } of environments) yield* eraseEnvironment(row, id, inOrganization)
      const last = environments.at(-1)
      if (last === undefined) break
      after = last.id
    }
    yield* Effect.repeat(inOrganization(row.org_id, repo.forgetWithin({ id: row.id, limit: rowsAtOnce })), {
      while: (forgotten) => forgotten.length === rowsAtOnce
    })
    const { id, kind, org_id } = row
    yield* inOrganization(
      org_id,
      Effect.all([
        repo.forgetDrawnPasswords({ id }),
        kind === "org" ? repo.forgetSigningKeys({ id }) : Effect.void,
        repo.forget({ id })
      ])
    )
    return true
  })

  /** Gives up a place whose time is over, with its entry. */
  const end = Effect.fnUntraced(function* ({ id, kind, name, org_id }: TrashRow) {
    if ((yield* repo.end({ id })).length === 0) return
    yield* audit.change(systemSource("trash", org_id), {
      action: actions[kind],
      resource_type: kind,
      resource_id: id,
      metadata: { name }
    })
  })

  /** Does what is due for a place: ends its time, settles its removal, and erases what nothing brings back. */
  const workOn = Effect.fnUntraced(function* (row: TrashRow, inOrganization: InOrganization) {
    yield* inOrganization(row.org_id, end(row))
    yield* (yield* repo.isErasing({ id: row.id })) === undefined
      ? settle(row, inOrganization)
      : erase(row, inOrganization)
  })

  /** Works on all places for which something is due. What belongs to a busy organization is left to a later run. */
  const eraseDue = Effect.fnUntraced(function* (fenced: Fenced) {
    const inOrganization: InOrganization = (orgId, step) => fenced(step, [orgScope(orgId)])
    for (let after = ""; ;) {
      const rows = yield* repo.due({ after, limit: rowsAtOnce })
      for (const row of rows) {
        yield* Effect.catchSomeCause(workOn(row, inOrganization), skippedIfBusy)
        yield* nextTick
      }
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.id
    }
  })

  return { erase, eraseDue } as const
})
