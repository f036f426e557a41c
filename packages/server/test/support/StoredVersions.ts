import { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { open, type Sealed } from "@coffer/server/keys/Envelope"
import type { Keyring } from "@coffer/server/keys/Keyring"
import { type Context, Effect, Redacted } from "effect"

/** A version as it is stored, with its place. */
export interface StoredVersion extends Sealed {
  readonly org_id: string
  readonly project_id: string
  readonly env_id: string
  readonly secret_id: string
  readonly key: string
  readonly version: number
  readonly value_bytes: number
  readonly removed_at: string | null
}

/** Selects `StoredVersion`s on either engine. A condition or an order may follow. */
export const storedVersions = `
  SELECT v.*, s.key AS key, s.removed_at AS removed_at, e.id AS env_id, p.id AS project_id, p.org_id AS org_id
  FROM secret_versions v JOIN secrets s ON s.id = v.secret_id JOIN environments e ON e.id = s.env_id
  JOIN projects p ON p.id = e.project_id`

/** Decrypts a stored version. */
export const valueOf = (keyring: Context.Tag.Service<Keyring>, row: StoredVersion) =>
  Effect.map(
    open(
      keyring,
      {
        orgId: OrgId.make(row.org_id),
        projectId: ProjectId.make(row.project_id),
        envId: EnvId.make(row.env_id),
        secretId: SecretId.make(row.secret_id),
        key: SecretKey.make(row.key),
        version: row.version
      },
      row
    ),
    (value): string => Redacted.value(value)
  )
