import { describe } from "../../base/Describe.js"
import type { Failure } from "../../base/Failures.js"

/** The result of one check. Never contains a secret. */
export interface Finding {
  readonly check: string
  readonly state: "ok" | "warning" | "problem"
  readonly message: string
}

export const ok = (check: string, message: string): Finding => ({ check, state: "ok", message })

/** The message says what to do next. */
export const warning = (check: string, message: string): Finding => ({ check, state: "warning", message })

/** The message says what to do next. */
export const problem = (check: string, message: string): Finding => ({ check, state: "problem", message })

/** The finding for a failure: its sentence says what to do next. */
export const failed = (check: string, failure: Failure): Finding => problem(check, describe(failure).sentence)
