import { token } from "../KvServer.js"
import { type Answer, jsonOf, type Platform } from "./StandIn.js"

interface Row {
  readonly id: string
  readonly key: string
  value: string
  readonly type: string
  readonly target: ReadonlyArray<string>
  updatedAt: number
}

/** https://vercel.com/docs/rest-api/reference/endpoints/projects: the value of a sensitive variable is never told. */
export const vercelPlatform = (): Platform & { readonly rows: Array<Row> } => {
  const rows: Array<Row> = []
  let time = 1_767_225_600_000
  const refused = (status: number, code: string): Answer => ({ status, json: { error: { code } } })
  const shown = ({ value: _value, ...row }: Row) => row
  return {
    rows,
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers.authorization !== `Bearer ${token}`) return refused(403, "forbidden")
      if (url.searchParams.get("teamId") !== "team_1") return refused(404, "not_found")
      const base = /^\/v(?:9|10)\/projects\/webshop\/env(?:\/([^/]+))?$/.exec(url.pathname)
      if (base === null) return refused(404, "not_found")
      const [, id] = base
      if (id === undefined && method === "GET") return { status: 200, json: { envs: rows.map(shown) } }
      if (id === undefined) {
        const sent = jsonOf(arrived) as { key: string; value: string; type: string; target: ReadonlyArray<string> }
        if (sent.type === "sensitive" && sent.target.includes("development")) return refused(400, "bad_request")
        if (rows.some(({ key, target }) => key === sent.key && target.some((one) => sent.target.includes(one)))) {
          return refused(400, "ENV_ALREADY_EXISTS")
        }
        const row = { id: `env${rows.length + 1}`, ...sent, updatedAt: ++time }
        rows.push(row)
        return { status: 201, json: { created: shown(row), failed: [] } }
      }
      const row = rows.find((one) => one.id === id)
      if (row === undefined) return refused(404, "not_found")
      if (method === "DELETE") rows.splice(rows.indexOf(row), 1)
      else Object.assign(row, { value: jsonOf(arrived)["value"], updatedAt: ++time })
      return { status: 200, json: shown(row) }
    },
    values: () => Object.fromEntries(rows.map(({ key, value }) => [key, value])),
    write: (key, value) => {
      const row = rows.find((one) => one.key === key)
      if (value === null)
        rows.splice(
          rows.findIndex((one) => one === row),
          1
        )
      else if (row !== undefined) Object.assign(row, { value, updatedAt: ++time })
      else
        rows.push({
          id: `env${rows.length + 1}`,
          key,
          value,
          type: "sensitive",
          target: ["production"],
          updatedAt: ++time
        })
    }
  }
}
