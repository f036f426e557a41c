import * as Schema from "effect/Schema"
import { Count, extensibleEnum, field, list, optional } from "../base/Schemas.js"

/** The features that this server offers, as far as its settings decide it. */
export const ServerFacts = Schema.Struct({
  uses: field(
    Schema.Boolean,
    "whether requests with secrets are made by use rules (SERVICE_BROKER), here or by a process of its own",
    true
  ),
  renewal: optional(Schema.Boolean, "whether credentials in databases can be renewed (SERVICE_RENEWAL_NETWORKS)", true),
  backups: field(Schema.Boolean, "whether there is a store for backups", true),
  org_creation: field(
    extensibleEnum("OrgCreation", "who creates organizations: anyone or superadmin", ["anyone", "superadmin"]),
    "who creates organizations: anyone or superadmin"
  ),
  trash_days: optional(
    Count,
    "for how many days a removed organization, project or environment can be restored; 0: not at all",
    30
  )
}).annotations({ identifier: "ServerFacts", description: "what this server offers" })
export type ServerFacts = typeof ServerFacts.Type

/** How much is on the server. */
export const ServerUsage = Schema.Struct({
  database_bytes: field(Count, "the size of the database", 41_943_040),
  organizations: field(Count, "the number of organizations", 12),
  people: field(Count, "the number of people who can log in", 140),
  superadmins: field(Count, "the number of superadmins among them", 2),
  disabled: field(Count, "the number of people who are disabled", 3)
}).annotations({ identifier: "ServerUsage", description: "how much is on the server" })
export type ServerUsage = typeof ServerUsage.Type

/** A setting as `coffer-server check` prints it. Secrets are not shown. */
export const ServerSetting = Schema.Struct({
  variable: field(Schema.String, "the name of the environment variable", "SERVICE_PORT"),
  value: field(Schema.NullOr(Schema.String), "its value; `set` for a secret, null without a value", "7100"),
  source: field(
    Schema.String,
    "the variable with the value or with the name of its file; `default`, or `unset`",
    "default"
  ),
  group: optional(Schema.String, "the part of the documentation that describes it", "Listening")
}).annotations({ identifier: "ServerSetting", description: "a setting of the server, never a secret" })
export type ServerSetting = typeof ServerSetting.Type

export const ServerSettings = Schema.Struct({
  ...list(ServerSetting).fields,
  usage: optional(ServerUsage, "how much is on the server")
}).annotations({ identifier: "ServerSettings", description: "the settings of the server, and how much is on it" })
