import * as records from "./Records.js"

/** Texts and examples of an operation that its schemas do not contain. */
export interface OperationText {
  /** Responses by status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** An example of the request body. */
  readonly request?: unknown
  readonly description?: string
}

interface Answer {
  readonly description: string
  readonly example?: unknown
}

const done = (description: string): OperationText["answers"] => ({ 204: { description } })
const ok = (description: string, example: unknown): OperationText["answers"] => ({ 200: { description, example } })
const created = (description: string, example: unknown): OperationText["answers"] => ({ 201: { description, example } })
const listed = (description: string, ...data: ReadonlyArray<unknown>) => ok(description, { data })

const auth: Record<string, OperationText> = {
  "auth.login": {
    request: { email: "ada@example.com" },
    answers: ok("The same message for every address", {
      message: "if this address may log in, a code of 6 digits is on its way; it is good for 10 minutes"
    })
  },
  "auth.verify": {
    request: { email: "ada@example.com", code: "042137" },
    answers: ok("The session's token, for `Authorization: Bearer`", { token: "svc_st_…" })
  },
  "auth.logout": { answers: done("The session has ended") },
  "auth.me": {
    description: "Returns a user, or a service account with its organization and, if it is bound to one, its project.",
    answers: ok("The caller", records.user)
  },
  "auth.sessions": {
    description: "Lists the active sessions of all devices.",
    answers: listed("The sessions", records.session)
  },
  "auth.endSessions": {
    description: "Ends the current session too.",
    answers: done("All sessions have ended")
  },
  "auth.endSession": {
    description: "NOT_FOUND for another user's session.",
    answers: done("The session has ended")
  }
}

const organizations: Record<string, OperationText> = {
  "organizations.create": {
    request: { name: "acme" },
    answers: created("The new organization", records.organization)
  },
  "organizations.list": { answers: listed("The organizations", records.organization) },
  "organizations.get": {
    description: "The record includes the caller's role.",
    answers: ok("The organization", records.organization)
  },
  "organizations.rename": {
    description: "Owners only. The contents stay, but paths and settings with the old name stop working.",
    request: { name: "acme-inc" },
    answers: ok("The organization under its new name", { ...records.organization, name: "acme-inc" })
  },
  "organizations.delete": { answers: done("The organization is removed") },
  "members.invite": {
    request: { email: "grace@example.com", role: "developer" },
    answers: created("The new member", records.member)
  },
  "members.list": {
    description: "For any member.",
    answers: listed("The members", records.member)
  },
  "members.setRole": {
    description: "Owners only. The role of the last owner cannot be changed.",
    request: { role: "admin" },
    answers: ok("The member in the new role", { ...records.member, role: "admin" })
  },
  "members.remove": {
    description:
      "Only an owner can remove an owner. The last owner cannot be removed. Service accounts that the person created stay valid, and the person may know their keys: find them by `created_by`, and rotate the keys.",
    answers: done("The member is removed")
  }
}

