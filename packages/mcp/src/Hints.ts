import type { Hints } from "./Offers.js"

/** Tools reach nothing but the server. */
const openWorldHint = false

export const reads: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint }
export const adds: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint }
export const replaces: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint }
export const removes: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint }
