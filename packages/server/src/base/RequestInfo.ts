import * as Context from "effect/Context"

/** The facts of a request for the log and the audit trail. The route and the actor are set once they are known. */
export interface RequestInfoShape {
  readonly id: string
  readonly ip: string | null
  /** The client program by its own claim: recorded, never trusted. */
  readonly client: string | null
  /** The program of an agent's host by its own claim, as the tool server has it. */
  program?: string | undefined
  /** How the program or browser names itself, as it was sent: of any length, and with any characters. */
  readonly userAgent?: string | undefined
  /** Whether a page sent it before its person had seen any of the page. */
  readonly isPrefetch?: boolean
  /** When it arrived, by the monotonic clock in milliseconds. */
  readonly startedAt?: number
  /** For how many milliseconds it has waited for connections to the database. */
  waitedMillis?: number
  route: string | null
  actor: string | null
}

/** The default is for work outside of a request, such as maintenance. */
export class RequestInfo extends Context.Reference<RequestInfo>()("@coffer/server/RequestInfo", {
  defaultValue: (): RequestInfoShape => ({ id: "", ip: null, client: null, route: null, actor: null })
}) {}
