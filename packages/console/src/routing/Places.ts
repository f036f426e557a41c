import { envNameForm, orgNameForm, projectNameForm, secretKeyForm } from "@coffer/domain/base/NameForms"
import type { SecretPath } from "@coffer/domain/api/Paths"
import type { ApprovalId, RequestId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"

/** The place that an address names. `page` is one of several pages of the same place; the first has no name. */
export type Place =
  | { readonly at: "server"; readonly page: string }
  | { readonly at: "org"; readonly page: string; readonly org: OrgName }
  | { readonly at: "project"; readonly page: string; readonly org: OrgName; readonly project: ProjectName }
  | {
      readonly at: "secret"
      readonly page: ""
      readonly org: OrgName
      readonly project: ProjectName
      readonly key: SecretKey
    }

/** Paths of the server, which an organization may be named as well. Those have addresses below `/-/org/`. */
const serverPaths = new Set(["api", "device", "docs", "health", "login", "metrics", "v1"])

const orgPlace = ([org = "", project, ...rest]: ReadonlyArray<string>): Place | null => {
  if (!orgNameForm.is(org)) return null
  if (project === undefined) return { at: "org", page: "", org }
  if (project === "-") return rest.length === 1 ? { at: "org", page: rest[0] ?? "", org } : null
  if (!projectNameForm.is(project)) return null
  const [key, page, ...more] = rest
  if (key === undefined) return { at: "project", page: "", org, project }
  if (key === "-") return page !== undefined && more.length === 0 ? { at: "project", page, org, project } : null
  return page === undefined && secretKeyForm.is(key) ? { at: "secret", page: "", org, project, key } : null
}

/** The place of a path; null if no place has such a path. */
export const placeOf = (path: string): Place | null => {
  const segments = path.split("/").filter((segment) => segment !== "")
  const [first, second, ...rest] = segments
  if (first === undefined) return { at: "server", page: "" }
  if (first !== "-") return orgPlace(segments)
  if (second === "org") return orgPlace(rest)
  return second !== undefined && rest.length === 0 ? { at: "server", page: second } : null
}

const withPage = (path: string, page: string) => (page === "" ? path : `${path}/-/${page}`)

export const serverAddress = (page = ""): string => (page === "" ? "/" : `/-/${page}`)

const orgRoot = (org: string): string => (serverPaths.has(org) ? `/-/org/${org}` : `/${org}`)

export const orgAddress = (org: OrgName, page = ""): string => withPage(orgRoot(org), page)

export const projectAddress = (org: OrgName, project: ProjectName, page = ""): string =>
  withPage(`${orgRoot(org)}/${project}`, page)

/** The matrix of a project, at one environment. */
export const envAddress = (org: OrgName, project: ProjectName, env: EnvName): string =>
  `${projectAddress(org, project)}?env=${env}`

export const secretAddress = (org: OrgName, project: ProjectName, env: EnvName, key: SecretKey): string =>
  `${projectAddress(org, project)}/${key}?env=${env}`

export const requestsAddress = (org: OrgName): string => orgAddress(org, "approvals")

export const webhooksAddress = (org: OrgName): string => orgAddress(org, "webhooks")

export const requestAddress = (org: OrgName, id: ApprovalId | RequestId): string => `${requestsAddress(org)}?id=${id}`

/** The page that copies a secret to another environment. */
export const promoteAddress = ({ env_name, key, org_name, project_name }: SecretPath, to: EnvName): string =>
  `${projectAddress(org_name, project_name, "promote")}?from=${env_name}&to=${to}&key=${key}`

export const envOf = (query: URLSearchParams): EnvName | null => {
  const env = query.get("env") ?? ""
  return envNameForm.is(env) ? env : null
}
