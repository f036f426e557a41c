import { Api } from "@coffer/domain/Api"
import { endpointsOf } from "@coffer/domain/api/Endpoints"
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as FindMyWay from "find-my-way-ts"
import { oauthPaths, resourceMetadataPath, serverMetadataPath } from "./mcp/Issuer.js"
import { scimPath } from "./scim/ScimErrors.js"
import { VaultApi } from "./vault/Contract.js"

export const routerConfig = {
  maxParamLength: 1000,
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false
}

type Page = readonly [method: HttpMethod.HttpMethod, path: `/${string}`]

const endsInParameter = (path: string): boolean => path.slice(path.lastIndexOf("/")).includes(":")

/** The routes of a contract and of pages beside it. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  pages: ReadonlyArray<Page> = []
) => {
  const router = FindMyWay.make<string>(routerConfig)
  const methods = new Set<HttpMethod.HttpMethod>()
  for (const {
    endpoint: { method, path }
  } of endpointsOf(api)) {
    methods.add(method)
    router.on(method, path, path)
  }
  for (const [method, path] of pages) router.on(method, path, path)

  const patternOf = (method: string, url: string): string | null =>
    HttpMethod.isHttpMethod(method) ? (router.find(method, url)?.handler ?? null) : null

  const allowed = (url: string): ReadonlyArray<string> => {
    const found = [...methods].flatMap((method) => {
      const path = patternOf(method, url)
      return path === null ? [] : [{ method, path }]
    })
    // A static segment wins over a parameter: `acl/explain` is not the rule with that id.
    const named = found.filter(({ path }) => !endsInParameter(path))
    const meant = (named.length === 0 ? found : named).map(({ method }) => method)
    return [...meant, ...(meant.includes("GET") ? ["HEAD"] : [])].sort()
  }
  return { allowed, patternOf } as const
}

export const securityTextPath = "/.well-known/security.txt"

/** A page of the documentation, such as `operations/restore` for a browser and `operations/restore.md` as a text. */
export const documentPath = "/docs/*"

/** The endpoints of OAuth for the hosts of agents. */
const oauthRoutes: ReadonlyArray<Page> = [
  ["GET", resourceMetadataPath],
  ["GET", `${resourceMetadataPath}/mcp`],
  ["GET", serverMetadataPath],
  ["POST", oauthPaths.register],
  ["POST", oauthPaths.token],
  ["POST", oauthPaths.revoke]
]

const scimBase = `${scimPath}/:org_name` as const

/** The endpoints of SCIM for directories, below an organization. */
export const scimRoutes: ReadonlyArray<Page> = [
  ["GET", `${scimBase}/ServiceProviderConfig`],
  ["GET", `${scimBase}/ResourceTypes`],
  ["GET", `${scimBase}/ResourceTypes/:name`],
  ["GET", `${scimBase}/Schemas`],
  ["GET", `${scimBase}/Schemas/:name`],
  ["POST", `${scimBase}/.search`],
  ...(["Users", "Groups"] as const).flatMap((kind): ReadonlyArray<Page> => [
    ["GET", `${scimBase}/${kind}`],
    ["POST", `${scimBase}/${kind}`],
    ["POST", `${scimBase}/${kind}/.search`],
    ["GET", `${scimBase}/${kind}/:resource_id`],
    ["PUT", `${scimBase}/${kind}/:resource_id`],
    ["PATCH", `${scimBase}/${kind}/:resource_id`],
    ["DELETE", `${scimBase}/${kind}/:resource_id`]
  ])
]

/** The pages for browsers, which are not part of the contract. */
const routes = routesOf(Api, [
  ["GET", "/"],
  ["GET", "/login"],
  ["POST", "/login"],
  ["POST", "/login/decide"],
  ["GET", "/device"],
  ["POST", "/device"],
  ["GET", "/login/provider"],
  ["GET", "/api/auth/oidc/callback"],
  ["POST", "/mcp"],
  ...oauthRoutes,
  ...scimRoutes,
  ["GET", securityTextPath],
  ["GET", documentPath]
])

/** The routes of the Vault API. */
export const vaultRoutes = routesOf(VaultApi)

/** The pattern of the endpoint of a request, or null. */
export const routePatternOf = (method: string, url: string): string | null =>
  routes.patternOf(method, url) ?? vaultRoutes.patternOf(method, url)

/** The methods that the contract or a page declares for a path, sorted; empty if there is no such path. */
export const allowedMethods = routes.allowed
