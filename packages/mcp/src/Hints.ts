import type { Hints } from "./Offers.js"

/** These tools reach nothing but the server. */
const openWorldHint = false

export const reads: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint }
export const adds: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint }
export const replaces: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint }
export const removes: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint }
/** The server passes the request on to elsewhere. */
export const requests: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true
}
