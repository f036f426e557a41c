import type { Json, Program } from "../support/Program.js"
import { acme, asking, type Content, type Credentials, each, isSince, webshop } from "./Release.js"

type Ask = (path: string) => Promise<Json>

const names = ({ data }: Json): ReadonlyArray<string> => data.map(({ name }: Json) => name)

/** The environments that somebody sees, by their paths. */
const environments = async (get: Ask): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const org of names(await get("/api/orgs"))) {
    const projects = `/api/orgs/${org}/projects`
    for (const project of names(await get(projects))) {
      const envs = `${projects}/${project}/envs`
      for (const env of names(await get(envs))) found.push(`${envs}/${env}`)
    }
  }
  return found
}

/** Reads every version of every secret. */
const everyValue = async (get: Ask, places: ReadonlyArray<string>) => {
  const values: Array<Content["values"][number]> = []
  const destroyed: Array<string> = []
  for (const place of places) {
    for (const { key } of (await get(`${place}/secrets`)).data) {
      for (const { destroyed: isDestroyed, version } of (await get(`${place}/secrets/${key}/versions`)).data) {
        const path = `${place}/secrets/${key}?version=${version}`
        if (isDestroyed) destroyed.push(path)
        else values.push({ path, value: (await get(path)).value })
      }
    }
  }
  return { values, destroyed }
}

/** Returns the paths of people and of places that the pages and programs of a release show. */
const viewsOf = (version: string, places: ReadonlyArray<string>): ReadonlyArray<string> => {
  const orgs = [...new Set(places.map((place) => place.split("/").slice(0, 4).join("/")))]
  const projects = [...new Set(places.map((place) => place.split("/").slice(0, 6).join("/")))]
  const isFirst = !isSince(version, "0.2.0")
  return [
    "/api/orgs",
    ...orgs.flatMap((org) => [
      ...["", "/projects", "/members", "/acl", "/service-accounts"].map((end) => `${org}${end}`),
      ...(isFirst ? [] : [`${org}/webhooks`, `${org}/secrets/due?within=366d`])
    ]),
    ...projects.flatMap((project) => [
      ...["", "/envs"].map((end) => `${project}${end}`),
      ...(isFirst ? [] : [`${project}/declared`, `${project}/matrix`])
    ]),
    ...places.flatMap((place) => [
      ...["/secrets", "/bundle", "/revisions"].map((end) => `${place}${end}`),
      ...(isFirst ? [] : [`${place}/check`])
    ])
  ]
}

/** The paths of one record each, which lists lead to. */
const furtherViews = async (get: Ask, version: string, places: ReadonlyArray<string>) => {
  const found: Array<string> = []
  for (const place of places) {
    for (const { key } of (await get(`${place}/secrets`)).data) {
      const secret = `${place}/secrets/${key}`
      found.push(`${secret}/versions`)
      if (isSince(version, "0.2.0")) found.push(`${secret}/references`, `${secret}/use-rules`)
    }
  }
  if (!isSince(version, "0.2.0")) return found
  for (const { id } of (await get(`${acme}/service-accounts`)).data)
    found.push(`${acme}/service-accounts/${id}/federations`)
  if (!isSince(version, "0.3.0")) return found
  for (const { id } of (await get(`${acme}/requests?limit=100`)).data) found.push(`${acme}/requests/${id}`)
  const protections = ["prod", "staging"].map((env) => `${acme}/projects/guarded/envs/${env}/protection`)
  const lists = ["groups", "groups/Backend/members", "group-mappings", "exports", "requests?limit=100"]
  return [...found, ...protections, ...lists.map((list) => `${acme}/${list}`), `${webshop}/previews`]
}

/** Reads, lists and writes of a secret in each environment, by everybody. */
const rightsOf = async (program: Program, callers: Content["testCredentials"], places: ReadonlyArray<string>) => {
  const rights: Record<string, Record<string, string>> = {}
  for (const place of places) {
    for (const call of ["GET secrets", "GET bundle", "GET secrets/NONE", "PUT secrets/NONE"]) {
      const [method = "", end = ""] = call.split(" ")
      const of: Record<string, string> = {}
      rights[`${method} ${place}/${end}`] = of
      const statuses = await each(Object.entries(callers), async ([caller, headers]) => {
        const status = await statusOf(program, headers, method, `${place}/${end}`)
        return { caller, status }
      })
      for (const { caller, status } of statuses) of[status] = [of[status], caller].filter(Boolean).join(" ")
    }
  }
  return rights
}

/** The status of a call that changes nothing: a write names a version that no secret has. */
export const statusOf = async (program: Program, headers: Credentials, method: string, path: string) => {
  const body = method === "PUT" ? { value: "x", expected_version: 1_000 } : undefined
  return (await program.call(method, path, { headers, body })).status
}

const logsOf = async (get: Ask, orgs: ReadonlyArray<string>) => {
  const paths = ["/api/audit-logs/verify", ...orgs.map((org) => `/api/orgs/${org}/audit-logs/verify`)]
  return Promise.all(
    paths.map(async (path) => {
      const { head } = await get(path)
      return { path, seq: head.seq, chain: head.chain }
    })
  )
}

/** Asks a release's server for all that its database holds, as the tests of later releases do again. */
export const describe = async (
  program: Program,
  version: string,
  callers: Content["testCredentials"]
): Promise<
  Omit<Content, "version" | "engine" | "testMasterKey" | "testCredentials" | "removed" | "rows" | "actions">
> => {
  const of = (caller: string): Ask => {
    const ask = asking(program, callers[caller] ?? {})
    return (path) => ask("GET", path)
  }
  const ada = of("ada")
  const places = await environments(ada)
  const { destroyed, values } = await everyValue(ada, places)
  const rights = await rightsOf(program, callers, places)
  const views: Array<Content["views"][number]> = []
  for (const path of [...viewsOf(version, places), ...(await furtherViews(ada, version, places))])
    views.push({ caller: "ada", path, body: await ada(path) })
  const own: ReadonlyArray<readonly [caller: string, path: string]> = [
    ["root", "/api/users"],
    ...(isSince(version, "0.3.0")
      ? ([
          ["ada", "/api/auth/delegations"],
          ["linus", "/api/auth/passkeys"]
        ] as const)
      : [])
  ]
  for (const [caller, path] of own) views.push({ caller, path, body: await of(caller)(path) })
  const logs = await logsOf(of("root"), ["acme", "other"])
  return { values, destroyed, rights, views, logs }
}
