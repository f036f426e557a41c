import { type ChangingCall, changingCalls } from "../../../domain/test/support/ChangingCalls.js"
import { RecentLogin } from "@coffer/domain/api/Requirement"
import { Api } from "@coffer/domain/Api"
import * as HttpApi from "@effect/platform/HttpApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"

interface Endpoint {
  readonly call: string
  readonly method: string
  readonly path: string
  readonly recentLogin: string | undefined
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
    endpoints.push({
      call: `${group.identifier}.${endpoint.name}`,
      method: endpoint.method,
      path: endpoint.path,
      recentLogin: Option.getOrUndefined(Context.getOption(mergedAnnotations, RecentLogin))
    })
  }
})

/** The calls of the contract that may change something. */
export const mutating: ReadonlyArray<Endpoint> = endpoints.filter(({ method }) => method !== "GET")

/** Checks whether a call ends something by its method, or by the last word of its path. */
export const isEnding = ({ method, path }: Endpoint): boolean =>
  method === "DELETE" ||
  /\/(abandon|cancel|clear|close|decline|delete|destroy|disable|drop|end|erase|expire|forget|leave|purge|refuse|reject|remove|replace|reset|revoke|rotate|stop|wipe|withdraw)(-[a-z]+)?$/.test(
    path
  )

/** A path without parameters comes before one with them, as the server has it. */
const routes = mutating
  .map(({ call, method, path }) => ({
    call,
    method,
    parameters: path.split(":").length,
    is: new RegExp(`^${path.replaceAll(/:[a-z_]+/g, "[^/]+")}$`)
  }))
  .sort((one, other) => one.parameters - other.parameters)

/** Returns the row of a request; undefined if the request is no call of the contract that may change something. */
export const rowOf = (method: string, pathname: string, body: string): ChangingCall | undefined => {
  const call = routes.find((one) => one.method === method && one.is.test(pathname))?.call
  const rows = changingCalls.filter((row) => row.call === call)
  return rows.find((row) => row.body === body) ?? rows.find((row) => row.body === undefined)
}
