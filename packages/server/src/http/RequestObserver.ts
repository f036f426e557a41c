import * as Context from "effect/Context"

/** Called for each response, with the pattern of the route if there is one. */
export type Observe = (method: string, route: string | null, status: number, millis: number) => void

/** Null if metrics are off. */
export class RequestObserver extends Context.Tag("@coffer/server/RequestObserver")<RequestObserver, Observe | null>() {}
