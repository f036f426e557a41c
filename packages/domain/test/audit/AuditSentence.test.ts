import { auditCsv, auditCsvHead } from "@coffer/domain/audit/AuditCsv"
import { auditActions, AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { auditDeed, auditSentence } from "@coffer/domain/audit/AuditSentence"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"

const place = { project: "webshop", env: "prod" }
const secret = { ...place, key: "API_KEY", version: 3 }
const rule = { subject_type: "service_account", subject_id: "5b0c", name: "deploy" }
const covered = { project_pattern: "webshop", env_pattern: "prod", permission: "read" }
const hook = { name: "https://hooks.example.com" }
const target = { method: "POST", host: "api.stripe.com", path: "/v1/refunds" }

/** Actions with what the server records of them, and what people read. */
const told: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, string]> = [
  ["auth.login", {}, "asked for a login code"],
  ["auth.login", { attempts: 12 }, "asked for a login code, 12 more times"],
  ["auth.logout", {}, "ended a session"],
  ["auth.verify", { method: "code" }, "logged in by a code"],
  ["auth.verify", { method: "device", machine: "build-7" }, "logged in by device code on build-7"],
  ["auth.verify", { email: "ada@example.com" }, "started a session for ada@example.com"],
  ["auth.verify_failed", { method: "oidc", reason: "unverified" }, "failed to log in by single sign-on: unverified"],
  ["auth.verify_failed", { method: "device", refused: true, machine: "x" }, "refused a login of x"],
  ["auth.lockout", {}, "was locked out after too many failed logins"],
  ["auth.federate", { federation: "github" }, "signed in with a token, via the federation github"],
  ["auth.federate", { refused: true, issuer: "https://a.b" }, "was refused a sign-in with a token of https://a.b"],
  ["org.create", { name: "acme" }, "created the organization acme"],
  [
    "delegation.create",
    { ...place, name: "claude", permission: "read", expires_at: "2026-01-01" },
    "delegated read in webshop/prod to claude until 2026-01-01"
  ],
  ["delegation.revoke", { ...place, name: "claude" }, "revoked the delegation to claude in webshop/prod"],
  [
    "secret.set",
    { ...secret, delegation: { id: "5b0c", name: "claude" } },
    "set API_KEY (version 3) in webshop/prod, by the delegation to claude"
  ],
  [
    "secret.set",
    { ...place, key: "API_KEY", version: 4, request: "r", approved_by: ["bea@example.com", "cy@example.com"] },
    "set API_KEY (version 4) in webshop/prod, approved by bea@example.com and cy@example.com"
  ],
  [
    "request.apply",
    { ...place, approved_by: ["bea@example.com"] },
    "made the requested change in webshop/prod, approved by bea@example.com"
  ],
  ["org.update", { name: "acme", before: "ac" }, "renamed the organization ac to acme"],
  ["org.delete", { name: "acme" }, "deleted the organization acme"],
  ["org.restore", { name: "acme" }, "restored the removed organization acme"],
  ["org.erase", { name: "acme" }, "erased the removed organization acme for good"],
  ["org.export", { name: "acme", versions: false }, "asked to export the organization acme"],
  ["org.export", { name: "acme", versions: true }, "asked to export the organization acme, with earlier versions"],
  ["org.export_approve", { requester: "b@c.de" }, "approved the export of b@c.de"],
  ["org.export_end", { requester: "b@c.de" }, "ended the export of b@c.de"],
  ["org.import", { name: "acme", secrets: 42 }, "imported the organization acme: 42 secrets"],
  ["org.member_invite", { email: "b@c.de", role: "admin" }, "invited b@c.de as admin"],
  ["org.member_remove", { email: "b@c.de" }, "removed b@c.de from the organization"],
  ["org.member_remove", { email: "b@c.de", left: true }, "left the organization"],
  [
    "org.member_role_update",
    { email: "b@c.de", role: "owner", before: "admin" },
    "changed the role of b@c.de to owner (was admin)"
  ],
  ["project.create", { name: "webshop" }, "created the project webshop"],
  ["project.update", { name: "webshop", before: "webshop", strict: true }, "changed the project webshop"],
  ["project.delete", { name: "webshop" }, "deleted the project webshop"],
  ["project.restore", { name: "shop", before: "webshop" }, "restored the removed project webshop as shop"],
  ["project.erase", { name: "webshop" }, "erased the removed project webshop for good"],
  ["declared.set", { project: "webshop", key: "API_KEY", before: null }, "declared API_KEY in webshop"],
  ["declared.set", { project: "webshop", key: "A", before: {} }, "changed the declaration of A in webshop"],
  ["declared.delete", { project: "webshop", key: "A" }, "removed the declaration of A in webshop"],
  ["env.create", { ...place, name: "prod" }, "created the environment prod in webshop"],
  ["env.delete", { ...place, name: "prod" }, "deleted the environment prod in webshop"],
  ["env.restore", { ...place, name: "prod" }, "restored the environment prod in webshop, which was removed"],
  ["env.erase", { ...place, name: "prod" }, "erased the removed environment prod for good"],
  [
    "env.create",
    { ...place, name: "pr-42", from: "preview", expires_at: "2026-01-08" },
    "created the environment pr-42 in webshop from preview until 2026-01-08"
  ],
  [
    "env.extend",
    { ...place, name: "pr-42", expires_at: "2026-01-15", before: "2026-01-08" },
    "set the end of the environment pr-42 in webshop to 2026-01-15 (was 2026-01-08)"
  ],
  ["env.extend", { ...place, name: "pr-42" }, "set the end of the environment pr-42 in webshop to never"],
  [
    "env.expiring",
    { ...place, name: "pr-42", expires_at: "2026-01-15" },
    "noted that the environment pr-42 in webshop ends at 2026-01-15"
  ],
  [
    "env.expire",
    { ...place, name: "pr-42", expires_at: "2026-01-15" },
    "noted that the environment pr-42 in webshop ended at 2026-01-15"
  ],
  [
    "previews.set",
    { project: "webshop", from: "preview", pattern: "pr-*", max: 20, longest: "7d" },
    "allowed previews of preview, named pr-*, in webshop"
  ],
  ["previews.delete", { project: "webshop" }, "allowed no previews any more in webshop"],
  ["acl.review", { ...place, permission: "read", people: 3 }, "reviewed who has read in webshop/prod"],
  ["acl.review", { ...place, permission: "use", note: "Q4" }, "reviewed who has use in webshop/prod: Q4"],
  ["env.revert", { ...place, to: 3, revision: 9 }, "reverted webshop/prod to revision 3"],
  ["secret.set", secret, "set API_KEY (version 3) in webshop/prod"],
  ["secret.set", { ...secret, rolled_back_to: 1 }, "rolled API_KEY back to version 1 in webshop/prod"],
  ["secret.set", { ...secret, reverted_to: 7 }, "set API_KEY (version 3) in webshop/prod, by going back to revision 7"],
  ["secret.read", { key: "API_KEY" }, "read API_KEY"],
  ["secret.read", { ...place, keys: [{ key: "A", version: 1 }, "B"] }, "read A and B in webshop/prod"],
  ["secret.read", { ...place, keys: ["A", "B", "C", "D"] }, "read 4 secrets in webshop/prod"],
  ["secret.read", { ...place, keys: [] }, "read no secret in webshop/prod"],
  ["secret.read", { ...place, keys: ["A"], referred_from: "dev" }, "read A in webshop/prod, for a reference from dev"],
  ["secret.check", { ...place, keys: ["A"] }, "checked A in webshop/prod against the declarations"],
  ["secret.compare", { ...place, with: "dev" }, "compared webshop/prod with dev"],
  ["secret.compare", { ...place, key: "A" }, "compared the versions of A in webshop/prod"],
  ["secret.compare", { project: "webshop", with: ["dev", "qa", "prod"] }, "compared dev, qa and prod in webshop"],
  ["secret.delete", secret, "deleted API_KEY (version 3) in webshop/prod"],
  ["secret.update", secret, "changed the due date or the owner of API_KEY (version 3) in webshop/prod"],
  [
    "secret.due",
    { ...secret, state: "overdue", due_at: "2026-01-31" },
    "noted that API_KEY (version 3) in webshop/prod is overdue (was due at 2026-01-31)"
  ],
  ["secret.due", { ...place, key: "A", state: "due", due_at: "2027" }, "noted that A in webshop/prod is due at 2027"],
  ["secret.copy", { ...secret, from: "dev" }, "copied API_KEY (version 3) in webshop/prod from dev"],
  ["secret.undelete", secret, "restored API_KEY (version 3) in webshop/prod"],
  ["secret.destroy", secret, "destroyed API_KEY (version 3) in webshop/prod"],
  ["secret.decryption_failed", secret, "could not read API_KEY (version 3) in webshop/prod: it does not decrypt"],
  [
    "secret.use",
    { ...secret, ...target },
    "used API_KEY (version 3) in webshop/prod for POST api.stripe.com/v1/refunds"
  ],
  ["secret.answer", { key: "A", status: 200 }, "got the status 200 to the request with A"],
  ["secret.answer", { key: "A", failed: "timeout" }, "got no response to the request with A: timeout"],
  ["secret.push", { keys: [{ key: "A" }, { key: "B" }], name: "bao" }, "pushed A and B to bao"],
  ["secret.rotated", secret, "renewed API_KEY (version 3) in webshop/prod"],
  ["connection.create", { ...place, name: "shop" }, "added the connection shop in webshop/prod"],
  ["connection.delete", { name: "shop" }, "deleted the connection shop"],
  ["connection.test", { name: "shop" }, "tried the connection shop"],
  ["rotation.create", { name: "app", connection: "shop" }, "added the rotation app"],
  ["rotation.update", { name: "app" }, "changed the rotation app"],
  ["rotation.delete", { name: "app" }, "deleted the rotation app"],
  ["rotation.run", { ...place, name: "app" }, "ran the rotation app in webshop/prod"],
  ["rotation.failed", { ...place, name: "app", problem: "down" }, "failed at the rotation app in webshop/prod: down"],
  ["lease_role.create", { name: "app", connection: "shop" }, "let shop be leased by role app"],
  ["lease_role.delete", { name: "app" }, "removed role app"],
  ["lease.create", { ...place, role: "app", until: "2026" }, "leased app in webshop/prod until 2026"],
  ["lease.renew", { role: "app", until: "2026" }, "renewed a lease of app until 2026"],
  ["lease.revoke", { role: "app", holder: "ci" }, "ended a lease of app by ci"],
  ["lease.ended", { role: "app", reason: "it has expired" }, "removed the user of a lease of app: it has expired"],
  ["lease.failed", { role: "app", problem: "no answer" }, "could not remove the user of a lease of app: no answer"],
  [
    "orphan.found",
    { ...place, connection: "db", count: 2 },
    "found users without a lease by the connection db in webshop/prod: 2"
  ],
  [
    "orphan.delete",
    { connection: "db", username: "coffer_1" },
    "removed the user coffer_1, which no lease has, from db"
  ],
  [
    "lease.left",
    { role: "app", username: "coffer_1", problem: "no answer" },
    "gave up removing the user coffer_1 of a lease of app: no answer"
  ],
  ["push.failed", { name: "bao", problem: "no answer" }, "could not push to the target bao: no answer"],
  ["target.update", { name: "bao" }, "changed the target bao"],
  ["target.create", { ...place, name: "bao" }, "added the target bao in webshop/prod"],
  ["target.delete", { name: "bao" }, "deleted the target bao"],
  ["use_rule.create", { key: "A" }, "allowed a use of A"],
  ["use_rule.update", { key: "A" }, "changed a use rule of A"],
  ["use_rule.delete", { key: "A" }, "revoked a use of A"],
  [
    "approval.request",
    { ...place, keys: ["A"], ...target },
    "asked to use A in webshop/prod for POST api.stripe.com/v1/refunds"
  ],
  ["approval.approve", { ...place, account: "agent" }, "approved a request of agent in webshop/prod"],
  ["approval.refuse", { ...place, account: "agent" }, "refused a request of agent in webshop/prod"],
  ["passkey.create", { name: "laptop" }, "registered the passkey laptop"],
  ["passkey.delete", { name: "laptop" }, "removed the passkey laptop"],
  ["passkey.delete", { name: "laptop", recovery: true }, "removed the passkey laptop, by a login without one"],
  ["protection.set", { ...place, needed: 2 }, "protected webshop/prod: 2 to approve"],
  ["protection.delete", place, "ended the protection of webshop/prod"],
  ["request.create", { ...place, keys: [{ key: "A" }], reason: "r" }, "asked to change A in webshop/prod: r"],
  ["request.create", { ...place, call: "secrets.set", keys: [{ key: "A" }] }, "asked to change A in webshop/prod"],
  ["request.create", { ...place, call: "protections.remove", keys: [] }, "asked to end the protection of webshop/prod"],
  ["request.create", { ...place, permission: "read", reason: "r" }, "asked for read in webshop/prod: r"],
  ["request.read", { ...place, requester: "ci", keys: ["A"] }, "read what the request of ci sets: A in webshop/prod"],
  ["request.approve", { ...place, requester: "ci" }, "approved the request of ci in webshop/prod"],
  ["request.refuse", { ...place, requester: "ci" }, "refused the request of ci in webshop/prod"],
  ["request.withdraw", place, "withdrew a request in webshop/prod"],
  ["request.expire", { ...place, requester: "ci" }, "noted that the request of ci in webshop/prod expired"],
  ["request.outdate", { ...place, requester: "ci" }, "noted that the request of ci in webshop/prod is outdated"],
  ["secret.break_glass", { ...place, reason: "INC-12" }, "broke the glass in webshop/prod: INC-12"],
  ["acl.grant", { ...rule, ...covered }, "granted deploy read on webshop/prod"],
  ["acl.grant", { ...rule, ...covered, before: "list" }, "granted deploy read on webshop/prod (was list)"],
  ["acl.grant", { ...rule, ...covered, expires_at: "2027" }, "granted deploy read on webshop/prod until 2027"],
  ["acl.grant", { group: "ops", ...covered }, "granted the group ops read on webshop/prod"],
  ["acl.grant", { ...rule, ...covered, key_pattern: "DB_*" }, "granted deploy read on webshop/prod for the keys DB_*"],
  [
    "acl.grant",
    { ...rule, ...covered, key_pattern: "DB_*", denies: true },
    "denied deploy read on webshop/prod for the keys DB_*"
  ],
  ["acl.revoke", { ...rule, ...covered, denies: true }, "revoked the denial of read of deploy on webshop/prod"],
  [
    "acl.expire",
    { email: "b@c.de", ...covered, expires_at: "2027" },
    "noted that read of b@c.de on webshop/prod ended at 2027"
  ],
  ["group.create", { name: "ops" }, "created the group ops"],
  ["group.update", { name: "sre", before: "ops" }, "renamed the group ops to sre"],
  ["group.delete", { name: "ops", rules_removed: 2 }, "deleted the group ops"],
  ["group.member_add", { name: "ops", email: "b@c.de" }, "added b@c.de to the group ops"],
  ["group.member_remove", { name: "ops", email: "b@c.de" }, "removed b@c.de from the group ops"],
  [
    "group.members_set",
    { name: "ops", members: 2, added: ["b@c.de"], removed: [] },
    "set the members of the group ops: 2 (added b@c.de)"
  ],
  [
    "group.members_set",
    { name: "ops", members: 0, added: [], removed: ["a@c.de", "b@c.de"] },
    "set the members of the group ops: 0 (removed a@c.de and b@c.de)"
  ],
  ["scim.enable", { hint: "x7Qd" }, "let a directory manage people by SCIM"],
  ["scim.rotate", { hint: "x7Qd" }, "renewed the token of SCIM"],
  ["scim.disable", {}, "ended the management of people by SCIM"],
  [
    "group.map",
    { mappings: 2, added: ["team → ops"], removed: ["a → b", "c → d"] },
    "set which groups of the provider count as groups: 2 (added team → ops, removed a → b and c → d)"
  ],
  [
    "group.login",
    { email: "b@c.de", added: ["ops"], removed: ["sre", "web"], expires_at: "2027" },
    "joined the group ops and left the groups sre and web by a login at the provider"
  ],
  ["acl.revoke", { email: "b@c.de", ...covered }, "revoked read of b@c.de on webshop/prod"],
  ["service_account.create", { name: "ci", project: "webshop" }, "created the service account ci, bound to webshop"],
  ["service_account.revoke", { name: "ci" }, "revoked the service account ci"],
  ["service_account.update", { name: "ci", allowed_networks: null }, "let the service account ci call from anywhere"],
  [
    "service_account.update",
    { name: "ci", allowed_networks: ["10.0.0.0/8", "fd00::/8"] },
    "let the service account ci call from 10.0.0.0/8 and fd00::/8 alone"
  ],
  ["service_account.rotate", { name: "ci" }, "gave the service account ci a new key"],
  ["service_account.expiring", { name: "ci", expires_at: "2027" }, "noted that the key of ci expires at 2027"],
  [
    "federation.create",
    { account: "ci", name: "github", issuer: "https://a.b" },
    "let ci sign in with tokens of https://a.b (federation github)"
  ],
  [
    "federation.revoke",
    { account: "ci", name: "github", issuer: "https://a.b" },
    "revoked the federation github of ci, for tokens of https://a.b"
  ],
  ["webhook.create", hook, "created the webhook to https://hooks.example.com"],
  ["webhook.update", { ...hook, before: "https://a.b" }, `changed the webhook to ${hook.name} (was to https://a.b)`],
  ["webhook.delete", hook, "deleted the webhook to https://hooks.example.com"],
  ["webhook.rotate", hook, "gave the webhook to https://hooks.example.com a new signing key"],
  ["webhook.test", hook, "sent a test to the webhook to https://hooks.example.com"],
  ["webhook.send", hook, "sent a delivery to the webhook to https://hooks.example.com again"],
  ["webhook.disable", { ...hook, tries: 8 }, "disabled the webhook to https://hooks.example.com after 8 failed tries"],
  ["user.disable", { email: "b@c.de", via: "superadmin" }, "disabled b@c.de, as a superadmin"],
  ["user.enable", { email: "b@c.de" }, "enabled b@c.de"],
  ["user.end_sessions", { email: "b@c.de" }, "ended the sessions of b@c.de"],
  ["backup.create", { id: "b1" }, "made the backup b1"],
  ["backup.restore", { file: "b1.bak" }, "restored the backup b1.bak"],
  ["backup.drill", { id: "b1", valid: false }, "checked the backup b1: it is damaged"],
  ["key.rotate", {}, "rotated the master key"],
  ["audit.break", {}, "found that the log was altered"],
  ["audit.missing", { entries: 4 }, "could not keep 4 entries"],
  [
    "audit.missing",
    { entries: null, host: "web-1", pid: 7, seen_at: "2026-11-28T10:00:00.000Z" },
    "may miss the last entries of reads of the server on web-1, which was killed after 2026-11-28T10:00:00.000Z"
  ],
  [
    "audit.archive",
    { log: "system", first_seq: 1, last_seq: 20, name: "x/audit.jsonl.gz" },
    "moved the entries 1 to 20 of the log system to the archive x/audit.jsonl.gz"
  ],
  ["access.denied", { ...place, action: "secret.read", key: "A" }, "was denied secret.read of A in webshop/prod"],
  ["access.denied", { action: "secret.use", keys: ["A"], reason: "host" }, "was denied secret.use of A: host"],
  ["access.denied", { action: "backup.list" }, "was denied backup.list"],
  ["later.action", place, "did later.action in webshop/prod"]
]

