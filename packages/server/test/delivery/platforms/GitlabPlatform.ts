import { token } from "../KvServer.js"
import { type Answer, jsonOf, pageOf, type Platform } from "./StandIn.js"

interface Row {
  key: string
  value: string
  environment_scope: string
  raw: boolean
  masked: boolean
  protected: boolean
}

/**
 * Variables, by https://docs.gitlab.com/api/project_level_variables/: unique by key and scope, 400 for a key that is taken or a value that
 * cannot be masked, and `filter[environment_scope]` for one of several.
 */
export const gitlabPlatform = (base: string): Platform & { readonly rows: ReadonlyArray<Row> } => {
  const rows: Array<Row> = []
  const refused = (status: number, message: string): Answer => ({ status, json: { message } })
  const problemOf = ({ key, masked, value }: Row): string | null => {
    if (!/^[A-Za-z0-9_]{1,255}$/.test(key)) return "key can contain only letters, digits and '_'"
    if (value.length > 10_000) return "value is too long"
    return masked && (value.length < 8 || /\s/.test(value)) ? "value is invalid" : null
  }
  const find = (key: string, scope: string) => rows.find((row) => row.key === key && row.environment_scope === scope)
  return {
    rows,
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers["private-token"] !== token) return refused(401, "401 Unauthorized")
      const at = url.pathname
      if (at === base && method === "GET") return { status: 200, json: pageOf(rows, arrived) }
      if (at === base && method === "POST") {
        const { environment_scope = "*", key = "", masked = false, raw = false, value = "", ...more } = jsonOf(arrived)
        const row = { environment_scope, key, masked, raw, value, protected: more["protected"] ?? false } as Row
        const problem = problemOf(row) ?? (find(row.key, row.environment_scope) && "key has already been taken")
        if (problem !== null && problem !== undefined) return refused(400, problem)
        rows.push(row)
        return { status: 201, json: row }
      }
      const key = at.startsWith(`${base}/`) ? at.slice(base.length + 1) : ""
      const row = find(key, url.searchParams.get("filter[environment_scope]") ?? "*")
      if (row === undefined) return refused(404, "404 Variable Not Found")
      if (method === "PUT") {
        const problem = problemOf({ ...row, ...jsonOf(arrived) })
        if (problem !== null) return refused(400, problem)
        Object.assign(row, jsonOf(arrived))
        return { status: 200, json: row }
      }
      rows.splice(rows.indexOf(row), 1)
      return { status: 204 }
    },
    values: () => Object.fromEntries(rows.map(({ key, value }) => [key, value])),
    write: (key, value) => {
      const found = find(key, "production")
      if (value === null)
        rows.splice(
          rows.findIndex((row) => row === found),
          1
        )
      else if (found !== undefined) found.value = value
      else rows.push({ key, value, environment_scope: "production", raw: false, masked: false, protected: false })
    }
  }
}
