import { actorName, type UserActor } from "@coffer/domain/Actor"
import type { ArchivedDeclaration, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import type { ImportFinished, OrganizationImport } from "@coffer/domain/archive/Import"
import type { SentCounts } from "@coffer/domain/archive/Manifest"
import { maxDeclaredKeys } from "@coffer/domain/DeclaredKey"
import { Conflict, LimitExceeded } from "@coffer/domain/Errors"
import { ImportId, OrgId, ProjectId } from "@coffer/domain/Ids"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import type { Organization } from "@coffer/domain/Organization"
import { originOf } from "@coffer/domain/Webhook"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Access } from "../../access/Access.js"
import { freedNamesRepo } from "../../access/FreedNames.js"
import { makeVotingMembers, namesOf } from "../../access/VotingMembers.js"
import { notFound } from "../../access/NotFound.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { misleading } from "../../base/config/Networks.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { now, timestamp } from "../../base/Time.js"
import { traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orgScope } from "../../database/Scopes.js"
import { orTaken } from "../../database/SqlErrors.js"
import { archiveCounts } from "../../directory/exports/Counts.js"
import { Federations } from "../../directory/federations/Federations.js"
import { Users } from "../../directory/login/Users.js"
import { makeRemovals, orgNameTaken } from "../../directory/trash/Removals.js"
import { ImportedSecrets } from "../../secrets/archives/ImportedSecrets.js"
import { makeImportedValues } from "../../secrets/archives/ImportedValues.js"
import { importRepo, type ImportRow } from "../../secrets/archives/ImportRepo.js"
import { checkPattern, sortedNames } from "../../secrets/declared/Declared.js"
import { declaredRepo } from "../../secrets/declared/Repo.js"
import { SigningKeys } from "../webhooks/SigningKeys.js"
import { checkProtections } from "./ProtectionChecks.js"
import { makeNewDirectory } from "./NewDirectory.js"
import { lifetime, makeNewPlaces } from "./NewPlaces.js"
import { decodeStructure, linesOfStructure } from "./StructureChecks.js"

const maxImports = 5

const held = (name: OrgName) =>
  new Conflict({
    message: `the organization name ${name} belonged to a place that was protected, and is not given out again yet: choose another`
  })

/** What was counted otherwise than it was sent. */
const differenceOf = (sent: SentCounts, found: SentCounts): string | null => {
  const names = ["projects", "environments", "secrets", "versions", "use_rules", "declared"] as const
  const other = names.filter((name) => sent[name] !== found[name])
  return other.length === 0
    ? null
    : other.map((name) => `${name.replace("_", " ")}: ${sent[name]} were sent, and ${found[name]} arrived`).join("; ")
}

