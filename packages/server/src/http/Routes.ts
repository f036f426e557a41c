import { Api } from "@coffer/domain/Api"
import { HttpApi, type HttpMethod } from "@effect/platform"
import * as FindMyWay from "find-my-way-ts"

/** Paths are case-sensitive and have no trailing slash. A parameter is at most 1,000 characters long. */
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

const endsInParameter = (path: string): boolean => path.slice(path.lastIndexOf("/")).includes(":")

/** The pattern of the call that a request is for; null when there is none. */
export const routePatternOf = (method: HttpMethod.HttpMethod, url: string): string | null =>
  router.find(method, url)?.handler ?? null

/** The methods that the contract has for a URL's path, sorted; empty when there is no such path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const found = [...methods].flatMap((method) => {
    const path = routePatternOf(method, url)
    return path === null ? [] : [{ method, path }]
  })
  // `acl/explain` is not the rule of that id.
  const named = found.filter(({ path }) => !endsInParameter(path))
  const meant = (named.length === 0 ? found : named).map(({ method }) => method)
  return [...meant, ...(meant.includes("GET") ? ["HEAD"] : [])].sort()
}
