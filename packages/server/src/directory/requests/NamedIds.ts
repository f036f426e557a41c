import { type OrgId, ProjectId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { query } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"

/** The kind of thing that a field of a call names. */
type Named = "organization" | "environment" | "service account or member" | "member"

/**
 * The fields of calls that pass the gate and that name something by a name that another one may have by the time of the last vote. The
 * environment of a path, and the keys in it, are compared by what the change enters and touches. A test holds every field of those
 * calls against this table.
 */
export const namingFields: {
  readonly path: Readonly<Record<string, Named>>
  readonly payload: Readonly<Record<string, Named>>
} = {
  path: { org_name: "organization" },
  payload: {
    from: "environment",
    order: "environment",
    accounts: "service account or member",
    approvers: "member",
    break_glass: "member"
  }
}

const ProjectRow = Schema.Struct({ id: ProjectId })

/** The kind, the name and the id of a named thing. The id is null if nothing has the name. */
const Meaning = Schema.Tuple(Schema.String, Schema.String, Schema.NullOr(Schema.String))
type Meaning = typeof Meaning.Type

const decodeMeanings = Schema.decode(Schema.parseJson(Schema.Array(Meaning)))

const partOf = (call: unknown, part: string): Readonly<Record<string, unknown>> =>
  Predicate.hasProperty(call, part) && Predicate.isRecord(call[part]) ? call[part] : {}

const textsOf = (value: unknown): ReadonlyArray<string> => {
  const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return all.filter(Predicate.isString)
}

/** Resolves the names in calls to ids, for requests that wait. */
export const makeNamedIds = Effect.gen(function* () {
  const { first } = yield* query

  const organization = first(IdRow)`SELECT id FROM organizations WHERE name = ${"name"} AND removed_at IS NULL`
  const project = first(ProjectRow)`
    SELECT id FROM projects WHERE org_id = ${"orgId"} AND name = ${"name"} AND removed_at IS NULL`
  const environment = first(IdRow)`
    SELECT e.id AS id FROM environments e WHERE e.project_id = ${"projectId"} AND e.name = ${"name"} AND ${liveEnv}`
  const account = first(IdRow)`
    SELECT id FROM service_accounts WHERE org_id = ${"orgId"} AND name = ${"name"} AND removed_at IS NULL`
  const member = first(IdRow)`
    SELECT u.id AS id FROM users u JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
    WHERE u.email = ${"email"}`

  const memberOf = (orgId: OrgId, name: string) => member({ orgId, email: name.trim().toLowerCase() })

  /** The meanings of all names in a call of an organization now, in one order. */
  const meanings = Effect.fnUntraced(function* (orgId: OrgId, call: unknown) {
    const path = partOf(call, "path")
    const [projectName] = textsOf(path["project_name"])
    const projectId = projectName === undefined ? undefined : (yield* project({ orgId, name: projectName }))?.id
    const idOf = (what: Named, name: string) => {
      switch (what) {
        case "organization":
          return organization({ name })
        case "environment":
          return environment({ projectId: projectId ?? "", name })
        case "member":
          return memberOf(orgId, name)
        case "service account or member":
          return Effect.flatMap(account({ orgId, name }), (found) =>
            found === undefined ? memberOf(orgId, name) : Effect.succeed(found)
          )
      }
    }
    const found: Array<Meaning> = []
    for (const [part, fields] of Object.entries(namingFields)) {
      const sent = partOf(call, part)
      for (const [field, what] of Object.entries(fields)) {
        for (const name of textsOf(sent[field])) found.push([what, name, (yield* idOf(what, name))?.id ?? null])
      }
    }
    return found
  })

  return {
    /** The meanings of the names in a call as a JSON column. */
    note: (orgId: OrgId, call: unknown) => Effect.map(meanings(orgId, call), (found) => JSON.stringify(found)),

    /** Describes the names in a call that now refer to something else than when they were noted, or to nothing. */
    changes: Effect.fnUntraced(function* (orgId: OrgId, call: unknown, noted: string | null) {
      if (noted === null) return []
      const before = yield* Effect.orDie(decodeMeanings(noted))
      const ids = new Map((yield* meanings(orgId, call)).map(([what, name, id]) => [`${what} ${name}`, id]))
      return before.flatMap(([what, name, id]) => {
        const now = ids.get(`${what} ${name}`) ?? null
        if (now === id) return []
        return [
          now === null
            ? `${what} ${name} does not exist any more`
            : `${what} ${name} is another one than when it was asked for`
        ]
      })
    })
  } as const
})
