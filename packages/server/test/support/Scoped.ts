import { heldIn } from "@coffer/server/database/Changing"
import { Database, Transaction } from "@coffer/server/database/Database"
import type { ScopeKind } from "@coffer/server/database/Scopes"
import { Context, Effect, Layer, Option } from "effect"

/** The scopes that a write to a table must hold. */
interface Rule {
  /** A scope of one of these kinds. */
  readonly scopes: ReadonlyArray<ScopeKind>
  /** The statements that need none: they rely on no other row, and no rule relies on what they write. */
  readonly alone?: RegExp
}

const ofOrganization: Rule = { scopes: ["org"] }
const none: Rule = { scopes: [], alone: /./ }

/** Rows that end by themselves are deleted, some at a time. */
const expired = (table: string) => `DELETE FROM ${table} WHERE \\(id\\) IN`

/** The rule for writes to each table. A table without a row here is refused. */
export const rules: Readonly<Record<string, Rule>> = {
  acl_rules: {
    scopes: ["org"],
    alone: /SET removed_at = \S+ WHERE id = \S+ AND expires_at = \S+ AND removed_at IS NULL AND expires_at <= /
  },
  api_keys: ofOrganization,
  approvals: { scopes: ["org"], alone: RegExp(expired("approvals")) },
  // Those of nobody yet are counted under a lock of their network.
  client_logins: {
    scopes: ["server", "address", "user"],
    alone: RegExp(
      `${expired("client_logins")}|DELETE FROM client_logins WHERE id = \\(|'device', .*'pending'|SET (?:wrong_tries|last_polled_at) = `
    )
  },
  declared_keys: ofOrganization,
  // A new one is counted under its person, and needs a right in its organization.
  delegations: {
    scopes: ["server", "user", "org"],
    alone: RegExp(`${expired("delegations")}|SET last_used_at = `)
  },
  // They go with their delegation.
  delegation_environments: { scopes: ["user", "org"] },
  consents: { scopes: ["user", "org"] },
  // The end of a person's account removes all of them.
  passkeys: { scopes: ["server", "user"] },
  passkey_challenges: { scopes: ["user"], alone: RegExp(expired("passkey_challenges")) },
  due_mails: none,
  // Whoever takes the name of an organization has no scope of it: its unique index makes the other wait.
  freed_names: {
    scopes: ["org", "user"],
    alone: /DELETE FROM freed_names WHERE \(kind, parent_id, name\) IN/
  },
  // The end of one is decided by the database's clock, whoever holds the scope.
  environments: {
    scopes: ["org"],
    alone:
      /SET (?:announced_end = expires_at|removed_at = \S+, revision = revision \+ 1) WHERE id = \S+ AND expires_at = \S+ AND removed_at IS NULL AND expires_at /
  },
  exports: { scopes: ["org"], alone: RegExp(expired("exports")) },
  scim_tokens: { scopes: ["org"], alone: RegExp(`${expired("scim_tokens")}|SET last_used_at = `) },
  scim_users: ofOrganization,
  scim_groups: ofOrganization,
  scim_group_members: ofOrganization,
  scim_endings: { scopes: ["org"], alone: /DELETE FROM scim_endings WHERE \(org_id, email\) IN/ },
  imports: ofOrganization,
  import_use_people: ofOrganization,
  federated_sessions: { scopes: ["org"], alone: RegExp(expired("federated_sessions")) },
  federation_keys: ofOrganization,
  federations: ofOrganization,
  group_members: ofOrganization,
  group_mappings: ofOrganization,
  groups: ofOrganization,
  identities: { scopes: ["address", "user"] },
  key_sessions: { scopes: ["org"], alone: RegExp(expired("key_sessions")) },
  // A login locks its own row, and its person's memberships. A new epoch ends all.
  group_logins: { scopes: ["address", "user"], alone: /^ ?DELETE FROM group_logins$/ },
  provider_groups: {
    scopes: ["address"],
    alone: /^ ?DELETE FROM provider_groups(?: WHERE \(user_id, provider_group\) IN .*)?$/
  },
  login_groups: {
    scopes: ["org", "address", "user"],
    alone: /^ ?DELETE FROM login_groups(?: WHERE \(user_id, org_id, provider_group\) IN .*)?$/
  },
  login_codes: { scopes: ["address", "user"], alone: RegExp(expired("login_codes")) },
  // The founder's scope: nobody else knows the new organization. A first call accepts for good: rules count a member later at worst.
  members: { scopes: ["org", "user"], alone: /^ ?UPDATE members SET accepted_at = / },
  organizations: { scopes: ["org", "user"] },
  previews: ofOrganization,
  projects: ofOrganization,
  protections: ofOrganization,
  connections: ofOrganization,
  lease_roles: ofOrganization,
  // Those of a copied database all go, before anybody can use it.
  leases: { scopes: ["org"], alone: /^ ?DELETE FROM leases$/ },
  rotations: { scopes: ["org"], alone: /^ ?UPDATE rotations SET paused = \S+ WHERE paused IS NULL$/ },
  request_parts: ofOrganization,
  // Whoever is disabled takes the votes along.
  request_votes: { scopes: ["org", "user"] },
  requests: ofOrganization,
  secret_changes: ofOrganization,
  revision_notes: ofOrganization,
  secret_changes_since: ofOrganization,
  secret_dues: ofOrganization,
  secret_references: ofOrganization,
  secret_versions: ofOrganization,
  secrets: ofOrganization,
  service_accounts: { scopes: ["org"], alone: /SET last_used_at = / },
  trash: ofOrganization,
  sessions: { scopes: ["server", "user"], alone: RegExp(`${expired("sessions")}|SET last_used_at = `) },
  targets: ofOrganization,
  target_keys: ofOrganization,
  target_sources: ofOrganization,
  use_rule_accounts: ofOrganization,
  use_rules: ofOrganization,
  // An invitation makes a user; its index keeps one of each address.
  users: { scopes: ["server", "address", "user", "org"], alone: /SET last_seen_at = / },
  // The job of deliveries holds its lease, and compares what it read.
  webhook_deliveries: { scopes: ["org"], alone: /./ },
  webhooks: { scopes: ["org"], alone: /SET seq = .* AND seq = / },

  // The log's head keeps them in order.
  audit_actors: none,
  audit_archives: none,
  audit_entries: none,
  audit_heads: none,
  audit_indexed: none,
  audit_logs: none,
  audit_place_counters: none,
  audit_place_keys: none,
  audit_places: none,
  audit_postings: none,
  audit_starts: none,
  audit_times: none,
  // One statement counts and writes.
  login_failures: none,
  rate_events: none,
  stream_places: none,
  wrap_counts: none,
  // Of the server itself, with leases or by its operator.
  drills: none,
  erasures: none,
  instance: none,
  instances: none,
  jobs: none,
  restores: none,
  wrapped_keys: none
}

