import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as Context from "effect/Context"

/** An endpoint of a contract, with the annotations and middleware of its group and its contract. */
export interface ContractEndpoint {
  /** `group.endpoint`, such as `secrets.get`. */
  readonly name: string
  readonly group: HttpApiGroup.HttpApiGroup.AnyWithProps
  readonly endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
  readonly annotations: Context.Context<never>
  readonly middleware: ReadonlySet<HttpApiMiddleware.TagClassAny>
}

/**
 * The endpoints of a contract, in its order. The toolkit takes the schemas of each response apart for `onEndpoint`, which is a
 * large part of a start, but not for endpoints that the predicate leaves out: so the predicate collects them.
 */
export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<ContractEndpoint> => {
  const found: Array<ContractEndpoint> = []
  let ofGroup = Context.empty()
  HttpApi.reflect(api, {
    onGroup: ({ mergedAnnotations }) => {
      ofGroup = mergedAnnotations
    },
    predicate: ({ endpoint, group }) => {
      found.push({
        name: `${group.identifier}.${endpoint.name}`,
        group,
        endpoint,
        annotations: Context.merge(ofGroup, endpoint.annotations),
        middleware: new Set([...group.middlewares, ...endpoint.middlewares])
      })
      return false
    },
    onEndpoint: () => undefined
  })
  return found
}
