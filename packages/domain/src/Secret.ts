import { Schema } from "effect"
import { SecretKey } from "./Names.js"
import { Count, list, extensibleEnum, Timestamp } from "./Schemas.js"
import { RedactedSecretValue } from "./SecretValues.js"

export const SecretWritten = Schema.Struct({
  key: SecretKey,
  version: Count,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "SecretWritten" })
export type SecretWritten = typeof SecretWritten.Type

export const SecretRead = Schema.Struct({
  key: SecretKey,
  value: RedactedSecretValue,
  version: Count
}).annotations({ identifier: "SecretRead" })
export type SecretRead = typeof SecretRead.Type

export const SecretListed = Schema.Struct({
  key: SecretKey,
  version: Count,
  updated_at: Timestamp
}).annotations({ identifier: "SecretListed" })
export type SecretListed = typeof SecretListed.Type

export const SecretVersion = Schema.Struct({
  version: Count,
  created_at: Timestamp,
  created_by: Schema.String.annotations({ description: "the e-mail or service account name of the writer" }),
  current: Schema.Boolean,
  destroyed: Schema.Boolean
}).annotations({ identifier: "SecretVersion" })
export type SecretVersion = typeof SecretVersion.Type

export const erasures = ["now", "pending"] as const

export const SecretDestroyed = Schema.Struct({
  data: Schema.Array(SecretVersion),
  erased: extensibleEnum("Erased", erasures)
}).annotations({ identifier: "SecretDestroyed" })
export type SecretDestroyed = typeof SecretDestroyed.Type

export const BundledSecret = Schema.Struct({
  key: SecretKey,
  value: RedactedSecretValue,
  version: Count,
  updated_at: Timestamp
}).annotations({ identifier: "BundledSecret" })
export type BundledSecret = typeof BundledSecret.Type

/** All secrets of an environment, keys in byte order. */
export const Bundle = Schema.Struct({
  revision: Count,
  data: Schema.Array(BundledSecret)
}).annotations({ identifier: "Bundle" })
export type Bundle = typeof Bundle.Type

export const changes = ["created", "updated", "unchanged", "deleted"] as const

export const SecretChange = Schema.Struct({
  key: SecretKey,
  version: Count,
  change: extensibleEnum("Change", changes)
}).annotations({ identifier: "SecretChange" })
export type SecretChange = typeof SecretChange.Type

/** The result of a bulk write, or of its dry run. */
export const BundleWritten = Schema.Struct({
  revision: Count,
  data: Schema.Array(SecretChange)
}).annotations({ identifier: "BundleWritten" })
export type BundleWritten = typeof BundleWritten.Type

export const revisionChanges = ["created", "updated", "deleted", "undeleted"] as const

export const RevisionKey = Schema.Struct({
  key: SecretKey,
  version: Count,
  change: extensibleEnum("RevisionChange", revisionChanges)
}).annotations({ identifier: "RevisionKey" })

/** One change of an environment, without values. */
export const Revision = Schema.Struct({
  revision: Count,
  created_at: Timestamp,
  created_by: Schema.NullOr(Schema.String),
  keys: Schema.Array(RevisionKey)
}).annotations({ identifier: "Revision" })
export type Revision = typeof Revision.Type

export const differences = ["only_here", "only_there", "same", "different"] as const

export const SecretDifference = Schema.Struct({
  key: SecretKey,
  status: extensibleEnum("Difference", differences)
}).annotations({ identifier: "SecretDifference" })

export const Diff = list(SecretDifference).annotations({ identifier: "Diff" })
export type Diff = typeof Diff.Type
