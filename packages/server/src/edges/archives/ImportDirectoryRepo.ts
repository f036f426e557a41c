import { FederationId } from "@coffer/domain/base/Ids"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"

const AudienceRow = Schema.Struct({ id: FederationId, account: ServiceAccountName, audience: Schema.String })

/** Rows of an imported organization that are written when all of its secrets are there. */
export const importDirectoryRepo = Effect.map(
  query,
  ({ all, insert, write }) =>
    ({
      insertMembers: insert("members", ["id", "org_id", "user_id", "role", "created_at", "updated_at", "accepted_at"]),
      insertGroups: insert("groups", ["id", "org_id", "name", "created_by", "created_at", "updated_at"]),
      insertRules: insert("acl_rules", [
        "id",
        "org_id",
        "subject_type",
        "subject_id",
        "project_pattern",
        "env_pattern",
        "permission",
        "expires_at",
        "created_by",
        "created_at",
        "updated_at"
      ]),
      insertWebhooks: insert("webhooks", [
        "id",
        "org_id",
        "url",
        "events",
        "environments",
        "format",
        "enabled",
        "seq",
        "key_number",
        "created_by",
        "created_at",
        "updated_at"
      ]),
      insertProtections: insert("protections", [
        "env_id",
        "org_id",
        "needed",
        "approvers",
        "self",
        "break_glass",
        "expires_after",
        "passkey",
        "version",
        "updated_by",
        "updated_at"
      ]),
      markProtected: write`UPDATE environments SET protected = 1 WHERE id = ${"envId"}`,

      /** The federations after one, whose tokens name the organization as it was called when they were written. */
      audiences: all(AudienceRow)`
        SELECT f.id AS id, a.name AS account, f.audience AS audience FROM federations f
        JOIN service_accounts a ON a.id = f.service_account_id
        WHERE f.org_id = ${"orgId"} AND f.id > ${"after"} ORDER BY f.id LIMIT ${"limit"}`,
      setAudience: write`UPDATE federations SET audience = ${"audience"} WHERE id = ${"id"}`
    }) as const
)
