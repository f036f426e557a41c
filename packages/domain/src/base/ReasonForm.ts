/** The form of a reason, without schemas: `ApprovalRequest.ts` builds its schema from this. */

import { isTurned } from "./Invisible.js"

const maxReason = 500

/** Whether a text could be stored as a reason: earlier versions took controls of the direction of text. */
export const isStoredReason = (text: string): boolean =>
  text.trim() !== "" && text.length <= maxReason && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)

/**
 * Whether a text is a reason: it goes into headers, mails and the audit log, on one line, and people decide by what they read.
 * Controls of the direction of text would show them another one.
 */
export const isReason = (text: string): boolean => isStoredReason(text) && !isTurned(text)

export const reasonForm = {
  maxLength: maxReason,
  message: `must be a text of 1 to ${maxReason} characters on one line, without controls of the direction of text`
}
