/** The response for the program. */
export interface Passed {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A refusal, in the form of all errors of the service. `x-coffer-error` tells it from an error of the other side. */
export const refusal = (status: number, code: string, message: string): Passed => ({
  status,
  headers: { "content-type": "application/json", "x-coffer-error": code },
  body: Buffer.from(JSON.stringify({ error: { code, message } }))
})
