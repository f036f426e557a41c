import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { listOf, pages, textOf } from "./Fields.js"

// https://docs.gitlab.com/api/project_level_variables/ and .../group_level_variables/
// https://docs.gitlab.com/ci/variables/: names, at most 10,000 characters a value, and what can be masked.

const maxLength = 10_000
const maxName = 255
const perPage = 100

const baseOf = ({ place: { group, project = "", url = "https://gitlab.com" } }: Connection): string =>
  group === undefined
    ? `${url}/api/v4/projects/${encodeURIComponent(project)}/variables`
    : `${url}/api/v4/groups/${encodeURIComponent(group)}/variables`

const scopeOf = ({ place: { environment_scope = "*" } }: Connection): string => environment_scope

const headersOf = ({ credential }: Connection) => ({ "private-token": Redacted.value(credential) })

const variable = (connection: Connection, name: string): string =>
  `${baseOf(connection)}/${name}?filter[environment_scope]=${encodeURIComponent(scopeOf(connection))}`

/** A hidden variable has no value here. */
const toldOf = (row: unknown): Told => {
  const value = textOf(row, "value")
  return value === undefined ? {} : { value: Redacted.make(value) }
}

/** The variables of one scope of environments. They are written raw: GitLab expands no `$` in them. */
export const gitlab: SingleKind = {
  tells: "values",

  refuses: (name, value, { masked }) => {
    if (!/^[A-Za-z0-9_]+$/.test(name) || name.length > maxName)
      return "a name has at most 255 letters, digits and _ there"
    if (value.length > maxLength) return "a value has at most 10,000 characters there"
    return masked === "true" && (value.length < 8 || /\s/.test(value))
      ? "a masked value has at least 8 characters there, and no space or line break"
      : null
  },

  list: (connection) =>
    Effect.map(
      pages(
        (page) =>
          connection.ask({
            url: `${baseOf(connection)}?per_page=${perPage}&page=${page}`,
            headers: headersOf(connection)
          }),
        ({ json }) => listOf({ json }, "json"),
        perPage
      ),
      (rows) => {
        const own = rows.filter((row) => (textOf(row, "environment_scope") ?? "*") === scopeOf(connection))
        const keys = new Map(own.map((row) => [textOf(row, "key") ?? "", toldOf(row)] as const))
        return { keys, stamp: "" }
      }
    ),

  put: (connection, { keys }, name, value) => {
    const { masked, protected: isProtected } = connection.place
    const isNew = !keys.has(name)
    return connection
      .ask({
        url: isNew ? baseOf(connection) : variable(connection, name),
        method: isNew ? "POST" : "PUT",
        headers: headersOf(connection),
        also: [400],
        json: {
          ...{ key: name, value, raw: true, environment_scope: scopeOf(connection) },
          ...(masked !== undefined && { masked: masked === "true" }),
          ...(isProtected !== undefined && { protected: isProtected === "true" })
        }
      })
      .pipe(
        Effect.flatMap(({ status }) =>
          status === 400
            ? new PlatformFailed({ reason: `it refuses ${name}, or somebody has written it meanwhile`, isUndone: true })
            : Effect.succeed(undefined)
        )
      )
  },

  remove: (connection, _listed, name) =>
    Effect.asVoid(
      connection.ask({
        url: variable(connection, name),
        method: "DELETE",
        headers: headersOf(connection),
        also: [404]
      })
    )
}
