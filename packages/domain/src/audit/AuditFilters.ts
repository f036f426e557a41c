/** The parameters that select audit entries. */
import * as Schema from "effect/Schema"
import { OrgId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { EnvName, ProjectName, SecretKey } from "../base/Names.js"
import { integerParameter } from "../base/Schemas.js"

const wordMessage = withMessage("must be a word of at most 100 characters")
export const AuditWord = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_.@:-]{1,100}$/, wordMessage))

/** An unknown action or resource type is VALIDATION_ERROR, with the nearest known one. */
export const AuditAction = AuditWord.annotations({
  description: "only entries of this action",
  examples: ["secret.set"]
})
export const AuditActorId = AuditWord.annotations({
  description: "only entries of the actor with this id",
  examples: ["5b0c7a0e-3f7d-4c1e-9a51-2f6d1c0b8e44"]
})
export const AuditResourceType = AuditWord.annotations({
  description: "only entries about this kind of resource",
  examples: ["secret"]
})

const actorMessage = withMessage("must be an id, an e-mail address or the name of a service account")
export const AuditActor = Schema.String.pipe(
  Schema.pattern(/^[\x21-\x7e](?:[\x20-\x7e]{0,318}[\x21-\x7e])?$/, {
    ...actorMessage,
    description: "only entries of this actor: an id, an e-mail address or a service account's name",
    examples: ["ada@example.com"]
  })
)

const momentMessage = withMessage("must be a date, or a date and time in UTC such as 2026-01-31T08:00:00Z")
/** A date means midnight UTC at its beginning. */
export const AuditMoment = Schema.String.pipe(
  Schema.pattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?Z)?$/, momentMessage),
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), momentMessage)
)

export const AuditSince = AuditMoment.annotations({
  description: "only entries from this moment on: a date, or a date and time in UTC",
  examples: ["2026-01-31"]
})
export const AuditUntil = AuditMoment.annotations({
  description: "only entries before this moment",
  examples: ["2026-01-31T08:00:00Z"]
})

export const AuditProject = ProjectName.annotations({
  description: "only entries about this project, by its name at that time"
})
export const AuditEnv = EnvName.annotations({
  description: "only entries about this environment, by its name at that time"
})
export const AuditKey = SecretKey.annotations({
  description: "only entries about this key, including reads of whole environments"
})
export const AuditOrgId = OrgId.annotations({ description: "only entries of this organization" })

const chainMessage = withMessage("must be 64 hexadecimal digits in lowercase")

/** The hash that binds an entry to those before it. */
export const ChainLink = Schema.String.pipe(
  Schema.pattern(/^[0-9a-f]{64}$/, {
    ...chainMessage,
    description: "the hash of a recorded head; needs `seq`",
    examples: ["9f2c4e6a8b0d1f3e5a7c9b1d3f5e7a9c0b2d4f6e8a1c3b5d7f9e0a2c4b6d8f1e"]
  })
)

/** The number of an entry, in a query string. */
const EntryNumber = integerParameter(1, 2_147_483_647)
export const FromSeqParameter = EntryNumber.annotations({ description: "the first entry to check", examples: [1] })
export const SeqParameter = EntryNumber.annotations({
  description: "the number of a recorded head; needs `chain`",
  examples: [128]
})
