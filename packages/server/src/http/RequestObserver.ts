import { Context } from "effect"

/** Is told of each request once it is answered: its method, its route's pattern if it has one, the status and the time. */
export type Observe = (method: string, route: string | null, status: number, millis: number) => void

/** Who counts requests; null when nobody does. */
export class RequestObserver extends Context.Tag("@coffer/server/RequestObserver")<RequestObserver, Observe | null>() {}