/** Organizations that are brought in. Until one is finished, it is hidden as a removed one is, and only its importer knows of it. */
export class Imports extends Effect.Service<Imports>()("@coffer/server/Imports", {
  effect: Effect.gen(function* () {
    const repo = yield* importRepo
    const access = yield* Access
    const audit = yield* AuditLog
    const freed = yield* freedNamesRepo
    const { stuck } = yield* makeVotingMembers
    const outbound = yield* Outbound
    const federations = yield* Federations
    const secrets = yield* ImportedSecrets
    const declared = yield* declaredRepo
    const removals = yield* makeRemovals
    const counts = yield* archiveCounts
    const verifyValues = yield* makeImportedValues
    const writeDirectory = yield* makeNewDirectory
    const writePlaces = yield* makeNewPlaces
    const { publicUrl, trustedProxies } = yield* ServerConfig

    /** Leaves out what this server would not let be made. Returns why, too. */
    const admitted = Effect.fnUntraced(function* (structure: ArchivedOrganization) {
      const left_out: Array<string> = []
      const accounts = yield* forEachInSlices(structure.accounts, (account) =>
        Effect.gen(function* () {
          const kept = yield* Effect.filter(account.federations, (federation) =>
            Effect.map(Effect.either(federations.vet(federation)), (vetted) => {
              const problem =
                publicUrl === null
                  ? "this server has no public address"
                  : Either.isLeft(vetted)
                    ? vetted.left.message
                    : null
              if (problem !== null) {
                left_out.push(`federation ${federation.name} of service account ${account.name}: ${problem}`)
              }
              return problem === null
            })
          )
          if (account.allowed_networks !== undefined && trustedProxies === null) {
            left_out.push(
              `the networks of service account ${account.name} bind nobody here until SERVICE_TRUSTED_PROXIES is set`
            )
          }
          const notes = misleading(account.allowed_networks ?? [])
          left_out.push(...notes.map((note) => `a network of service account ${account.name} is kept, but ${note}`))
          return { ...account, federations: kept }
        })
      )
      const webhooks = yield* Effect.filter(structure.webhooks, ({ url }) =>
        Effect.map(Effect.either(outbound.check(url)), (checked) => {
          if (Either.isLeft(checked)) left_out.push(`webhook to ${originOf(url)}: ${checked.left.message}`)
          return Either.isRight(checked)
        })
      )
      return { structure: { ...structure, accounts, webhooks }, left_out } as const
    })

    /** Makes a hidden organization with its projects, environments and service accounts. */
    const create = traced("Imports.create")(
      Effect.fnUntraced(function* (name: OrgName, lines: string) {
        const { left_out, structure } = yield* admitted(yield* decodeStructure(lines))
        const stored = yield* linesOfStructure(structure)
        const orgId = OrgId.make(yield* uuidV7)
        const id = ImportId.make(yield* uuidV7)
        return yield* access.change(
          access.founder(),
          (founder) =>
            Effect.gen(function* () {
              if ((yield* repo.count({ userId: founder.id })).count >= maxImports) {
                return yield* new LimitExceeded({
                  message: `a person has at most ${maxImports} imports at a time: finish one, or give it up`
                })
              }
              yield* checkProtections(structure, founder.email)
              if ((yield* repo.nameTaken({ name })) !== undefined) return yield* orgNameTaken(name)
              if ((yield* freed.find({ kind: "org", id: orgId, name }, founder.id)) !== undefined)
                return yield* held(name)
              yield* removals.checkName(founder, name)
              const at = yield* now
              yield* repo.insertOrganization({ id: orgId, name, recovery: structure.passkey_recovery, now: at })
              yield* writePlaces(orgId, structure, founder.email, at)
              yield* repo.insert({ id, orgId, userId: founder.id, name, structure: stored, now: at, lifetime })
              // Every organization has a log.
              yield* audit.write(
                { ...actorSource(founder), orgId },
                { action: "org.create", resource_type: "org", resource_id: orgId, metadata: { name, import: id } }
              )
              const { expires_at } = yield* find(founder, id)
              const made: OrganizationImport = { id, name, left_out, created_at: at, expires_at: timestamp(expires_at) }
              return made
            }),
          { also: [orgScope(orgId)] }
        )
      })
    )

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

    const declare = traced("Imports.declare")(
      Effect.fnUntraced(function* (id: ImportId, project: ProjectName, data: ReadonlyArray<ArchivedDeclaration>) {
        const before = yield* known(id)
        yield* forEachInSlices(data, checkPattern)
        yield* change(before, (row, importer) =>
          Effect.gen(function* () {
            if ((yield* repo.touch({ id })).length === 0) return yield* notFound(`import ${id}`)
            const found = yield* repo.project({ orgId: row.org_id, name: project })
            if (found === undefined) return yield* notFound(`project ${project} of the import`)
            const projectId = ProjectId.make(found.id)
            yield* forEachInSlices(data, ({ required_in = [], ...one }) =>
              declared.set(projectId, {
                ...one,
                required_in: sortedNames(required_in),
                updated_at: row.created_at,
                updated_by: actorName(importer)
              })
            )
            if ((yield* declared.count({ projectId })).count > maxDeclaredKeys) {
              return yield* new LimitExceeded({ message: `a project declares at most ${maxDeclaredKeys} keys` })
            }
          })
        )
      })
    )

    const write = traced("Imports.write")(
      Effect.fnUntraced(function* (
        id: ImportId,
        project: ProjectName,
        env: EnvName,
        data: ReadonlyArray<ArchivedVersion>
      ) {
        const before = yield* known(id)
        const prepared = yield* secrets.prepare(before, project, env, data)
        yield* change(before, (row, importer) => secrets.write(row, prepared, importer.email))
      })
    )

    /** Verifies what arrived, and makes the organization visible in the transaction that writes the rest of it. */
    const finish = traced("Imports.finish")(
      Effect.fnUntraced(function* (id: ImportId, sent: SentCounts) {
        const before = yield* known(id)
        yield* verifyValues(before)
        const structure = yield* Effect.orDie(decodeStructure((yield* repo.structure({ id })).structure))
        // Counted before the transaction, for which others wait: it ends if anything was written since.
        const arrived = yield* counts({ orgId: before.org_id })
        return yield* change(before, (row, importer) =>
          Effect.gen(function* () {
            const { name, org_id } = row
            const difference = differenceOf(sent, arrived)
            if (difference !== null)
              return yield* new Conflict({ message: `the import is not complete: ${difference}` })
            if ((yield* repo.withoutValue({ orgId: org_id })).count > 0) {
              return yield* new Conflict({ message: "the import is not complete: a secret has no current value" })
            }
            if ((yield* repo.remove({ id, revision: before.revision })).length === 0) {
              return yield* new Conflict({ message: "the import was changed while it was verified: finish it again" })
            }
            const at = timestamp(yield* Clock.currentTimeMillis)
            yield* repo.reveal({ id: org_id, now: at }).pipe(orTaken(() => orgNameTaken(name)))
            if ((yield* freed.find({ kind: "org", id: org_id, name }, importer.id)) !== undefined)
              return yield* held(name)
            yield* removals.checkName(importer, name)
            yield* repo.beginHistories({ orgId: org_id })
            yield* writeDirectory({ id: org_id, name, structure, importer })
            // Somebody who votes may be disabled on this server.
            const unvotable = yield* stuck(org_id)
            if (unvotable.length > 0) {
              return yield* new Conflict({
                message: `nobody could end the protection of ${namesOf(unvotable)} on this server, where people who vote are disabled: have them enabled, and finish the import again`
              })
            }
            const all = yield* counts({ orgId: org_id })
            yield* audit.write(
              { ...actorSource(importer), orgId: org_id },
              { action: "org.import", resource_type: "org", resource_id: org_id, metadata: { name, ...all } }
            )
            const organization: Organization = {
              id: org_id,
              name,
              role: "owner",
              passkey_recovery: structure.passkey_recovery,
              created_at: at,
              updated_at: at
            }
            const finished: ImportFinished = { organization, counts: all }
            return finished
          })
        )
      })
    )

    const abandon = traced("Imports.abandon")((id: ImportId) =>
      Effect.flatMap(known(id), (before) => change(before, () => repo.end({ id })))
    )

    return { create, declare, write, finish, abandon } as const
  }),
  dependencies: [Federations.Default, ImportedSecrets.Default, Outbound.Default, SigningKeys.Default, Users.Default]
}) {}
