import { actorName, type UserActor } from "@coffer/domain/access/Actor"
import type { ArchivedDeclaration, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import type { ImportFinished, OrganizationImport } from "@coffer/domain/archive/Import"
import { type ArchivedField, archivedFieldNames, fieldsOfOrganization } from "@coffer/domain/archive/Fields"
import type { ArchiveCounts, SentCounts } from "@coffer/domain/archive/Manifest"
import { Conflict, LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { ImportId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { orgNameHeld } from "@coffer/domain/directory/OrgNameRefusals"
import type { Organization } from "@coffer/domain/directory/Organization"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Access } from "../../access/Access.js"
import { freedNamesRepo } from "../../access/place/FreedNames.js"
import { notFound } from "../../access/place/NotFound.js"
import { makeVotingMembers, namesOf } from "../../access/gate/VotingMembers.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now, timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database, type Transaction } from "../../database/Database.js"
import { orgScope } from "../../database/Scopes.js"
import { orTaken } from "../../database/SqlErrors.js"
import type { Arriving } from "../../directory/archives/Arriving.js"
import { writePhases } from "../../directory/archives/Phases.js"
import { archiveCounts } from "../../directory/exports/Counts.js"
import { makeRemovals, orgNameTaken } from "../../directory/trash/Removals.js"
import { makeImportedReferences } from "../../secrets/archives/ImportedReferences.js"
import { ImportedSecrets } from "../../secrets/archives/ImportedSecrets.js"
import { makeImportedValues } from "../../secrets/archives/ImportedValues.js"
import { importRepo, type ImportRow } from "../../secrets/archives/ImportRepo.js"
import { checkPattern, declaredLimit, sortedNames } from "../../secrets/declared/Declared.js"
import { declaredRepo } from "../../secrets/declared/Repo.js"
import { Parts } from "./Parts.js"
import { decodeStructure, endsProblem, linesOfStructure } from "./StructureChecks.js"

const maxImports = 5

/** How long an import lasts. */
const lifetime = 24 * 60 * 60 * 1000

/** How long an import lasts whose places are being written, after each step: whoever was killed with it left nothing for long. */
const lifetimeOfStep = 10 * 60 * 1000

const held = (name: OrgName) => new Conflict({ message: orgNameHeld(name) })

const lost = (name: string, sent: number, arrived: number) =>
  sent === arrived ? [] : [`${name}: ${sent} were sent, and ${arrived} arrived`]

const problemOf = (differences: ReadonlyArray<string>) =>
  differences.length === 0
    ? Effect.void
    : new Conflict({ message: `the import is not complete: ${differences.join("; ")}` })

/** Fields of records that are written last, after these were compared with what was sent. */
const isWrittenLast = (name: ArchivedField) =>
  name === "mappings" || name === "environments.protection" || name.startsWith("federations")

/** The counts of records, and of their optional fields, that differ from those that were sent. */
const lostOnTheWay = (sent: SentCounts, found: ArchiveCounts): ReadonlyArray<string> => {
  const names = ["projects", "environments", "secrets", "versions", "use_rules", "declared"] as const
  const fields = archivedFieldNames.filter((name) => !isWrittenLast(name))
  return [
    ...names.flatMap((name) => lost(name.replace("_", " "), sent[name], found[name])),
    ...fields.flatMap((name) =>
      sent.fields === undefined || found.fields === undefined ? [] : lost(name, sent.fields[name], found.fields[name])
    )
  ]
}

/** The settings of an organization, as its record has them. */
const settingsOf = ({ passkey_recovery, unused_access_mail = "never" }: ArchivedOrganization) => ({
  passkey_recovery,
  unused_access_mail
})

/** The counts of records, and of their optional fields, that differ from those of the structure which was written. */
const lostInWriting = (structure: ArchivedOrganization, { fields, ...found }: ArchiveCounts): ReadonlyArray<string> => {
  const counted = fieldsOfOrganization(structure)
  return [
    ...(["groups", "accounts", "webhooks"] as const).flatMap((name) => lost(name, structure[name].length, found[name])),
    ...archivedFieldNames.flatMap((name) => lost(name, counted[name] ?? fields?.[name] ?? 0, fields?.[name] ?? 0))
  ]
}

/** Organizations that are brought in. Until one is finished, it is hidden as a removed one is, and only its importer knows of it. */
export class Imports extends Effect.Service<Imports>()("@coffer/server/Imports", {
  effect: Effect.gen(function* () {
    const repo = yield* importRepo
    const access = yield* Access
    const audit = yield* AuditLog
    const freed = yield* freedNamesRepo
    const { stuck } = yield* makeVotingMembers
    const parts = yield* Parts
    const secrets = yield* ImportedSecrets
    const declared = yield* declaredRepo
    const removals = yield* makeRemovals
    const counts = yield* archiveCounts
    const verifyValues = yield* makeImportedValues
    const checkReferences = yield* makeImportedReferences
    const { clock } = yield* Database

    /** An import of the caller that has not ended. */
    const find = Effect.fnUntraced(function* (importer: UserActor, id: ImportId) {
      return (yield* repo.find({ id, userId: importer.id })) ?? (yield* notFound(`import ${id}`))
    })

    const known = (id: ImportId) => Effect.flatMap(access.founder(), (importer) => find(importer, id))

    /** Changes a hidden organization, which is found again in the transaction. */
    const change = <A, E, R>(
      { id, org_id }: ImportRow,
      step: (row: ImportRow, importer: UserActor) => Effect.Effect<A, E, R>
    ) =>
      access.change(access.founder(), (importer) => Effect.flatMap(find(importer, id), (row) => step(row, importer)), {
        also: [orgScope(org_id)]
      })

    /** An import that is begun ends, and is removed later: nobody has its id. */
    const giveUp = (row: ImportRow) => Effect.ignore(change(row, () => repo.end({ id: row.id })))

    /** Makes a hidden organization with its projects, environments and service accounts, in transactions of some rows each. */
    const create = method("Imports.create", function* (name: OrgName, lines: string) {
      const { email } = yield* access.founder()
      const { left_out, structure } = yield* parts.admit(yield* decodeStructure(lines), email)
      const stored = yield* linesOfStructure(structure)
      const orgId = OrgId.make(yield* uuidV7)
      const id = ImportId.make(yield* uuidV7)
      const at = yield* now
      const tooLate = endsProblem(structure, Date.parse(at))
      if (tooLate !== null) return yield* tooLate
      // A place that ends before the import does could not be verified.
      const places = yield* parts.begin(orgId, structure, { at, by: email, earliestEnd: (yield* clock) + lifetime })
      const begun = yield* access.change(
        access.founder(),
        (founder) =>
          Effect.gen(function* () {
            if ((yield* repo.count({ userId: founder.id })).count >= maxImports) {
              return yield* new LimitExceeded({
                message: `a person has at most ${maxImports} imports at a time: finish one, or give it up`
              })
            }
            if ((yield* repo.nameTaken({ name })) !== undefined) return yield* orgNameTaken(name)
            if ((yield* freed.find({ kind: "org", id: orgId, name }, founder.id)) !== undefined)
              return yield* held(name)
            yield* removals.checkName(founder, name)
            yield* repo.insertOrganization({ id: orgId, name, ...settingsOf(structure), now: at })
            yield* repo.insert({
              ...{ id, orgId, userId: founder.id, name, structure: stored, now: at },
              lifetime: lifetimeOfStep
            })
            // Every organization has a log.
            yield* audit.change(
              { ...actorSource(founder), orgId },
              { action: "org.create", resource_type: "org", resource_id: orgId, metadata: { name, import: id } }
            )
            return yield* find(founder, id)
          }),
        { also: [orgScope(orgId)] }
      )
      const { expires_at } = yield* Effect.gen(function* () {
        yield* writePhases(places, 0, (_from, to, write) =>
          change(begun, () =>
            Effect.as(Effect.zipRight(write, repo.advance({ id, written: to, lifetime: lifetimeOfStep })), to)
          )
        )
        // From here on, `written` counts what `finish` writes.
        return yield* change(begun, (_row, importer) =>
          Effect.zipRight(repo.advance({ id, written: 0, lifetime }), find(importer, id))
        )
      }).pipe(Effect.onError(() => giveUp(begun)))
      const made: OrganizationImport = { id, name, left_out, created_at: at, expires_at: timestamp(expires_at) }
      return made
    })

    const declare = method(
      "Imports.declare",
      function* (id: ImportId, project: ProjectName, data: ReadonlyArray<ArchivedDeclaration>) {
        const before = yield* known(id)
        yield* forEachInSlices(data, (one) =>
          Effect.mapError(
            checkPattern(one),
            ({ message }) => new ValidationError({ message: `${one.key}: ${message}` })
          )
        )
        yield* change(before, (row, importer) =>
          Effect.gen(function* () {
            if ((yield* repo.touch({ id })).length === 0) return yield* notFound(`import ${id}`)
            const found = yield* repo.project({ orgId: row.org_id, name: project })
            if (found === undefined) return yield* notFound(`project ${project} of the import`)
            const projectId = ProjectId.make(found.id)
            yield* Effect.forEach(
              data,
              ({ required_in = [], ...one }) =>
                declared.set(projectId, {
                  ...one,
                  required_in: sortedNames(required_in),
                  updated_at: row.created_at,
                  updated_by: actorName(importer)
                }),
              { discard: true }
            )
            const crowded = declaredLimit.problem((yield* declared.count({ projectId })).count, `project ${project}`)
            if (crowded !== null) return yield* crowded
          })
        )
      }
    )

    const write = method(
      "Imports.write",
      function* (id: ImportId, project: ProjectName, env: EnvName, data: ReadonlyArray<ArchivedVersion>) {
        const before = yield* known(id)
        const prepared = yield* secrets.prepare(before, project, env, data)
        yield* change(before, (row, importer) => secrets.write(row, prepared, importer.email))
      }
    )

    /** Runs steps of an import, each in a transaction of some rows, from the last thing that they wrote until they write nothing. */
    const sweep = <E>(before: ImportRow, step: (after: string) => Effect.Effect<string | null, E, Transaction>) =>
      Effect.gen(function* () {
        let after: string | null = ""
        while (after !== null) {
          const from: string = after
          after = yield* change(before, () => step(from))
        }
      })

    /**
     * Writes what is left of an organization while it is hidden. Whatever ended an earlier call, this one goes on where it was. Returns
     * notes on what was left out.
     */
    const writeRest = Effect.fnUntraced(function* (before: ImportRow, arriving: Arriving) {
      const { id, org_id: orgId } = before
      yield* writePhases(parts.end(arriving), before.written, (from, to, write) =>
        change(before, ({ written }) =>
          written === from
            ? Effect.as(Effect.zipRight(write, repo.note({ id, written: to })), to)
            : Effect.succeed(written)
        )
      )
      yield* sweep(before, parts.renameAudiences(arriving))
      const left_out = yield* secrets.unknownUsePeople(orgId)
      yield* sweep(before, () => secrets.admitUsePeople(orgId))
      yield* sweep(before, (after) => secrets.beginHistories(orgId, after))
      return left_out
    })

    /** Verifies what arrived, writes the rest of the organization, and makes it visible in a transaction of its own. */
    const finish = method("Imports.finish", function* (id: ImportId, sent: SentCounts, wanted?: OrgName) {
      const importer = yield* access.founder()
      const before = yield* find(importer, id)
      const { org_id } = before
      const name = wanted ?? before.name
      yield* verifyValues(before)
      const structure = yield* Effect.orDie(decodeStructure((yield* repo.structure({ id })).structure))
      // Counted outside of a transaction, for which others wait: the last one fails if anything was written since.
      yield* problemOf(lostOnTheWay(sent, yield* counts({ orgId: org_id })))
      if ((yield* repo.withoutValue({ orgId: org_id })).count > 0) {
        return yield* new Conflict({ message: "the import is not complete: a secret has no current value" })
      }
      const unread = yield* checkReferences(org_id)
      if ((yield* repo.nameTaken({ name })) !== undefined) return yield* orgNameTaken(name)
      const left_out = [...unread, ...(yield* writeRest(before, { id: org_id, name, structure, importer }))]
      const all = yield* counts({ orgId: org_id })
      yield* problemOf(lostInWriting(structure, all))
      return yield* change(before, (_row, importer) =>
        Effect.gen(function* () {
          if ((yield* repo.remove({ id, revision: before.revision })).length === 0) {
            return yield* new Conflict({ message: "the import was changed while it was verified: finish it again" })
          }
          const at = timestamp(yield* Clock.currentTimeMillis)
          yield* repo.reveal({ id: org_id, name, now: at }).pipe(orTaken(() => orgNameTaken(name)))
          if ((yield* freed.find({ kind: "org", id: org_id, name }, importer.id)) !== undefined)
            return yield* held(name)
          yield* removals.checkName(importer, name)
          // Somebody who votes may be disabled on this server. Its people accept when they come.
          const unvotable = yield* stuck(org_id, { invited: true })
          if (unvotable.length > 0) {
            return yield* new Conflict({
              message: `nobody could end the protection of ${namesOf(unvotable)} on this server, where people who vote are disabled: have them enabled, and finish the import again`
            })
          }
          yield* audit.change(
            { ...actorSource(importer), orgId: org_id },
            { action: "org.import", resource_type: "org", resource_id: org_id, metadata: { name, ...all } }
          )
          const organization: Organization = {
            id: org_id,
            name,
            role: "owner",
            ...settingsOf(structure),
            created_at: at,
            updated_at: at
          }
          const finished: ImportFinished = { organization, counts: all, left_out }
          return finished
        })
      )
    })

    const abandon = traced("Imports.abandon")((id: ImportId) =>
      Effect.flatMap(known(id), (before) => change(before, () => repo.end({ id })))
    )

    return { create, declare, write, finish, abandon } as const
  }),
  dependencies: [ImportedSecrets.Default, Parts.Default]
}) {}
