import { maxRecordsAtOnce, recordsOfCalls, structureLines } from "@coffer/domain/archive/Calls"
import { generateKeyPairSync } from "node:crypto"
import { assert } from "vitest"
import type { Stage } from "../authorization/Scene.js"
import { useRuleBody } from "../authorization/Contract.js"
import type { Json } from "../support/Program.js"

type Headers = Readonly<Record<string, string>>

/** An archive as a client makes one, in memory. */
export interface Archive {
  readonly structure: Json
  readonly declared: Readonly<Record<string, ReadonlyArray<Json>>>
  readonly versions: Readonly<Record<string, ReadonlyArray<Json>>>
}

/** Reads everything of an export that is ready. */
export const readExport = async (stage: Stage, headers: Headers, org: string, id: string): Promise<Archive> => {
  const at = `/api/orgs/${org}/exports/${id}`
  const structure = await stage.do(headers, "GET", `${at}/structure`)
  const declared: Record<string, ReadonlyArray<Json>> = {}
  const versions: Record<string, ReadonlyArray<Json>> = {}
  for (const { environments, name } of structure.organization.projects) {
    declared[name] = (await stage.do(headers, "GET", `${at}/declared?project=${name}`)).data
    for (const env of environments) {
      const found: Array<Json> = []
      let after = ""
      do {
        const page = await stage.do(headers, "GET", `${at}/secrets?project=${name}&env=${env.name}${after}`)
        assert.isAtMost(page.data.length, maxRecordsAtOnce)
        found.push(...page.data)
        after = page.next_cursor === null ? "" : `&after=${page.next_cursor}`
      } while (after !== "")
      versions[`${name}/${env.name}`] = found
    }
  }
  return { structure, declared, versions }
}

export const makeExport = async (stage: Stage, headers: Headers, org: string, versions = true): Promise<Archive> => {
  const { id, state } = await stage.do(headers, "POST", `/api/orgs/${org}/exports`, { versions })
  assert.strictEqual(state, "ready")
  return readExport(stage, headers, org, id)
}

export const countsIn = ({ structure: { counts } }: Archive) => {
  const { declared, environments, fields, projects, secrets, use_rules, versions } = counts
  return { projects, environments, secrets, versions, use_rules, declared, fields }
}

/** Sends all of an archive but its end. Each call is made twice: a client may try again. */
export const sendImport = async (stage: Stage, headers: Headers, name: string, archive: Archive): Promise<Json> => {
  const organization = structureLines(archive.structure.organization)
  const made = await stage.do(headers, "POST", "/api/imports", { name, organization })
  const at = `/api/imports/${made.id}`
  const twice = async (path: string, body: unknown) => {
    for (const _ of [1, 2]) await stage.do(headers, "PUT", `${at}/${path}`, body)
  }
  for (const [project, all] of Object.entries(archive.declared)) {
    for (const data of recordsOfCalls(all)) await twice("declared", { project, data })
  }
  for (const [place, all] of Object.entries(archive.versions)) {
    const [project, env] = place.split("/")
    for (const data of recordsOfCalls(all)) await twice("secrets", { project, env, data })
  }
  return made
}

export const finishImport = (stage: Stage, headers: Headers, { id }: Json, counts: unknown): Promise<Json> =>
  stage.do(headers, "POST", `/api/imports/${id}/finish`, { counts })

/** The records without what a move changes: webhooks start disabled. */
export const comparable = ({ declared, structure, versions }: Archive) => ({
  counts: structure.counts,
  declared,
  versions,
  organization: {
    ...structure.organization,
    webhooks: structure.organization.webhooks.map((webhook: Json) => ({ ...webhook, enabled: false }))
  }
})

/** An archive without the importer, who becomes an owner. */
export const withoutMember = (archive: Archive, address: string): Archive => {
  const { counts, organization, ...structure } = archive.structure
  const members = organization.members.filter(({ email }: Json) => email !== address)
  return {
    ...archive,
    structure: {
      ...structure,
      counts: { ...counts, members: members.length },
      organization: { ...organization, members }
    }
  }
}

/** A marker in every value, for searches of what must not have it. */
export const canary = "canary-5f2d"

/** Every kind of place of a use rule but the header, which the first rule has. */
const otherPlaces = [
  { in: "query", name: "key" },
  { in: "basic", user: "api" },
  { in: "hmac-sha256", header: "x-signature", format: "sha256={}" },
  { in: "aws-sigv4", service: "s3", region: "eu-central-1", access_key_id: "AKIAEXAMPLE" }
]

