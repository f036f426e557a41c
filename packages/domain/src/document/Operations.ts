import * as records from "./Records.js"

/** What the document says of a call beyond its schemas. */
export interface OperationText {
  /** What the answer is, by status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** A request's body. */
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
    answers: ok("The same sentence whoever asks", {
      message: "if this address may log in, a code of 6 digits is on its way; it is good for 10 minutes"
    })
  },
  "auth.verify": {
    request: { email: "ada@example.com", code: "042137" },
    answers: ok("The session's token, for `Authorization: Bearer`", { token: "svc_st_…" })
  },
  "auth.logout": { answers: done("The session is over") },
  "auth.me": {
    description: "A person, or a service account with its organization and, when it is bound to one, its project.",
    answers: ok("The caller", records.user)
  },
  "auth.sessions": {
    description: "Those that are not over, on all machines.",
    answers: listed("The sessions", records.session)
  },
  "auth.endSessions": {
    description: "The one that asks too.",
    answers: done("All sessions are over")
  },
  "auth.endSession": {
    description: "Another person's session is not found.",
    answers: done("The session is over")
  }
}

const organizations: Record<string, OperationText> = {
  "organizations.create": {
    request: { name: "acme" },
    answers: created("The new organization", records.organization)
  },
  "organizations.list": { answers: listed("The organizations", records.organization) },
  "organizations.get": {
    description: "With the caller's own role in it.",
    answers: ok("The organization", records.organization)
  },
  "organizations.rename": {
    description: "Owners only. What is in it stays where it is; paths and settings that bear the old name do not.",
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
    description: "Owners only. The last owner cannot be given another role.",
    request: { role: "admin" },
    answers: ok("The member in the new role", { ...records.member, role: "admin" })
  },
  "members.remove": {
    description: "The last owner cannot be removed, and only an owner removes an owner.",
    answers: done("The member is removed")
  }
}

