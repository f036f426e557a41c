/** The form of a reason, without schemas: `ApprovalRequest.ts` builds its schema from this. */

const maxReason = 500

/** Whether a text is a reason: it goes into headers, mails and the audit log, on one line. */
export const isReason = (text: string): boolean =>
  text.trim() !== "" && text.length <= maxReason && !/[\p{Cc}\p{Cs}]/u.test(text)

export const reasonForm = {
  maxLength: maxReason,
  message: `must be a text of 1 to ${maxReason} characters on one line`
}