const entry = (details: Partial<AuditEntry>): AuditEntry => ({
  ...Schema.decodeUnknownSync(AuditEntry)({
    id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50",
    seq: 7,
    actor_type: "user",
    actor_id: null,
    actor_name: "ada@example.com",
    action: "secret.set",
    resource_type: "secret",
    resource_id: null,
    org_id: null,
    ip_address: "203.0.113.7",
    metadata: {},
    created_at: "2026-02-01T08:30:00.000Z"
  }),
  ...details
})

describe("the sentence of an audit entry", () => {
  it("says what was done, for each action of the contract", () => {
    for (const [action, metadata, deed] of told) assert.strictEqual(auditDeed({ action, metadata }), deed)
    const without = auditActions.filter((action) => !told.some(([one]) => one === action))
    assert.deepStrictEqual(without, [])
  })

  it("is whole whatever an entry of an earlier version lacks or holds", () => {
    for (const action of auditActions) {
      for (const metadata of [{}, { keys: 5, with: {}, key: ["x"], project: null, via: [], before: 0 }]) {
        const sentence = auditSentence({ actor_name: "ada@example.com", action, metadata })
        assert.match(sentence, /^ada@example\.com [a-z].*[^ ]$/)
        assert.notMatch(sentence, /undefined|null|\[object| {2}/)
      }
    }
  })
})

describe("audit entries as CSV", () => {
  it("have one line each, with the exact time and the raw details", () => {
    const [line = "", ...more] = auditCsv([entry({ metadata: secret })]).split("\r\n")
    assert.deepStrictEqual(more, [""])
    assert.strictEqual(auditCsvHead.split(",").length, 13)
    assert.include(line, "7,2026-02-01T08:30:00.000Z,ada@example.com,user,secret.set,")
    assert.include(line, ",ada@example.com set API_KEY (version 3) in webshop/prod,webshop,prod,API_KEY,203.0.113.7,")
    assert.include(line, `"{""project"":""webshop"",`)
  })

  it("hold no formula, in whatever program they are opened", () => {
    for (const evil of ["=1+1", "+1", "-1", "@A1", " =1", "\t=1", "\r=1", "\u200b=1", "＝1", 'x";=1;"', "a\n=1"]) {
      const cells = auditCsv([entry({ actor_name: evil, metadata: { key: evil } })])
      assert.strictEqual(cells.split("\n").length, 2, evil)
      assert.notMatch(cells, /(?:^|[,;\t\r\n])"?[\s\p{Cf}]*[=+\-@＝]/u, evil)
    }
  })
})
