import { randomUUID } from "node:crypto"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { endedAtOnce } from "@coffer/server/database/InSteps"
import { seal } from "@coffer/server/keys/Envelope"
import { makeKeyring } from "@coffer/server/keys/Keyring"
import { hashToken, keyHint, mintToken } from "@coffer/server/keys/Token"
import { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import Sqlite from "better-sqlite3"
import { Array, Effect, Redacted } from "effect"
import { masterKey, servicesAt, transaction } from "../support/Services.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

/** How large an organization may become. */
export const limits = {
  members: 10_000,
  projects: 2_000,
  environments: 100,
  rules: 20_000,
  rulesOfOne: 1_000,
  groups: 200,
  accounts: 2_000,
  secrets: 2_000,
  valueBytes: 8 * 1024 * 1024,
  logs: 2_000
}

const at = "2026-01-01T00:00:00.000Z"
const manyEnded = 2 * endedAtOnce + 50
const org = { id: OrgId.make(randomUUID()), name: "large" }

export const superadmin = "root@example.com"

/** Keys of the greatest length. */
const keysOf = (count: number) => Array.makeBy(count, (index) => `KEY_${index}`.padEnd(100, "x"))

/** The secrets of a full environment. */
export const fullKeys = keysOf(limits.secrets)
export const fullValue = (key: string, salt = "") =>
  `${salt}${key}`.padEnd(Math.floor(limits.valueBytes / limits.secrets), "v")

/** Few secrets of the greatest size. */
export const largeKeys = keysOf(limits.valueBytes / 65_536)

/** A secret with 1,001 versions, for each attempt at destroying the first thousand. */
export const historyKeys = ["HISTORY_0", "HISTORY_1", "HISTORY_2", "HISTORY_3", "HISTORY_4", "HISTORY_5"]

/** As long as the address of a member may be. */
const address = (index: number) =>
  `member-${index}@${[1, 2, 3].map((label) => `d${label}`.padEnd(60, "x")).join(".")}.com`

/** Long to match, and matching nothing. */
const pattern = (index: number) => `{*a?,*b}{?*c,z${index}}`

export interface Limits {
  /** Session tokens and API keys, by who has them. */
  readonly credentials: {
    /** Every right. */
    readonly root: string
    /** A service account whose rights come from the last of 1,000 rules. */
    readonly ruled: string
    /** A member with 1,000 rules, none of which matches. */
    readonly powerless: string
    /** A person that belongs to no organization. */
    readonly outsider: string
  }
  /** A session token of each of some people with 10,000 sessions. */
  readonly crowds: ReadonlyArray<string>
  /** The ids of others with as many. */
  readonly crowded: ReadonlyArray<string>
  /** More session tokens of the superadmin. */
  readonly tokens: ReadonlyArray<string>
  /** A session token of the superadmin that was proven just now. */
  readonly proven: string
  /** An export of the organization that can be read, and an import with an environment. */
  readonly exported: string
  readonly imported: string
  readonly org: string
  readonly orgId: string
  /** The other organizations. */
  readonly organizations: ReadonlyArray<OrgId>
  /** Members and accounts with 1,000 rules and 450 places in use rules each, to be put out. */
  readonly members: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<string>
  /** An account that stays. */
  readonly keptAccount: string
  readonly rules: ReadonlyArray<string>
  readonly sessions: ReadonlyArray<string>
  /** The first has 2,000 members and 8,000 whom logins brought, the others a member with 1,300 rules of them. */
  readonly groups: ReadonlyArray<string>
  /** Addresses of members. */
  readonly emails: ReadonlyArray<string>
}

/** A million entries of an organization, by one statement. Their links are not valid. */
const addEntries = (path: string, log: string): void => {
  const database = new Sqlite(path)
  database.pragma("synchronous = OFF")
  database
    .prepare(
      `WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 1000000)
      INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id,
        ip_address, metadata, created_at, chain)
      SELECT printf('00000000-0000-7000-8000-%012d', seq), ?, seq, ?, 'user', printf('actor-%d', seq % 50),
        printf('user-%d@example.com', seq % 50), 'secret.set', 'secret', 'resource', '203.0.113.7',
        '{"key":"KEY_1","version":1}', ?, printf('%064d', seq) FROM n`
    )
    .run(log, log, at)
  database
    .prepare(
      "INSERT INTO audit_heads (log, seq, chain, created_at, mac) VALUES (?, 1000000, printf('%064d', 1000000), ?, '')"
    )
    .run(log, at)
  database.prepare("INSERT INTO audit_indexed (log, seq) VALUES (?, 1000000)").run(log)
  database.pragma("wal_checkpoint(TRUNCATE)")
  database.close()
}

/**
 * Fills a database to the limits of an organization, by statements of its own: the server would take hours. The audit log has
 * long entries among its newest.
 */
export const fill = async (path: string): Promise<Limits> => {
  const keyring = await Effect.runPromise(makeKeyring(Redacted.make(masterKey)))
  const token = (kind: "session" | "apiKey") => Redacted.value(Effect.runSync(mintToken(kind)))
  // Makes the tables and the keys.
  await Effect.runPromise(Effect.provide(Effect.void, servicesAt(path)))

  const database = new Sqlite(path)
  database.pragma("synchronous = OFF")
  database.pragma("cache_size = -200000")
  const prepared = new Map<string, Sqlite.Statement>()
  const insert = (table: string, row: Readonly<Record<string, string | number | Uint8Array | null>>) => {
    const names = Object.keys(row)
    const text = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    statement.run(...Object.values(row))
  }
  const stamps = { created_at: at, updated_at: at }

  const user = (email: string) => {
    const id = randomUUID()
    insert("users", { id, email, name: email.slice(0, 60), ...stamps })
    return id
  }
  const now = new Date().toISOString()
  const sessionOf = (user_id: string, token_hash: string) => {
    const id = randomUUID()
    insert("sessions", { id, user_id, token_hash, ip_address: null, created_at: now, last_used_at: now })
    return id
  }
  const session = (user_id: string) => {
    const text = token("session")
    return { id: sessionOf(user_id, hashToken(text)), text }
  }
  const member = (user_id: string, role: string) =>
    insert("members", { id: randomUUID(), org_id: org.id, user_id, role, accepted_at: at, ...stamps })
  const account = (index: number) => {
    const id = randomUUID()
    const text = token("apiKey")
    insert("service_accounts", {
      ...{ id, org_id: org.id, project_id: null, name: `account ${index}`.padEnd(64, "x"), reveal: 1 },
      ...{ created_by: superadmin, ...stamps }
    })
    insert("api_keys", {
      ...{ id: randomUUID(), service_account_id: id, token_hash: hashToken(text), hint: keyHint(text), created_at: at }
    })
    return { id, text }
  }
  const rule = (subject_type: string, subject_id: string, project_pattern: string, permission = "read") => {
    const id = randomUUID()
    insert("acl_rules", {
      ...{ id, org_id: org.id, subject_type, subject_id, project_pattern, env_pattern: "*", permission },
      ...{ created_by: superadmin, ...stamps }
    })
    return id
  }
  const group = (name: string, userIds: ReadonlyArray<string>) => {
    const id = randomUUID()
    insert("groups", { id, org_id: org.id, name, created_by: superadmin, ...stamps })
    for (const user_id of userIds) {
      insert("group_members", { user_id, org_id: org.id, group_id: id, added_by: superadmin, created_at: at })
    }
    return id
  }
  const environment = (project_id: string, name: string) => {
    const id = EnvId.make(randomUUID())
    insert("environments", { id, project_id, name, ...stamps })
    return id
  }

  const filled = database.transaction(() => {
    insert("organizations", { id: org.id, name: org.name, ...stamps })
    const root = user(superadmin)
    member(root, "owner")
    const organizations = Array.makeBy(9_999, (index) => {
      const id = OrgId.make(randomUUID())
      insert("organizations", { id, name: `org-${1 + index}`.padEnd(50, "x"), ...stamps })
      return id
    })

    const outsider = user("outsider@example.com")
    const crowd = (index: number) => {
      const id = user(`many-${index}@example.com`)
      for (let n = 1; n < 10_000; n++) sessionOf(id, randomUUID())
      return { id, token: session(id).text }
    }
    const crowds = Array.makeBy(4, (index) => crowd(index).token)
    const crowded = Array.makeBy(4, (index) => crowd(4 + index).id)

    const powerless = user("powerless@example.com")
    member(powerless, "developer")
    const members = Array.makeBy(limits.members - 2, (index) => {
      const id = user(address(index))
      member(id, "developer")
      return id
    })
    const accounts = Array.makeBy(limits.accounts - 20, account)
    const ruled = accounts[0]

    const subjects = [
      ["service_account", ruled.id],
      ["user", powerless],
      ...members.slice(0, 9).map((id) => ["user", id] as const),
      ...accounts.slice(1, 9).map(({ id }) => ["service_account", id] as const)
    ] as const
    const rules = subjects.flatMap(([type, id]) =>
      Array.makeBy(limits.rulesOfOne - 20, (index) => rule(type, id, pattern(index)))
    )
    rule("service_account", ruled.id, "*", "admin")
    const groups = Array.makeBy(190, (index) => `group-${index}`)
    groups.forEach((name, index) => {
      const id = group(name, index === 0 ? members.slice(0, 2_000) : [powerless])
      if (index > 0 && index <= 65) for (let n = 0; n < 20; n++) rule("group", id, pattern(n))
      // Logins bring everybody into two of them, and powerless into all.
      const provider_group = index < 2 ? "everyone" : "powerless"
      insert("group_mappings", { org_id: org.id, provider_group, group_id: id })
    })
    const brought = [...members, powerless].map((user_id) => ({ user_id, provider_group: "everyone" }))
    for (const one of [...brought, { user_id: powerless, provider_group: "powerless" }]) {
      const ends = { expires_at: Date.now() + 86_400_000 }
      insert("login_groups", { ...one, org_id: org.id, ...ends })
      insert("provider_groups", { ...one, ...ends })
    }

    const project = (name: string) => {
      const id = ProjectId.make(randomUUID())
      insert("projects", { id, org_id: org.id, name, ...stamps })
      return id
    }
    const web = project("web")
    for (const key of fullKeys) {
      insert("declared_keys", {
        ...{ project_id: web, key, required_in: "*", pattern: "(?:[A-Z]|[a-z]|[0-9_])+v*", example: "v".repeat(1_000) },
        ...{ description: "d".repeat(1_000), owner: superadmin, updated_by: superadmin, updated_at: at }
      })
    }
    for (let index = 1; index < limits.projects - 20; index++) {
      const id = project(`project-${index}`)
      for (const name of ["dev", "staging", "prod"]) environment(id, name)
    }
    const secrets = (
      name: string,
      values: ReadonlyArray<readonly [key: string, ...versions: ReadonlyArray<string>]>
    ) => {
      const envId = environment(web, name)
      let bytes = 0
      let revision = 0
      for (const [key, ...versions] of values) {
        const id = SecretId.make(randomUUID())
        insert("secrets", { id, env_id: envId, key, version: versions.length, ...stamps })
        versions.forEach((text, index) => {
          const version = index + 1
          const binding = { orgId: org.id, projectId: web, envId, secretId: id, key: SecretKey.make(key), version }
          insert("secret_versions", {
            ...seal(keyring, binding, Redacted.make(SecretValue.make(text))),
            ...{ secret_id: id, version, revision: ++revision, value_bytes: text.length },
            ...{ created_by: superadmin, created_at: at }
          })
        })
        bytes += versions.at(-1)!.length
      }
      database
        .prepare("UPDATE environments SET revision = ?, secret_count = ?, value_bytes = ? WHERE id = ?")
        .run(revision, values.length, bytes, envId)
    }
    secrets(
      "full",
      fullKeys.map((key) => [key, fullValue(key)])
    )
    database
      .prepare(
        `INSERT INTO secret_dues (secret_id, org_id, env_id, owner, rotate_every_days, due_at)
        SELECT id, ?, env_id, ?, 14, '2026-01-15T00:00:00.000Z' FROM secrets`
      )
      .run(org.id, superadmin)
    secrets(
      "other",
      fullKeys.map((key, index) => [key, fullValue(key, index % 2 === 0 ? "" : "x")])
    )
    secrets(
      "large",
      largeKeys.map((key) => [key, "v".repeat(65_536)])
    )
    secrets(
      "history",
      historyKeys.map((key) => [key, ...Array.makeBy(1_001, (index) => `version ${index}`)])
    )
    for (let index = 4; index < limits.environments - 10; index++) environment(web, `env-${index}`)
    // As a revert of all secrets to as many others leaves it.
    const reverted = environment(web, "reverted")
    database.prepare("UPDATE environments SET revision = 1 WHERE id = ?").run(reverted)
    for (const key of keysOf(2 * limits.secrets)) {
      insert("secret_changes", {
        ...{ env_id: reverted, revision: 1, key, secret_id: randomUUID(), version: 1, change: "created" },
        ...{ created_by: superadmin, created_at: at }
      })
    }

    // Those who are put out have more places in use rules, and votes for requests that wait, than two transactions end.
    const namedEnv = environment(web, "named")
    const [secretId, voters] = [randomUUID(), [...members.slice(0, 9), ...crowded]]
    insert("secrets", { id: secretId, env_id: namedEnv, key: "NAMED", version: 1, ...stamps })
    for (let index = 0; index < manyEnded; index++) {
      const id = randomUUID()
      insert("use_rules", {
        ...{ id, secret_id: secretId, terms: "{}", per_minute: 1, per_day: 1, minute_at: 0, minute_count: 0 },
        ...{ day_at: 0, day_count: 0, created_by: superadmin, ...stamps }
      })
      const named = [...members.slice(0, 9), ...accounts.slice(1, 8).map((one) => one.id)]
      named.forEach((subject_id, position) => {
        insert("use_rule_accounts", { rule_id: id, position, org_id: org.id, subject_id })
      })
      const request = randomUUID()
      insert("requests", {
        ...{ id: request, org_id: org.id, env_id: namedEnv, kind: "access", state: "pending", actor_type: "user" },
        ...{ actor_id: powerless, actor_name: "powerless@example.com", permission: "read", expires_in: 3_600 },
        ...{ protection_version: 0, needed: 3, bytes: 0, created_at: at, expires_at: Date.now() + 86_400_000 }
      })
      for (const user_id of voters) {
        insert("request_votes", { request_id: request, user_id, email: superadmin, vote: "approve", created_at: at })
      }
    }

    const proven = session(root)
    const far = Date.now() + 86_400_000
    const exported = randomUUID()
    insert("exports", {
      ...{ id: exported, org_id: org.id, user_id: root, versions: 1, created_by: superadmin },
      ...{ created_at: at, expires_at: far }
    })
    const [imported, hidden, hiddenProject] = [randomUUID(), randomUUID(), randomUUID()]
    insert("organizations", { id: hidden, name: "hidden", ...stamps, removed_at: at })
    insert("projects", { id: hiddenProject, org_id: hidden, name: "web", ...stamps })
    insert("environments", { id: randomUUID(), project_id: hiddenProject, name: "prod", ...stamps })
    insert("imports", {
      ...{ id: imported, org_id: hidden, user_id: root, name: "imported", structure: "", revision: 0 },
      ...{ created_at: at, expires_at: far }
    })

    const everyRight = session(root).text
    // Most changes need a recent login.
    database.prepare("UPDATE sessions SET proven_at = ? WHERE user_id = ?").run(now, root)
    return {
      proven: proven.text,
      exported,
      imported,
      credentials: {
        root: everyRight,
        ruled: ruled.text,
        powerless: session(powerless).text,
        outsider: session(outsider).text
      },
      crowds,
      crowded,
      tokens: Array.makeBy(20, () => session(root).text),
      org: org.name,
      orgId: org.id,
      organizations,
      members: members.slice(0, 9),
      accounts: accounts.slice(1, 8).map(({ id }) => id),
      keptAccount: accounts[8]?.id ?? "",
      rules: rules.slice(0, 50),
      sessions: Array.makeBy(20, () => session(root).id),
      groups,
      emails: Array.makeBy(3_000, address)
    }
  })()
  database.close()

  const source = { actor: { type: "user", id: randomUUID(), name: superadmin }, orgId: org.id } as const
  const short = Array.makeBy(
    20_000,
    (index) =>
      ({
        action: "secret.set",
        resource_type: "secret",
        resource_id: randomUUID(),
        metadata: { key: `KEY_${index}`, version: 1 }
      }) as const
  )
  const long = Array.makeBy(
    120,
    () =>
      ({
        action: "secret.read",
        resource_type: "env",
        resource_id: randomUUID(),
        metadata: { revision: 1, keys: fullKeys.map((key) => ({ key, version: 1 })) }
      }) as const
  )
  const created = { action: "org.create", resource_type: "org", resource_id: null } as const
  await Effect.runPromise(
    Effect.gen(function* () {
      const audit = yield* AuditLog
      for (const events of [...Array.chunksOf(short, 1_000), ...Array.chunksOf(long, 20)]) {
        yield* transaction(audit.change(source, ...events))
      }
      // A log for each organization, some of them committed together.
      for (const some of Array.chunksOf(filled.organizations.slice(0, limits.logs), 200)) {
        yield* transaction(
          Effect.forEach(some, (orgId) => audit.change({ ...source, orgId }, created), { discard: true })
        )
      }
    }).pipe(Effect.provide(servicesAt(path)))
  )
  if (isSoak) addEntries(path, filled.organizations.at(-1) ?? "")
  return filled
}