/** Fills an organization with every kind of record. `owner` owns it, and the others become members. */
export const fillOrganization = async (
  stage: Stage,
  owner: { readonly headers: Headers; readonly email: string },
  org: string,
  people: { readonly admin: string; readonly second: string },
  keys: number
) => {
  const call = (method: string, path: string, body?: unknown): Promise<Json> =>
    stage.do(owner.headers, method, `/api/orgs/${org}${path}`, body)
  await stage.do(owner.headers, "POST", "/api/orgs", { name: org })
  await call("POST", "/members", { email: people.second, role: "owner" })
  await call("POST", "/members", { email: people.admin, role: "admin" })
  await call("POST", "/members", { email: `dev-${org}@example.com` })
  for (const name of ["webshop", "billing"]) await call("POST", "/projects", { name })
  await call("POST", "/projects/webshop/envs", { name: "preview" })
  const order = ["prod", "preview", "dev"]
  await call("PATCH", "/projects/webshop", { strict: true, order })
  await call("PUT", "/projects/webshop/declared/PORT", { pattern: "[0-9]+", required_in: ["prod"], example: "80" })
  await call("PUT", "/projects/webshop/declared/HOST", {
    required_in: "*",
    description: "The host.\nOf all.",
    owner: "ops"
  })

  const prod = "/projects/webshop/envs/prod"
  const set = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`KEY_${at}`, `${canary} ${at} "é\n`]))
  await call("PATCH", `${prod}/bundle`, { set, note: `${org}: all at once` })
  await call("PUT", `${prod}/secrets/KEY_0`, { value: `${canary} second` })
  await call("PUT", `${prod}/secrets/KEY_0`, { value: `${canary} third` })
  await call("POST", `${prod}/secrets/KEY_0/destroy`, { versions: [1] })
  await call("PUT", "/projects/webshop/envs/dev/secrets/BASE", { value: `${canary} base` })
  await call("PATCH", `${prod}/bundle`, {
    references: { URL: "https://${KEY_1}/${dev:BASE}", TWICE: "${KEY_1}${KEY_1}" }
  })
  await call("PUT", `${prod}/secrets/GONE`, { value: `${canary} gone` })
  await call("DELETE", `${prod}/secrets/GONE`)
  await call("PUT", `${prod}/secrets/PORT`, { value: "8080" })
  await call("PUT", `${prod}/secrets/EMPTY`, { value: "" })
  await call("PATCH", `${prod}/secrets/KEY_2`, {
    owner: "ops@example.com",
    expires_at: "2037-01-31",
    rotate_every_days: 90
  })

  await call("PUT", "/projects/webshop/previews", { from: "preview", pattern: "pr-*", max: 3, longest: "7d" })
  await call("POST", "/projects/webshop/envs", { name: "pr-1", from: "preview", expires_at: "2030-01-31T08:00:00Z" })
  const agent = await call("POST", "/service-accounts", {
    ...{ name: "agent", expires_in_days: 30 },
    allowed_networks: ["10.0.0.0/8", "fd00::/8"]
  })
  const ci = await call("POST", "/service-accounts", { name: "ci", project: "webshop", reveal: false, key: false })
  await call("POST", `/service-accounts/${ci.id}/federations`, {
    name: "gitlab",
    issuer: "https://gitlab.com",
    conditions: { "/project_id": "42", "/ref": "main" },
    ttl: 600,
    expires_at: "2037-01-31T08:00:00.000Z"
  })
  const keyOf = (kid: string) => ({
    ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }),
    ...{ kid, use: "sig" }
  })
  await call("POST", `/service-accounts/${ci.id}/federations`, {
    name: "internal",
    issuer: "https://issuer.internal",
    conditions: { "/project_id": "42" },
    jwks: { keys: [keyOf("one"), keyOf("two"), { ...keyOf("three"), alg: "ES512" }] }
  })
  await call("POST", `${prod}/secrets/KEY_3/use-rules`, {
    ...useRuleBody,
    accounts: ["agent", people.admin],
    methods: ["POST"],
    per_day: 7,
    approval: "each",
    expires_at: "2037-01-31T08:00:00Z"
  })
  for (const place of otherPlaces)
    await call("POST", `${prod}/secrets/KEY_3/use-rules`, { ...useRuleBody, accounts: ["agent"], place })
  // The account of a removed project stays behind with its rules, whatever has the project's name now.
  await call("POST", "/projects", { name: "old" })
  const { id: stranded } = await call("POST", "/service-accounts", { name: "stranded", project: "old", key: false })
  await call("POST", "/acl", {
    ...{ subject_type: "service_account", subject_id: stranded, permission: "read" },
    ...{ project_pattern: "old", env_pattern: "*" }
  })
  await call("DELETE", "/projects/old")
  await call("POST", "/groups", { name: "Backend" })
  await call("PUT", "/groups/Backend/members", { emails: [people.admin] })
  await call("PUT", "/group-mappings", { mappings: [{ provider_group: "platform-team", group: "Backend" }] })
  const serverPlace = { project_pattern: "web*", env_pattern: "{dev,prod}" }
  await call("POST", "/acl", {
    subject_type: "user",
    email: `dev-${org}@example.com`,
    ...serverPlace,
    permission: "write",
    expires_at: new Date(Date.now() + 86_400_000).toISOString()
  })
  await call("POST", "/acl", { subject_type: "service_account", subject_id: ci.id, ...serverPlace, permission: "use" })
  await call("POST", "/acl", { subject_type: "group", group: "Backend", ...serverPlace, permission: "read" })
  // A group and an account may have one name.
  await call("POST", "/groups", { name: "agent" })
  await call("POST", "/acl", { subject_type: "group", group: "agent", ...serverPlace, permission: "read" })
  await call("POST", "/acl", {
    subject_type: "service_account",
    subject_id: agent.id,
    ...serverPlace,
    permission: "read"
  })
  await call("POST", "/webhooks", { url: "https://hooks.invalid/x?y", events: ["secret.*"], environments: ["prod"] })
  await call("POST", "/webhooks", { url: "https://hooks.invalid/chat", events: ["secret.*"], format: "slack" })
  await call("PATCH", "", { passkey_recovery: "none", unused_access_mail: "monthly" })
}

/** Protects an environment, after which an export needs a second owner. */
export const protect = (stage: Stage, headers: Headers, org: string) =>
  stage.do(headers, "PUT", `/api/orgs/${org}/projects/webshop/envs/dev/protection`, {
    needed: 1,
    approvers: "admins",
    expires_after: "24h",
    self: true
  })