const written = /\b(?:INSERT INTO|(?<!(?:DO|FOR|KEY) )UPDATE|DELETE FROM)\s+([a-z_]+)/gi

/** Why a statement may not be written under scopes; undefined if it may. */
export const refusalOf = (text: string, held: ReadonlyArray<ScopeKind>): string | undefined => {
  for (const [, table = ""] of text.matchAll(written)) {
    const rule = rules[table]
    if (rule === undefined) return `the table ${table} has no row in the table of scopes`
    const isHeld = rule.scopes.some((kind) => held.includes(kind))
    if (!isHeld && rule.alone?.test(text.replaceAll(/\s+/g, " ")) !== true) {
      return `${table} is written without a scope of ${rule.scopes.join(" or ")}, under [${held.join(", ")}]: ${text}`
    }
  }
  return undefined
}

/** How many rows the largest transaction inserted, but those of the search index of the audit logs, since `largest.rows` was last set to 0. */
export const largest = { rows: 0 }

const inserting = /^\s*INSERT INTO (?!audit_(?:actors|place|postings))[a-z_]+ \(([^)]*)\)\s*VALUES/i
const inserted = new WeakMap<object, number>()

/** Counts the rows that a statement of a transaction inserts. */
const count = (open: object, text: string, values: ReadonlyArray<unknown>): void => {
  const [, columns] = inserting.exec(text) ?? []
  if (columns === undefined) return
  const rows = (inserted.get(open) ?? 0) + Math.max(1, Math.floor(values.length / columns.split(",").length))
  inserted.set(open, rows)
  largest.rows = Math.max(largest.rows, rows)
}

const checked = <A, E, R>(text: string, statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWithEffect((context: Context.Context<never>) => {
    const refusal = refusalOf(
      text,
      heldIn(context).map(({ kind }) => kind)
    )
    return refusal === undefined ? statement : Effect.dieMessage(refusal)
  })

const isChecked = new WeakSet<object>()

/** Checks the statements of the transaction that an effect runs in. */
const checking = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWithEffect((context: Context.Context<never>) => {
    const [open] = Option.getOrElse(Context.getOption(context, Transaction), () => [null] as const)
    if (open === null || isChecked.has(open)) return effect
    isChecked.add(open)
    const { ask, connection, send } = open
    Object.assign(open, {
      send: (text: string, values: ReadonlyArray<unknown>) => {
        count(open, text, values)
        return checked(text, send(text, values))
      },
      ask: (text: string, values: ReadonlyArray<unknown>) => {
        count(open, text, values)
        return checked(text, ask(text, values))
      },
      connection: {
        ...connection,
        execute: (...[text, values, transform]: Parameters<typeof connection.execute>) =>
          checked(text, connection.execute(text, values, transform))
      }
    })
    return effect
  })

/** A database on which a write dies unless the change holds the scope of the statement's table. */
export const ScopesChecked = Layer.effect(
  Database,
  Effect.map(Database, (database) =>
    Database.of({
      ...database,
      change: (scopes, effect) => database.change(scopes, checking(effect)),
      transaction: (effect) => database.transaction(checking(effect))
    })
  )
)
