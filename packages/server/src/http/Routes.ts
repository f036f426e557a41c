import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"

interface Route {
  readonly method: string
  readonly path: string
}

const collect = (): ReadonlyArray<Route> => {
  const found: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { method, path } }) => {
      found.push({ method, path })
    }
  })
  return found
}

const routes = collect()

const shapes = routes.map((route) => ({
  method: route.method,
  path: route.path,
  shape: new RegExp(`^${route.path.replace(/\./g, "\\.").replace(/:[a-z_]+/g, "[^/]+")}$`)
}))

const pathOf = (url: string): string => url.split("?", 1)[0] ?? ""

/** The calls that a URL's path is for; where a path without parameters fits, those with parameters are not meant. */
const callsAt = (url: string) => {
  const path = pathOf(url)
  const fitting = shapes.filter(({ shape }) => shape.test(path))
  const last = (route: { readonly path: string }): string => route.path.slice(route.path.lastIndexOf("/"))
  const named = fitting.filter((route) => !last(route).includes(":"))
  return named.length === 0 ? fitting : named
}

/** The pattern of the call that a request is for, if there is one. */
export const routePatternOf = (method: string, url: string): string | null =>
  callsAt(url).find((route) => route.method === method)?.path ?? null

/** The methods that the contract has for a URL's path; none when there is no such path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const methods = callsAt(url).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))].sort()
}
