/** The types of calls. They name nothing of Effect. */
import type { Contract } from "./Contract.js"

export type Group = keyof Contract

/** The parameters of an endpoint: one request, or none. */
export type RequestOf<Endpoint> = Endpoint extends { readonly request: infer Request extends ReadonlyArray<unknown> }
  ? Request
  : never
export type ResponseOf<Endpoint> = Endpoint extends { readonly response: infer Response } ? Response : never

/** The calls of a group, by name. Requests and responses are those of the HTTP API: dates and values are texts. */
export type Api<Name extends Group> = {
  readonly [Call in keyof Contract[Name]]: (
    ...request: RequestOf<Contract[Name][Call]>
  ) => Promise<ResponseOf<Contract[Name][Call]>>
}

/** For changes of a protected environment. */
export interface Asking {
  /** Why, for the people who vote. */
  readonly reason?: string
  /** Makes the changes at once, if the protection allows it. Owners are mailed this reason. */
  readonly breakGlass?: string
}

/** Makes calls of the HTTP API: `call("secrets", (api) => api.list({ path }))`. Rejects with `CallError`. */
export type Call = <Name extends Group, A>(
  group: Name,
  f: (api: Api<Name>) => A | PromiseLike<A>,
  asking?: Asking
) => Promise<A>
