import { Api } from "@coffer/domain/Api"
import { HttpApi, HttpMethod } from "@effect/platform"
import * as FindMyWay from "find-my-way-ts"

export const routerConfig = {
  maxParamLength: 1000,
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false
}

const router = FindMyWay.make<string>(routerConfig)
const methods = new Set<HttpMethod.HttpMethod>()

HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path } }) => {
    methods.add(method)
    router.on(method, path, path)
  }
})

/** The pages for browsers, which are not part of the contract. */
const pages: ReadonlyArray<readonly [method: HttpMethod.HttpMethod, path: `/${string}`]> = [
  ["GET", "/"],
  ["GET", "/login"],
  ["POST", "/login"],
  ["POST", "/login/decide"],
  ["GET", "/device"],
  ["POST", "/device"],
  ["GET", "/login/provider"],
  ["GET", "/api/auth/oidc/callback"]
]

for (const [method, path] of pages) router.on(method, path, path)

const endsInParameter = (path: string): boolean => path.slice(path.lastIndexOf("/")).includes(":")

/** The pattern of the endpoint of a request, or null. */
export const routePatternOf = (method: string, url: string): string | null =>
  HttpMethod.isHttpMethod(method) ? (router.find(method, url)?.handler ?? null) : null

/** The methods that the contract or a page declares for a path, sorted; empty if there is no such path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const found = [...methods].flatMap((method) => {
    const path = routePatternOf(method, url)
    return path === null ? [] : [{ method, path }]
  })
  // A static segment wins over a parameter: `acl/explain` is not the rule with that id.
  const named = found.filter(({ path }) => !endsInParameter(path))
  const meant = (named.length === 0 ? found : named).map(({ method }) => method)
  return [...meant, ...(meant.includes("GET") ? ["HEAD"] : [])].sort()
}