const places: Record<string, OperationText> = {
  "projects.create": { request: { name: "webshop" }, answers: created("The new project", records.project) },
  "projects.list": {
    description: "For any member. A service account that is bound to a project sees only that one.",
    answers: listed("The projects", records.project)
  },
  "projects.get": {
    description: "For any member.",
    answers: ok("The project", records.project)
  },
  "projects.rename": {
    request: { name: "shop" },
    answers: ok("The project under its new name", { ...records.project, name: "shop" })
  },
  "projects.delete": {
    description: "Everything in it becomes inaccessible at once. The name can be used again.",
    answers: done("The project is removed")
  },
  "environments.create": {
    description: "It starts empty. Access rules whose patterns match its name apply at once.",
    request: { name: "prod" },
    answers: created("The new environment", records.environment)
  },
  "environments.list": {
    description: "For any member.",
    answers: listed("The environments", records.environment)
  },
  "environments.delete": {
    description: "Its secrets become inaccessible at once. The name can be used again.",
    answers: done("The environment is removed")
  },
  "environments.bundle": {
    answers: {
      ...ok("The secrets with their values, keys in byte order", records.bundle),
      304: { description: "Nothing has changed since the response with this ETag" }
    }
  },
  "environments.writeBundle": {
    request: {
      set: { API_KEY: "k-8c1f", DATABASE_URL: "postgres://app@db2.internal/shop" },
      delete: ["OLD_TOKEN"],
      dry_run: false
    },
    answers: ok("The change of each key, made or (with `dry_run`) planned", records.bundleWritten)
  },
  "environments.copy": {
    description:
      "Copies all keys, or those in `keys`. The caller needs `read` on the source and `write` on the target. The `ETag` of the response covers both environments: send it as `If-Match` to write only if neither has changed since.",
    request: { from: "staging", keys: ["API_KEY", "DATABASE_URL"], dry_run: true },
    answers: ok("The change of each key, made or (with `dry_run`) planned", {
      revision: 43,
      data: records.bundleWritten.data.slice(0, 2)
    })
  },
  "environments.diff": {
    description: "`with` names the other environment of the same project. The caller needs `read` on both.",
    answers: listed("The keys of both environments", ...records.difference)
  },
  "environments.revisions": {
    answers: listed("The revisions", ...records.revisions)
  },
  "environments.revert": {
    request: { to: 41, dry_run: false },
    answers: ok("The change of each key, made or (with `dry_run`) planned", {
      revision: 43,
      data: [
        { key: "API_KEY", version: 2, change: "deleted" },
        { key: "DATABASE_URL", version: 4, change: "updated" },
        { key: "OLD_TOKEN", version: 1, change: "created" }
      ]
    })
  }
}

const secrets: Record<string, OperationText> = {
  "secrets.set": {
    description: "With `expected_version`, writes only if the key is at that version; 0 means that it must not exist.",
    request: { value: "postgres://app@db.internal/shop", expected_version: 2 },
    answers: ok("The secret's new version, without the value", records.written)
  },
  "secrets.get": {
    description: "With `version`, returns that version. Every read is recorded in the audit log.",
    answers: ok("The secret with its value", records.read)
  },
  "secrets.list": {
    description: "Sorted by key, in byte order.",
    answers: listed("The keys", records.listed)
  },
  "secrets.delete": {
    description: "Its versions are kept: `undelete` restores it, unless a new secret has the key.",
    answers: done("The secret is removed")
  },
  "secrets.versions": {
    description: "One page at a time: `before` is the last version of the previous page.",
    answers: listed("The versions", ...records.versions)
  },
  "secrets.rollback": {
    description: "The earlier value becomes a new version; it is not returned.",
    request: { version: 1, expected_version: 2 },
    answers: ok("The secret's new version", records.written)
  },
  "secrets.undelete": {
    description:
      "Restores the secret that was removed last under this key. Older removed secrets of the key are not restored.",
    answers: ok("The restored secret, without the value", records.written)
  },
  "secrets.destroy": {
    request: { versions: [2] },
    answers: ok("The requested versions", records.destroyed)
  }
}

const access: Record<string, OperationText> = {
  "acl.grant": {
    request: {
      subject_type: "user",
      email: "grace@example.com",
      project_pattern: "webshop",
      env_pattern: "{dev,staging}",
      permission: "write"
    },
    answers: {
      ...ok("The existing rule, with its new permission", records.aclRule),
      ...created("The new rule", records.aclRule)
    }
  },
  "acl.list": { description: "For admins and owners.", answers: listed("The rules", records.aclRule) },
  "acl.explain": {
    description:
      "For admins and owners; everyone may ask about themselves. `email` names a user, `subject_id` a service account.",
    answers: ok("The permissions and the reasons for them", records.explanation)
  },
  "acl.revoke": {
    description: "Takes effect for every request that starts after the response.",
    answers: done("The rule is revoked")
  },
  "serviceAccounts.create": {
    request: { name: "deploy pipeline", project: "webshop", expires_in_days: 90 },
    answers: created("The new account, with its key", records.serviceAccountWithKey)
  },
  "serviceAccounts.list": {
    description: "Keys are not returned.",
    answers: listed("The accounts", records.serviceAccount)
  },
  "serviceAccounts.rotate": {
    request: { grace_seconds: 3600 },
    answers: ok("The account, with its new key", records.serviceAccountWithKey)
  },
  "serviceAccounts.revoke": {
    description: "Takes effect for every request that starts after the response.",
    answers: done("The account is revoked")
  }
}