const places: Record<string, OperationText> = {
  "projects.create": { request: { name: "webshop" }, answers: created("The new project", records.project) },
  "projects.list": {
    description: "For any member. A service account sees its own project when it is bound to one.",
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
    description: "Everything in it is out of reach at once, and its name is free again.",
    answers: done("The project is removed")
  },
  "environments.create": {
    description: "It starts empty. Access rules whose patterns match its name are about it at once.",
    request: { name: "prod" },
    answers: created("The new environment", records.environment)
  },
  "environments.list": {
    description: "For any member.",
    answers: listed("The environments", records.environment)
  },
  "environments.delete": {
    description: "Its secrets are out of reach at once, and its name is free again.",
    answers: done("The environment is removed")
  },
  "environments.bundle": {
    answers: {
      ...ok("The secrets with their values, keys in byte order", records.bundle),
      304: { description: "Nothing has changed since the answer that bore this ETag" }
    }
  },
  "environments.writeBundle": {
    request: {
      set: { API_KEY: "k-8c1f", DATABASE_URL: "postgres://app@db2.internal/shop" },
      delete: ["OLD_TOKEN"],
      dry_run: false
    },
    answers: ok("What was done with each key, or would be done", records.bundleWritten)
  },
  "environments.copy": {
    description:
      "All keys, or those in `keys`. Values are not shown to the caller, who needs `read` there and `write` here. The `ETag` of the answer stands for both environments: sent as `If-Match`, nothing is written when either has changed since.",
    request: { from: "staging", keys: ["API_KEY", "DATABASE_URL"], dry_run: true },
    answers: ok("What was done with each key, or would be done", {
      revision: 43,
      data: records.bundleWritten.data.slice(0, 2)
    })
  },
  "environments.diff": {
    description: "`with` names the other environment of the same project. The caller needs `read` on both.",
    answers: listed("The keys of both", ...records.difference)
  },
  "environments.revisions": {
    answers: listed("The revisions", ...records.revisions)
  },
  "environments.revert": {
    request: { to: 41, dry_run: false },
    answers: ok("What was done with each key, or would be done", {
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
    description:
      "With `expected_version`, nothing is written unless the key is at that version; 0 means that it must not exist.",
    request: { value: "postgres://app@db.internal/shop", expected_version: 2 },
    answers: ok("The secret's new version, without the value", records.written)
  },
  "secrets.get": {
    description: "With `version`, the value as it was. Every read is in the audit log.",
    answers: ok("The secret with its value", records.read)
  },
  "secrets.list": {
    description: "In byte order of the keys.",
    answers: listed("The keys", records.listed)
  },
  "secrets.delete": {
    description: "Its versions are kept: `undelete` brings it back while no other secret took the key.",
    answers: done("The secret is removed")
  },
  "secrets.versions": {
    description: "A page at a time: `before` is the last version of the page before.",
    answers: listed("The versions", ...records.versions)
  },
  "secrets.rollback": {
    description: "The value becomes a new version, and is not shown.",
    request: { version: 1, expected_version: 2 },
    answers: ok("The secret's new version", records.written)
  },
  "secrets.undelete": {
    description: "The last one that was removed under this key. An older life of the key stays gone.",
    answers: ok("The secret as it was", records.written)
  },
  "secrets.destroy": {
    request: { versions: [2] },
    answers: ok("The versions that were asked for", records.destroyed)
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
      ...ok("The rule that was there, with its new permission", records.aclRule),
      ...created("The new rule", records.aclRule)
    }
  },
  "acl.list": { description: "For admins and owners.", answers: listed("The rules", records.aclRule) },
  "acl.explain": {
    description:
      "For admins and owners; for everyone about themselves. Names a user by `email`, an account by `subject_id`.",
    answers: ok("What is allowed, and because of what", records.explanation)
  },
  "acl.revoke": {
    description: "Binds every request that starts after the answer.",
    answers: done("The rule is revoked")
  },
  "serviceAccounts.create": {
    request: { name: "deploy pipeline", project: "webshop", expires_in_days: 90 },
    answers: created("The new account, with its key", records.serviceAccountWithKey)
  },
  "serviceAccounts.list": {
    description: "Without their keys.",
    answers: listed("The accounts", records.serviceAccount)
  },
  "serviceAccounts.rotate": {
    request: { grace_seconds: 3600 },
    answers: ok("The account, with its new key", records.serviceAccountWithKey)
  },
  "serviceAccounts.revoke": {
    description: "Binds every request that starts after the answer.",
    answers: done("The account is revoked")
  }
}

const administration: Record<string, OperationText> = {
  "audit.list": {
    description:
      "For admins and owners. `project`, `env` and `key` are names as they were when the entry was made; reads of a whole environment are found by each key that they gave. Entries that a version before these filters wrote have a key, and no other name. `since` and `until` take a date or a time in UTC. An action or a resource type that does not exist, or an actor who never was a member or a service account of the organization and has no entry, is VALIDATION_ERROR, which names the nearest. `total` counts what the filters leave: with `since` or `until` to 10,000 at most, and `at_least` says that there are more. `next_cursor` is the next page's `after`; a page of very long entries ends before `limit`.",
    answers: ok("A page of entries", records.auditPage)
  },
  "audit.verify": {
    description:
      "With `seq` and `chain`, a head that someone kept elsewhere is checked too. Without one, a log that was cut off together with its head cannot be told from a shorter one. One verification of a log runs at a time.",
    answers: ok("Whether the chain holds", records.verification)
  },
  "audit.listAll": {
    description:
      "For superadmins: logins, failed logins, lockouts, backups, and every organization's entries, or those of `org_id`. The filters are those of an organization's log.",
    answers: ok("A page of entries", records.auditPage)
  },
  "audit.verifyAll": {
    description: "For superadmins: the chain of the entries without an organization, or that of `org_id`.",
    answers: ok("Whether the chain holds", records.verification)
  },
  "users.list": {
    description:
      "By e-mail. `email` is the beginning of an address, `disabled` true or false; `next_cursor` is the next page's `after`. For superadmins.",
    answers: ok("A page of people", {
      data: [records.userRecord],
      pagination: { limit: 50, has_next: false, next_cursor: null }
    })
  },
  "users.disable": {
    answers: ok("The person, and the live service accounts that they made", {
      ...records.userRecord,
      disabled_at: records.serviceAccount.created_at,
      sessions: 0,
      service_accounts: [records.createdAccount]
    })
  },
  "users.enable": {
    description: "Sessions and codes that ended stay ended. For superadmins.",
    answers: ok("The person", records.userRecord)
  },
  "users.endSessions": {
    description: "The person may log in again at once. For superadmins.",
    answers: ok("The person", { ...records.userRecord, sessions: 0 })
  },
  "backups.create": {
    description: "Snapshots the database, checks the snapshot, encrypts it and stores it. For superadmins.",
    answers: created("The new backup", { ...records.backup, trigger: "manual" })
  },
  "backups.list": {
    description: "Of every instance that shares the bucket and prefix. For superadmins.",
    answers: ok("The backups, and what this server is", {
      data: [records.backup],
      server: { instance: records.backup.instance, organizations: 1 }
    })
  },
  "backups.drill": {
    request: { backup_id: records.backup.id },
    answers: ok("What was found", records.drill)
  },
  "backups.restore": { answers: ok("Where the file is", records.restore) },
  "system.health": { description: "Asks nothing of the database.", answers: ok("It is up", { status: "ok" }) },
  "system.ready": {
    description: "For a load balancer, or whoever waits for a start.",
    answers: ok("It is up, and so is its database", { status: "ok" })
  },
  "system.openApi": {
    description: "The OpenAPI 3.1 document that you are reading.",
    answers: { 200: { description: "The document" } }
  },
  "system.docs": {
    description: "Self-contained: it loads nothing from elsewhere.",
    answers: { 200: { description: "The page" } }
  },
  "system.llms": {
    description: "In the form of https://llmstxt.org.",
    answers: { 200: { description: "The index" } }
  },
  "system.llmsFull": {
    description: "Every page of the documentation, and this contract as tables.",
    answers: { 200: { description: "The text" } }
  }
}

/** By the identifier of the call: `group.endpoint`. */
export const operationTexts: Readonly<Record<string, OperationText>> = {
  ...auth,
  ...organizations,
  ...places,
  ...secrets,
  ...access,
  ...administration
}
