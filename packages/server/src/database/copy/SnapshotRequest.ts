import * as Schema from "effect/Schema"
import { tlsModes } from "../../base/config/DatabaseUrl.js"

/** The data that the thread of a snapshot needs. The thread has no settings of its own. */
export const SnapshotRequest = Schema.Struct({
  target: Schema.Struct({
    host: Schema.String,
    port: Schema.Number,
    user: Schema.String,
    password: Schema.NullOr(Schema.Redacted(Schema.String)),
    database: Schema.String,
    tls: Schema.Struct({
      mode: Schema.Literal(...tlsModes),
      rootCertificate: Schema.NullOr(Schema.String),
      certificate: Schema.NullOr(Schema.String),
      key: Schema.NullOr(Schema.String)
    })
  }),
  path: Schema.String,
  id: Schema.String,
  name: Schema.String
})
