/** The result of a tool call, in the terms of the protocol. */
export interface ToolResult {
  readonly [key: string]: unknown
  readonly content: Array<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

/** The reply of a person to a question. */
export type Reply = "accepted" | "declined" | "cancelled"

/** A page that a person has to visit: to approve the call, or to see a request for votes. */
export interface Visit {
  readonly kind: "approve" | "votes"
  readonly message: string
  readonly url: string
  readonly id: string
}

/** Sends the person to pages. */
export interface Visits {
  /** Returns whether the person agreed to open the page; what happens there is not known. */
  readonly propose: (visit: Visit, signal: AbortSignal) => Promise<Reply>
  /** Tells the host that what the page is for has happened. */
  readonly complete: (id: string) => Promise<void>
}

/** The host's side of a call. */
export interface Host {
  /** Cancels the call. */
  readonly signal: AbortSignal
  /** Asks the person to confirm. Undefined if the host cannot ask. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<Reply>) | undefined
  /** Undefined if the host opens no pages. */
  readonly visits: Visits | undefined
  /** The request for votes that an earlier round of the call made: the call must not ask for them again. */
  readonly waitsFor: string | undefined
  /** How the host's program names itself, and its version; undefined if it does not. */
  readonly program: string | undefined
}

/** Runs a tool and returns its result, for failures too; undefined if there is no such tool. */
export type Use = (name: string, parameters: unknown, host: Host) => Promise<ToolResult | undefined>
