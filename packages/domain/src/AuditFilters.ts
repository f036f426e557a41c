import { Schema } from "effect"
import { withMessage } from "./Message.js"
import { integerParameter } from "./Schemas.js"

const wordMessage = withMessage("must be a word of at most 100 characters")
export const AuditWord = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_.@:-]{1,100}$/, wordMessage))

const actorMessage = withMessage("must be an id, an e-mail address or the name of a service account")
export const AuditActor = Schema.String.pipe(
  Schema.pattern(/^[\x21-\x7e](?:[\x20-\x7e]{0,318}[\x21-\x7e])?$/, actorMessage)
)

const momentMessage = withMessage("must be a date, or a date and time in UTC such as 2026-01-31T08:00:00Z")
/** A date means midnight UTC at its beginning. */
export const AuditMoment = Schema.String.pipe(
  Schema.pattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?Z)?$/, momentMessage),
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), momentMessage)
)

const chainMessage = withMessage("must be 64 hexadecimal digits in lowercase")

/** What binds an entry to those before it. */
export const ChainLink = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/, chainMessage))

/** The number of an entry, in a query string. */
export const SeqParameter = integerParameter(1, 2_147_483_647)
