import { Api } from "@coffer/domain/Api"
import { BodyLimit, defaultBodyLimit } from "@coffer/domain/api/Requirement"
import { HttpApi } from "@effect/platform"
import { Context, Option } from "effect"

interface Route {
  readonly method: string
  readonly path: string
  readonly bodyLimit: number
}

const collect = (): ReadonlyArray<Route> => {
  const found: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const bodyLimit = Option.getOrElse(Context.getOption(mergedAnnotations, BodyLimit), () => defaultBodyLimit)
      found.push({ method: endpoint.method, path: endpoint.path, bodyLimit })
    }
  })
  return found
}

const routes = collect()

const bodyLimits = new Map(routes.map((route) => [`${route.method} ${route.path}`, route.bodyLimit]))

/** The largest body, in bytes, that a call takes. */
export const bodyLimitOf = (method: string, path: string): number =>
  bodyLimits.get(`${method} ${path}`) ?? defaultBodyLimit

const shapes = routes.map((route) => ({
  method: route.method,
  path: route.path,
  shape: new RegExp(`^${route.path.replace(/\./g, "\\.").replace(/:[a-z_]+/g, "[^/]+")}$`)
}))

const pathOf = (url: string): string => url.split("?", 1)[0] ?? ""

/** The pattern of the call that a URL's path is for, if there is one; paths without parameters are told first. */
export const routeOf = (method: string, url: string): string | null => {
  const path = pathOf(url)
  const found = shapes.filter((route) => route.method === method && route.shape.test(path)).map((route) => route.path)
  return found.find((pattern) => !pattern.includes(":")) ?? found[0] ?? null
}

/** The methods that the contract has for a URL's path; none when there is no such path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const path = pathOf(url)
  const methods = shapes.filter(({ shape }) => shape.test(path)).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))].sort()
}
