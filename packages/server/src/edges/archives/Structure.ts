import { Api } from "@coffer/domain/Api"
import type { archivedRecords } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import type { OrgName } from "@coffer/domain/base/Names"
import type { PasskeyRecovery, UnusedAccessMail } from "@coffer/domain/directory/Organization"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import { notVisible } from "../../access/place/NotFound.js"
import { traced } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { archiveCounts } from "../../directory/exports/Counts.js"
import { organizationsRepo } from "../../directory/organizations/Repo.js"
import { Parts } from "./Parts.js"

type Records = typeof archivedRecords

/** The lists of a structure as JSON has them. */
export type StructureLists = { readonly [Name in keyof Records]: ReadonlyArray<Schema.Schema.Encoded<Records[Name]>> }

/** The structure of an organization, as of one moment. */
export interface Structure {
  readonly name: OrgName
  readonly server: string
  readonly counts: ArchiveCounts
  readonly passkey_recovery: PasskeyRecovery
  /** Absent: never. Servers of earlier releases do not know it. */
  readonly unused_access_mail?: UnusedAccessMail
  readonly lists: StructureLists
}

const serverVersion = Option.getOrElse(Context.getOption(Api.annotations, OpenApi.Version), () => "")

/** Reads the structure of an organization by names instead of ids, without what was removed and without keys. */
export class Structures extends Effect.Service<Structures>()("@coffer/server/Structures", {
  effect: Effect.gen(function* () {
    const organizations = yield* organizationsRepo
    const parts = yield* Parts
    const counts = yield* archiveCounts
    const { snapshot } = yield* Database

    const read = traced("Structures.read")((place: Place<"org.export">) =>
      snapshot(
        Effect.gen(function* () {
          const { id, name } = place.org
          const found =
            (yield* organizations.find({ id, actorId: place.actor.id })) ?? (yield* notVisible(`organization ${name}`))
          const lists: StructureLists = yield* parts.read(id)
          const structure: Structure = {
            name: found.name,
            server: serverVersion,
            counts: {
              ...(yield* counts({ orgId: id })),
              members: lists.members.length,
              accounts: lists.accounts.length,
              rules: lists.rules.length
            },
            passkey_recovery: found.passkey_recovery,
            ...(found.unused_access_mail !== "never" && { unused_access_mail: found.unused_access_mail }),
            lists
          }
          return structure
        })
      )
    )

    return { read } as const
  }),
  dependencies: [Parts.Default]
}) {}