const administration: Record<string, OperationText> = {
  "audit.list": {
    description:
      "For admins and owners. `project`, `env` and `key` match the names at the time of the entry. A read of a whole environment matches each key that it returned. Entries from versions before these filters have only a key. `since` and `until` take a date or a time in UTC. An unknown action, resource type or actor is VALIDATION_ERROR, which suggests the nearest match. An actor is known if it ever was a member or service account of the organization, or has an entry. `total` counts the matching entries; with `since` or `until`, counting stops at 10,000, and `at_least` is then true. Send `next_cursor` as `after` to get the next page. A page of very long entries may have fewer than `limit`.",
    answers: ok("A page of entries", records.auditPage)
  },
  "audit.verify": {
    description:
      "With `seq` and `chain`, also checks a head that you recorded elsewhere. Without a recorded head, removal of the newest entries cannot be detected. A log is verified once at a time: further requests wait.",
    answers: ok("The result of the verification", records.verification)
  },
  "audit.listAll": {
    description:
      "For superadmins. Contains logins, failed logins, lockouts, backups and the entries of all organizations, or only those of `org_id`. The filters are those of an organization's log.",
    answers: ok("A page of entries", records.auditPage)
  },
  "audit.verifyAll": {
    description: "For superadmins. Verifies the chain of the entries without an organization, or that of `org_id`.",
    answers: ok("The result of the verification", records.verification)
  },
  "users.list": {
    description:
      "For superadmins. Sorted by e-mail. `email` filters by prefix, `disabled` by state. Send `next_cursor` as `after` to get the next page.",
    answers: ok("A page of users", {
      data: [records.userRecord],
      pagination: { limit: 50, has_next: false, next_cursor: null }
    })
  },
  "users.disable": {
    answers: ok("The user, and the live service accounts that the user created", {
      ...records.userRecord,
      disabled_at: records.serviceAccount.created_at,
      sessions: 0,
      service_accounts: [records.createdAccount]
    })
  },
  "users.enable": {
    description: "For superadmins. The user's earlier sessions and codes remain invalid.",
    answers: ok("The user", records.userRecord)
  },
  "users.endSessions": {
    description: "For superadmins. The user may log in again at once.",
    answers: ok("The user", { ...records.userRecord, sessions: 0 })
  },
  "backups.create": {
    description: "For superadmins. Takes a snapshot of the database, checks, encrypts and stores it.",
    answers: created("The new backup", { ...records.backup, trigger: "manual" })
  },
  "backups.list": {
    description: "For superadmins. Lists the backups of every instance that shares the bucket and prefix.",
    answers: ok("The backups, and this server's instance", {
      data: [records.backup],
      server: { instance: records.backup.instance, organizations: 1 }
    })
  },
  "backups.drill": {
    request: { backup_id: records.backup.id },
    answers: ok("The result of the drill", records.drill)
  },
  "backups.restore": { answers: ok("The restored file", records.restore) },
  "system.health": { description: "Does not use the database.", answers: ok("The server is up", { status: "ok" }) },
  "system.ready": {
    description: "For load balancers, and for scripts that wait for the server to start.",
    answers: ok("The server and its database are up", { status: "ok" })
  },
  "system.openApi": {
    description: "Returns this OpenAPI 3.1 document.",
    answers: { 200: { description: "The document" } }
  },
  "system.docs": {
    description: "Self-contained: the page loads no external resources.",
    answers: { 200: { description: "The page" } }
  },
  "system.llms": {
    description: "In the format of https://llmstxt.org.",
    answers: { 200: { description: "The index" } }
  },
  "system.llmsFull": {
    description: "Returns all pages of the documentation, and this API definition as tables.",
    answers: { 200: { description: "The text" } }
  }
}

/** By operation id: `group.endpoint`. */
export const operationTexts: Readonly<Record<string, OperationText>> = {
  ...auth,
  ...organizations,
  ...places,
  ...secrets,
  ...access,
  ...administration
}
