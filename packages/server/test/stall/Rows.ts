import { generateKeyPairSync } from "node:crypto"
import {
  connectionBody,
  federationBody,
  type Place,
  queryOf,
  targetBody,
  useRuleBody,
  webhookBody
} from "../authorization/Contract.js"
import { publicUrl } from "../federations/Signer.js"
import type { Json } from "../support/Program.js"
import { fullKeys, fullValue, historyKeys, largeKeys, type Limits } from "./Limits.js"

export interface Ask {
  /** The parts of the path that are not the full environment's. */
  readonly place?: Partial<Place>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly raw?: Uint8Array<ArrayBuffer>
  /** Whose credential the caller with every right uses, where it is used up. */
  readonly token?: string
}

/** The arguments of a row's request. Each attempt of each caller has a number of its own. */
export interface About {
  readonly limits: Limits
  readonly attempt: number
  /** Makes what the request is about, as the person with every right. Returns the body of the response, which is a success. */
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Json>
}

/** An input of a call, named in the table. */
export type Row = readonly [input: string, ask: (about: About) => Ask | Promise<Ask>]

const plain: Row = ["", () => ({})]
const body = (input: string, make: (about: About) => unknown): Row => [input, (about) => ({ body: make(about) })]

const one = <A>(list: ReadonlyArray<A>, { attempt }: About): A => list[attempt % list.length]!

/** A person with 10,000 sessions. */
const ofCrowded: Row = ["10,000", (about) => ({ place: { user_id: one(about.limits.crowded, about) } })]

const mebibyte = 1024 * 1024

/** JSON text of a size in bytes: pieces as many as fit between a beginning and an end. */
const filled = (bytes: number, begin: string, piece: (index: number) => string, end: string) => {
  const text = [begin]
  let size = begin.length + end.length
  for (let index = 0; ; index++) {
    const next = (index === 0 ? "" : ",") + piece(index)
    size += next.length
    if (size > bytes) break
    text.push(next)
  }
  return Buffer.from(text.join("") + end)
}

/** A body that is built once, when it is asked for. */
const raw = (input: string, make: () => Uint8Array<ArrayBuffer>): Row => {
  let made: Uint8Array<ArrayBuffer> | undefined
  return [input, () => ({ raw: (made ??= make()) })]
}

const largeKey = () => generateKeyPairSync("rsa", { modulusLength: 4_096 }).publicKey.export({ format: "jwk" })

let key: ReturnType<typeof largeKey> | undefined

/** Of one key, which takes seconds to make. */
const twentyKeys = () => {
  key ??= largeKey()
  return Array.from({ length: 20 }, () => key)
}

const manyPatterns = {
  events: Array.from({ length: 20 }, () => "secret.*"),
  environments: Array.from({ length: 20 }, (_none, index) => `web-${index}*/{prod,staging}-*`)
}

const short = (index: number) => index.toString(36)

/** The bodies that an attacker sends to a call, by the largest size that it takes. */
export const malicious = (limit: number): ReadonlyArray<Row> => [
  raw("short keys", () => filled(limit, "{", (index) => `"${short(index)}":0`, "}")),
  raw("a list of numbers", () => filled(limit, "[", () => "0", "]")),
  raw("nested lists", () => Buffer.from("[".repeat(limit / 2) + "]".repeat(limit / 2))),
  raw("nested objects", () => Buffer.from(`{"":`.repeat(limit / 5) + "0" + "}".repeat(limit / 5))),
  raw("one text of escapes", () => Buffer.from(`"${"\\u00e9".repeat((limit - 2) / 6)}"`)),
  raw("no JSON", () => Buffer.from(" ".repeat(limit - 1) + "!"))
]

const secretsOf = (count: number, bytes: number, text: string, escape = text) => {
  const value = escape.repeat(bytes / text.length)
  return Buffer.from(
    `{"set":{${fullKeys
      .slice(0, count)
      .map((key) => `"${key}":"${value}"`)
      .join(",")}}}`
  )
}

const envs = "/api/orgs/:org_name/projects/:project_name/envs"
const env = `${envs}/:env_name`
const previews = "/api/orgs/:org_name/projects/:project_name/previews"
const declared = "/api/orgs/:org_name/projects/:project_name/declared"
const secrets = `${env}/secrets`

/** A body by a session that was proven just now. */
const proven = (input: string, make: (about: About) => unknown): Row => [
  input,
  (about) => ({ body: make(about), token: about.limits.proven })
]

const exported = (input: string, query: string): Row => [
  input,
  ({ limits }) => ({ place: { export_id: limits.exported }, query })
]

const imported = (input: string, body: object, isPlaced = true): Row => [
  input,
  ({ limits }) => ({
    place: { import_id: limits.imported },
    body: { ...(isPlaced && { project: "web" }), ...body }
  })
]

const someone = (index: number) => `member-${index}@${"d".repeat(60)}.${"e".repeat(60)}.com`

/** As much as one record of a structure can be. */
const manyProtected = Array.from({ length: 100 }, (_none, env) => ({
  name: `env-${env}`,
  protection: {
    needed: 1,
    approvers: Array.from({ length: 100 }, (_one, index) => someone(index)),
    break_glass: Array.from({ length: 100 }, (_one, index) => someone(index))
  }
}))

const noCounts = { projects: 1, environments: 1, secrets: 1, versions: 1, use_rules: 0, declared: 0 }

const versionsOf = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ key: `KEY_${bytes}_${index}`, version: 1, value: "v".repeat(bytes), current: { use_rules: [] } },
    ...{ created_at: "2026-01-31T12:00:00.000Z", created_by: "root@example.com" }
  }))

let lines: string | undefined

/** The largest structure that fits the limits of members and rules. */
const largest = (): string => {
  const members = Array.from({ length: 10_000 }, (_, index) => ({
    members: { email: `member-${index}@example.com`, role: "member" }
  }))
  const rules = Array.from({ length: 20_000 }, (_, index) => ({
    rules: {
      ...{ subject_type: "user", subject: `member-${index % 10_000}@example.com`, permission: "read" },
      ...{ project_pattern: `web-${index}*`, env_pattern: "{staging,prod}-*" }
    }
  }))
  lines ??= [...members, ...rules].map((line) => JSON.stringify(line)).join("\n")
  return lines
}

const backup = async ({ call }: About): Promise<string> => {
  const { data } = await call("GET", "/api/backups")
  return data.length > 0 ? data[0].id : (await call("POST", "/api/backups")).id
}

/** A request about something that is made right before it, with a body. */
const about = (input: string, make: (about: About) => Promise<Partial<Place>>, body?: unknown): Row => [
  input,
  async (each) => ({ place: await make(each), token: each.limits.proven, ...(body !== undefined && { body }) })
]

const org = "/api/orgs/large"

/** The same one for all requests of a run, made by the first of them. */
const once = <A>(make: (about: About) => Promise<A>) => {
  let made: Promise<A> | undefined
  return (each: About) => (made ??= make(each))
}

const newWebhook = async ({ call }: About) => ({
  webhook_id: (await call("POST", `${org}/webhooks`, webhookBody)).id
})
const webhook = once(newWebhook)

const delivery = once(async (each) => {
  const { webhook_id } = await webhook(each)
  await each.call("POST", `${org}/webhooks/${webhook_id}/test`)
  const { data } = await each.call("GET", `${org}/webhooks/${webhook_id}/deliveries`)
  return { webhook_id, delivery_id: data[0].id }
})

const ofRule = { env_name: "large", key: largeKeys[60]! }
const newUseRule = async ({ call }: About) => {
  const path = `${org}/projects/web/envs/large/secrets/${ofRule.key}/use-rules`
  const rule = { ...useRuleBody, accounts: ["account 0".padEnd(64, "x")] }
  return { ...ofRule, use_rule_id: (await call("POST", path, rule)).id }
}
const useRule = once(newUseRule)

const newConnection = async ({ attempt, call }: About) => {
  const connection_name = `shop-db-${attempt}`
  await call("POST", `${org}/projects/web/envs/full/connections`, { ...connectionBody, name: connection_name })
  return { connection_name }
}
const onceConnection = once(newConnection)

const largestRotation = (connection: string, name: string) => ({
  ...{ name, connection, users: ["app_a", "app_b"] },
  writes: Object.fromEntries(
    Array.from({ length: 20 }, (_none, index) => [`ROTATED_${index}`, `{user}:{password}${"x".repeat(3_900)}`])
  )
})

const rotationOf = async (each: About) => {
  const { connection_name } = await onceConnection(each)
  return { body: largestRotation(connection_name, `shop-${each.attempt}`) }
}

const newRotation = async (each: About) => {
  const { connection_name } = await onceConnection(each)
  const rotation_name = `shop-app-${each.attempt}`
  const path = `${org}/projects/web/envs/full/rotations`
  await each.call("POST", path, largestRotation(connection_name, rotation_name))
  return { rotation_name }
}

const largestRole = (connection: string, name: string) => ({
  ...{ name, connection },
  create: [
    "CREATE ROLE {{name}} LOGIN PASSWORD {{password}} VALID UNTIL {{expires}}",
    ...Array.from({ length: 19 }, () => `SELECT ${"'x'||".repeat(790)}'x'`)
  ],
  revoke: ["DROP ROLE {{name}}", ...Array.from({ length: 19 }, () => `SELECT ${"'x'||".repeat(790)}'x'`)]
})

const roleOf = async (each: About) => {
  const { connection_name } = await onceConnection(each)
  return { body: largestRole(connection_name, `app-${each.attempt}`) }
}

const newRole = async (each: About) => {
  const { connection_name } = await onceConnection(each)
  const role_name = `app-role-${each.attempt}`
  const path = `${org}/projects/web/envs/full/roles`
  await each.call("POST", path, largestRole(connection_name, role_name))
  return { role_name }
}

/** A target, made for a row. */
const newTarget = async ({ attempt, call }: About) => {
  const made = await call("POST", `${org}/projects/web/envs/large/targets`, targetBody(`t-${attempt}`, ofRule.key))
  return { ...ofRule, target_name: made.name }
}

const federation = async ({ attempt, call, limits }: About) => {
  const path = `${org}/service-accounts/${limits.keptAccount}/federations`
  const made = await call("POST", path, { ...federationBody, name: `made-to-end-${attempt}` })
  return { sa_id: limits.keptAccount, federation_id: made.id }
}

const delegation = async ({ attempt, call }: About) => {
  const terms = { org: "large", project: "web", env: "full", permission: "read", expires_in: 3_600 }
  return { delegation_id: (await call("POST", "/api/auth/delegations", { ...terms, name: `to end ${attempt}` })).id }
}

const consentTerms = { org: "large", project: "web", env: "full", permission: "read", reveal: false, expires_in: 3_600 }

const callback = "http://127.0.0.1:33418/callback"
const registered = once(({ call }) => call("POST", "/oauth/register", { redirect_uris: [callback] }))

/** The query of a program that has registered itself. */
const programRequest = async (about: About) => queryOf(publicUrl, (await registered(about)).client_id, callback)

/** Of as many parameters as the bound of the query allows. */
const longestQuery = "a=b&".repeat(1_024)

const newExport = async ({ call }: About) => ({ export_id: (await call("POST", `${org}/exports`, {})).id })

const newImport = async ({ attempt, call }: About) => {
  const organization = '{"passkey_recovery":"login"}'
  return { import_id: (await call("POST", "/api/imports", { name: `to-end-${attempt}`, organization })).id }
}

const full = (salt: string) => ({ set: Object.fromEntries(fullKeys.map((key) => [key, fullValue(key, salt)])) })

/** A protected environment, whose votes whoever asks may give. */
const guarded = `${org}/projects/project-70/envs/prod`
const protect = once(async ({ call }) => {
  await call("PUT", `${guarded}/protection`, { needed: 1, approvers: "owners", self: true })
  return {}
})
const asked = { prefer: "respond-async" }

/** A request to change 2,000 values of 4 KiB. */
const newLargeRequest = async (each: About) => {
  await protect(each)
  return { request_id: (await each.call("PATCH", `${guarded}/bundle`, full(`${each.attempt}`), asked)).id }
}
const largeRequest = once(newLargeRequest)

const breakGlass = { "x-coffer-break-glass": "measured" }

/** A protected environment of its own. */
const guardedOne = async ({ attempt, call }: About) => {
  const place = { project_name: `project-${400 + attempt}`, env_name: "prod" }
  const terms = { needed: 1, approvers: "owners", self: true, break_glass: ["root@example.com"] }
  await call("PUT", `${org}/projects/${place.project_name}/envs/prod/protection`, terms)
  return place
}

/** Removes something with 2,000 secrets of 4 KiB, and returns its id in the trash. */
const removed = async (
  { call }: About,
  { bundle, list, path }: Readonly<Record<"bundle" | "list" | "path", string>>
) => {
  await call("PATCH", bundle, full(""))
  await call("DELETE", path)
  const { data } = await call("GET", list)
  return data[0].id
}

const removedEnv = async (each: About) => {
  const project_name = `project-${200 + each.attempt}`
  const path = `${org}/projects/${project_name}`
  const prod = `${path}/envs/prod`
  const bundle = `${prod}/bundle`
  return { project_name, removed_id: await removed(each, { path: prod, bundle, list: `${path}/trash?name=prod` }) }
}

const removedProject = async (each: About) => {
  const name = `project-${200 + each.attempt}`
  const path = `${org}/projects/${name}`
  return {
    removed_id: await removed(each, { path, bundle: `${path}/envs/dev/bundle`, list: `${org}/trash?name=${name}` })
  }
}

const removedOrg = async (each: About) => {
  const name = `to-remove-${each.attempt}`
  const path = `/api/orgs/${name}`
  await each.call("POST", "/api/orgs", { name })
  await each.call("POST", `${path}/projects`, { name: "web" })
  const bundle = `${path}/projects/web/envs/prod/bundle`
  return { removed_id: await removed(each, { path, bundle, list: `/api/trash?name=${name}` }) }
}

/** The erasure of what is removed, by its name. */
const erasing = (
  make: (about: About) => Promise<Partial<Place>>,
  nameOf: (about: About) => string
): ReadonlyArray<Row> => [
  [
    "2,000 of 4 KiB",
    async (each) => ({ place: await make(each), token: each.limits.proven, body: { name: nameOf(each) } })
  ]
]

/** An environment without secrets. */
const empty = ({ attempt }: About) => ({ project_name: `project-${1 + attempt}`, env_name: "prod" })

const inEmpty = ([input, ask]: Row): Row => [input, async (about) => ({ ...(await ask(about)), place: empty(about) })]

/**
 * The requests to each call of the contract at the limits. A new call needs a row: its largest allowed input, and, where it
 * takes lists of its own, those that are too long. `malicious` is sent to every call that takes a body.
 */
export const rows: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "GET /api/auth/methods": [plain],
  "POST /api/auth/login": [body("", ({ attempt }) => ({ email: `login-${attempt}@example.com` }))],
  "POST /api/auth/federate": [
    body("7 KiB", ({ attempt }) => ({ token: `${"e30".repeat(2_400)}.e30.e30`, account: `acme/unknown ${attempt}` }))
  ],
  "POST /api/auth/verify": [body("", ({ attempt }) => ({ email: `login-${attempt}@example.com`, code: "000000" }))],
  "POST /api/auth/device": [body("", () => ({ machine: "m".repeat(64) }))],
  "POST /api/auth/token": [body("", () => ({ code: "A".repeat(43), verifier: "v".repeat(128) }))],
  "DELETE /api/auth/logout": [["", (about) => ({ token: one(about.limits.tokens, about) })]],
  "GET /api/auth/me": [plain],
  "GET /api/auth/sessions": [["10,000", ({ limits }) => ({ token: limits.crowds[0]! })]],
  "DELETE /api/auth/sessions": [["10,000", (about) => ({ token: one(about.limits.crowds.slice(1), about) })]],
  "DELETE /api/auth/sessions/:session_id": [
    ["", (about) => ({ place: { session_id: one(about.limits.sessions, about) } })]
  ],

  "GET /api/auth/passkeys": [plain],
  "POST /api/auth/passkeys/options": [plain],
  "POST /api/auth/passkeys": [
    body("the longest fields", () => ({
      name: "laptop",
      credential: {
        id: "A".repeat(1_364),
        response: {
          clientDataJSON: "e30x".repeat(2_048),
          attestationObject: "gYGB".repeat(4_096),
          transports: Array.from({ length: 16 }, () => "t".repeat(40))
        }
      }
    })),
    body("17 transports", () => ({ credential: { response: { transports: Array.from({ length: 17 }, () => "t") } } }))
  ],
  "DELETE /api/auth/passkeys/:passkey_id": [plain],
  "POST /api/auth/passkeys/challenge": [body("", () => ({}))],
  "POST /api/auth/passkeys/verify": [
    body("the longest fields", () => ({
      credential: {
        id: "A".repeat(1_364),
        response: {
          clientDataJSON: "e30x".repeat(2_048),
          authenticatorData: "A".repeat(4_096),
          signature: "A".repeat(4_096)
        }
      }
    }))
  ],

  "POST /api/auth/delegations": [
    body("100 keys", ({ attempt }) => ({
      name: `agent ${attempt}`,
      org: "large",
      project: "web",
      env: "full",
      permission: "read",
      keys: Array.from({ length: 100 }, (_, index) => `KEY_${index}`),
      expires_in: 3_600
    })),
    body("10 environments", ({ attempt }) => ({
      name: `agent of many ${attempt}`,
      org: "large",
      project: "web",
      env: "full",
      also: Array.from({ length: 9 }, (_, index) => ({ project: "web", env: ["dev", "staging", "prod"][index % 3] })),
      permission: "read",
      expires_in: 3_600
    })),
    body("11 environments", () => ({ also: Array.from({ length: 10 }, () => ({ project: "web", env: "dev" })) })),
    body("101 keys", () => ({ keys: Array.from({ length: 101 }, (_, index) => `KEY_${index}`) }))
  ],
  "POST /api/auth/consents": [
    ["a program's request", async (about) => ({ body: { ...consentTerms, request: await programRequest(about) } })],
    body("the longest query", () => ({ ...consentTerms, request: longestQuery }))
  ],
  "POST /api/auth/consents/review": [
    ["a program's request", async (about) => ({ body: { request: await programRequest(about) } })],
    body("the longest query", () => ({ request: longestQuery })),
    body("a query that is too long", () => ({ request: longestQuery.repeat(4) }))
  ],
  "GET /api/auth/delegations": [plain],
  "DELETE /api/auth/delegations/:delegation_id": [about("", delegation)],

  "POST /api/orgs": [body("", ({ attempt }) => ({ name: `created-${attempt}` }))],
  "GET /api/orgs": [["of 10,000", () => ({})]],
  "GET /api/orgs/:org_name": [plain],
  "PATCH /api/orgs/:org_name": [body("", () => ({ name: "large" }))],
  "DELETE /api/orgs/:org_name": [
    ["", ({ attempt }) => ({ place: { org_name: `org-${1 + attempt}`.padEnd(50, "x") } })]
  ],

  "GET /api/trash": [plain],
  "POST /api/trash/:removed_id/restore": [about("2,000 of 4 KiB", removedOrg, {})],
  "POST /api/trash/:removed_id/erase": erasing(removedOrg, ({ attempt }) => `to-remove-${attempt}`),
  "GET /api/orgs/:org_name/trash": [plain],
  "POST /api/orgs/:org_name/trash/:removed_id/restore": [about("2,000 of 4 KiB", removedProject, {})],
  "POST /api/orgs/:org_name/trash/:removed_id/erase": erasing(
    removedProject,
    ({ attempt }) => `project-${200 + attempt}`
  ),
  "GET /api/orgs/:org_name/projects/:project_name/trash": [plain],
  "POST /api/orgs/:org_name/projects/:project_name/trash/:removed_id/restore": [
    about("2,000 of 4 KiB", removedEnv, {})
  ],
  "POST /api/orgs/:org_name/projects/:project_name/trash/:removed_id/erase": erasing(removedEnv, () => "prod"),

  "POST /api/orgs/:org_name/exports": [proven("", () => ({ versions: true }))],
  "GET /api/orgs/:org_name/exports": [plain],
  "GET /api/orgs/:org_name/exports/:export_id": [about("", newExport)],
  "POST /api/orgs/:org_name/exports/:export_id/approve": [plain],
  "DELETE /api/orgs/:org_name/exports/:export_id": [about("", newExport)],
  "GET /api/orgs/:org_name/exports/:export_id/structure": [exported("20,000 rules, 10,000 members", "")],
  "GET /api/orgs/:org_name/exports/:export_id/declared": [exported("2,000", "project=web")],
  "GET /api/orgs/:org_name/exports/:export_id/secrets": [
    exported("200 of 4 KiB", "project=web&env=full"),
    exported("128 of 64 KiB", "project=web&env=large"),
    exported("200 versions", "project=web&env=history&after=v500.A")
  ],
  "POST /api/imports": [
    proven("20,000 rules, 10,000 members", ({ attempt }) => ({ name: `imported-${attempt}`, organization: largest() })),
    proven("lines of nothing", () => ({ name: "imported", organization: "\n".repeat(4 * mebibyte) })),
    proven("no JSON", () => ({ name: "imported", organization: "{\n".repeat(4 * mebibyte) })),
    proven("a line of nested lists", () => ({ name: "imported", organization: "[".repeat(5 * mebibyte) })),
    proven("a line of empty lists", () => ({ name: "imported", organization: `[${"[],".repeat(mebibyte)}[]]` })),
    proven("a project whose protections name 20,000 people", () => ({
      name: "imported",
      organization: JSON.stringify({ projects: { name: "web", strict: false, environments: manyProtected } })
    })),
    proven("one field again and again", () => ({
      name: "imported",
      organization: '{"passkey_recovery":"login"}\n'.repeat(mebibyte / 2)
    }))
  ],
  "PUT /api/imports/:import_id/declared": [
    imported("200 of the largest patterns", {
      data: Array.from({ length: 200 }, (_, index) => ({
        ...{ key: `KEY_${index}`, pattern: "(?:(?i)[a-zà-ÿ]{1,80}){2}", description: "d".repeat(1_000) }
      }))
    }),
    imported("201", { data: Array.from({ length: 201 }, (_, index) => ({ key: `KEY_${index}` })) })
  ],
  "PUT /api/imports/:import_id/secrets": [
    imported("200 of 4 KiB", { env: "prod", data: versionsOf(200, 4_096) }),
    imported("120 of 64 KiB", { env: "prod", data: versionsOf(120, 65_536) }),
    imported("201", { env: "prod", data: versionsOf(201, 1) })
  ],
  "POST /api/imports/:import_id/finish": [imported("", { counts: noCounts }, false)],
  "DELETE /api/imports/:import_id": [about("", newImport)],

  "POST /api/orgs/:org_name/members": [body("", ({ attempt }) => ({ email: `invited-${attempt}@example.com` }))],
  "GET /api/orgs/:org_name/members": [["10,000", () => ({})]],
  "PATCH /api/orgs/:org_name/members/:user_id": [body("", () => ({ role: "member" }))],
  "DELETE /api/orgs/:org_name/members/me": [plain],
  "DELETE /api/orgs/:org_name/members/:user_id": [
    [
      "with 1,000 rules, in 450 use rules, with 450 votes",
      (about) => ({ place: { user_id: one(about.limits.members, about) } })
    ]
  ],

  "POST /api/orgs/:org_name/projects": [body("", ({ attempt }) => ({ name: `created-${attempt}` }))],
  "GET /api/orgs/:org_name/projects": [["2,000", () => ({})]],
  "GET /api/orgs/:org_name/projects/:project_name": [plain],
  "PATCH /api/orgs/:org_name/projects/:project_name": [
    [
      "",
      ({ attempt }) => ({ place: { project_name: `project-${1900 - attempt}` }, body: { name: `renamed-${attempt}` } })
    ]
  ],
  "DELETE /api/orgs/:org_name/projects/:project_name": [
    ["", ({ attempt }) => ({ place: { project_name: `project-${1800 - attempt}` } })]
  ],

  [`GET ${declared}`]: [["2,000", () => ({})]],
  [`GET ${declared}/:key`]: [["", () => ({ place: { key: fullKeys[0] } })]],
  [`PUT ${declared}/:key`]: [
    [
      "the largest pattern",
      ({ attempt }) => ({
        place: { project_name: `project-${1 + attempt}`, key: "ANY" },
        body: { pattern: "(?:(?i)[a-zà-ÿ]{1,80}){2}", required_in: "*", description: "d".repeat(1_000) }
      })
    ]
  ],
  [`DELETE ${declared}/:key`]: [["", ({ attempt }) => ({ place: { key: fullKeys[1_999 - attempt]! } })]],
  [`GET ${env}/check`]: [
    ["2,000 patterns", () => ({})],
    ["128 of 64 KiB", () => ({ place: { env_name: "large" } })]
  ],

  [`POST ${envs}`]: [
    body("", ({ attempt }) => ({ name: `created-${attempt}` })),
    body("2,000 of 4 KiB copied", ({ attempt }) => ({ name: `copied-${attempt}`, from: "full" })),
    raw("a list of keys", () => filled(mebibyte, `{"name":"one","from":"full","keys":[`, () => `"A"`, "]}"))
  ],
  [`GET ${envs}`]: [["100", () => ({})]],
  [`PATCH ${env}`]: [body("", () => ({ expires_at: null }))],
  [`GET ${previews}`]: [
    about("", async ({ call }) => {
      await call("PUT", `${org}/projects/web/previews`, { from: "full", pattern: "pr-*" })
      return {}
    })
  ],
  [`PUT ${previews}`]: [body("", () => ({ from: "full", pattern: "pr-*" }))],
  [`DELETE ${previews}`]: [plain],
  [`DELETE ${env}`]: [["", ({ attempt }) => ({ place: { env_name: `env-${4 + (attempt % 80)}` } })]],
  [`GET ${env}/bundle`]: [
    ["2,000 of 4 KiB", () => ({})],
    ["128 of 64 KiB", () => ({ place: { env_name: "large" } })],
    ["140 keys by name", () => ({ query: `keys=${fullKeys.slice(0, 140).join(",")}` })],
    ["7,500 times one key", () => ({ query: `keys=${Array.from({ length: 7_500 }, () => "K").join(",")}` })]
  ],
  [`PATCH ${env}/bundle`]: [
    inEmpty(raw("2,000 of 4 KiB created", () => secretsOf(2_000, 4_096, "v"))),
    [
      "2,000 of 4 KiB updated",
      ({ attempt }) => ({
        body: { set: Object.fromEntries(fullKeys.map((key) => [key, fullValue(key, `${attempt}`)])) }
      })
    ],
    [
      "2,000 of 4 KiB unchanged",
      () => ({
        place: { env_name: "other" },
        body: {
          set: Object.fromEntries(fullKeys.map((key, index) => [key, fullValue(key, index % 2 === 0 ? "" : "x")]))
        }
      })
    ],
    ["2,000 deleted, tried", () => ({ body: { delete: fullKeys, dry_run: true } })],
    inEmpty(raw("128 of 64 KiB created", () => secretsOf(128, 65_536, "v"))),
    inEmpty(raw("127 of 64 KiB in escapes", () => secretsOf(127, 21_844, "v", "\\u0076"))),
    inEmpty(raw("128 of 64 KiB in UTF-8", () => secretsOf(128, 21_845, "€"))),
    raw("two million keys", () => filled(16 * mebibyte, `{"set":{`, (index) => `"${short(index)}":""`, "}}")),
    raw("a list of keys", () => filled(16 * mebibyte, `{"delete":[`, () => `"A"`, "]}")),
    raw("16 MiB of values", () => secretsOf(250, 65_536, "v"))
  ],
  [`POST ${env}/copy`]: [
    [
      "2,000 of 4 KiB created",
      (about) => ({ place: { env_name: `env-${4 + (about.attempt % 80)}` }, body: { from: "full" } })
    ],
    ["2,000 of 4 KiB compared", () => ({ place: { env_name: "other" }, body: { from: "full", dry_run: true } })],
    [
      "2,000 keys by name",
      () => ({ place: { env_name: "other" }, body: { from: "full", keys: fullKeys, dry_run: true } })
    ],
    raw("a list of keys", () => filled(mebibyte, `{"from":"full","keys":[`, () => `"A"`, "]}"))
  ],
  [`GET ${env}/revisions`]: [
    ["100", () => ({ query: "limit=100" })],
    ["one of 4,000 changes", () => ({ place: { env_name: "reverted" } })]
  ],
  [`POST ${env}/revert`]: [["2,000 deleted, tried", () => ({ body: { to: 0, dry_run: true } })]],
  "GET /api/orgs/:org_name/projects/:project_name/matrix": [
    ["2 × 2,000 of 4 KiB", () => ({ query: "envs=full,other" })],
    ["2 × 2,000 of 4 KiB, compact", () => ({ query: "envs=full,other&format=compact" })],
    ["24 environments", () => ({})]
  ],
  "GET /api/orgs/:org_name/projects/:project_name/revisions": [
    ["100 of 100 environments", () => ({ query: "limit=100" })]
  ],
  "GET /api/orgs/:org_name/overview": [["500 projects", () => ({ query: "limit=100" })]],
  [`GET ${env}/diff`]: [["2,000 of 4 KiB", () => ({ query: "with=other" })]],

  [`GET ${secrets}`]: [
    ["2,000", () => ({})],
    ["2,000 due", () => ({ query: "due_within=366d" })],
    ["100 removed", () => ({ place: { env_name: "large" }, query: "removed=1&limit=100" })]
  ],
  [`PATCH ${secrets}/:key`]: [
    ["", () => ({ place: { env_name: "large", key: largeKeys[0] }, body: { owner: `${"o".repeat(64)}@example.com` } })]
  ],
  "GET /api/orgs/:org_name/secrets/due": [["100 of 2,000", () => ({ query: "within=366d" })]],
  "GET /api/orgs/:org_name/keys": [
    ["100 of 4,000 by prefix", () => ({ query: "query=k&limit=100" })],
    ["6,000 environments by a part", () => ({ query: "query=none" })],
    ["a part of 100 of 4,000", () => ({ query: "query=9x&limit=100&after=s~~~" })]
  ],
  [`PUT ${secrets}/:key`]: [
    ["64 KiB", () => ({ place: { env_name: "large", key: largeKeys[0] }, body: { value: "w".repeat(65_536) } })]
  ],
  [`GET ${secrets}/:key`]: [["64 KiB", () => ({ place: { env_name: "large", key: largeKeys[1]! } })]],
  [`DELETE ${secrets}/:key`]: [
    ["", ({ attempt }) => ({ place: { env_name: "large", key: largeKeys[2 + (attempt % 20)]! } })]
  ],
  [`GET ${secrets}/:key/references`]: [["", () => ({ place: { env_name: "large", key: largeKeys[1]! } })]],
  [`GET ${secrets}/:key/versions`]: [
    ["100 of 1,001", () => ({ place: { env_name: "history", key: historyKeys[0]! } })],
    [
      "100 of 1,001, compared",
      () => ({ place: { env_name: "history", key: historyKeys[0]! }, query: "limit=100&compare=1" })
    ]
  ],
  [`POST ${secrets}/:key/rollback`]: [
    ["", () => ({ place: { env_name: "history", key: historyKeys[0]! }, body: { version: 1001 } })]
  ],
  [`POST ${secrets}/:key/undelete`]: [
    about("", async ({ attempt, call }) => {
      const place = { env_name: "large", key: largeKeys[70 + (attempt % 40)]! }
      await call("DELETE", `${org}/projects/web/envs/large/secrets/${place.key}`)
      return place
    })
  ],
  [`POST ${secrets}/:key/destroy`]: [
    [
      "1,000 versions",
      (about) => ({
        place: { env_name: "history", key: one(historyKeys, about) },
        body: { versions: Array.from({ length: 1_000 }, (_, index) => 1 + index) }
      })
    ],
    raw("a list of versions", () => filled(mebibyte, `{"versions":[`, () => "1", "]}"))
  ],

  "POST /api/orgs/:org_name/acl": [
    body("the 1,001st of a member", ({ attempt }) => ({
      ...{ subject_type: "user", email: "powerless@example.com", permission: "read" },
      ...{ project_pattern: `granted-${attempt}`, env_pattern: "*" }
    }))
  ],
  "GET /api/orgs/:org_name/acl": [["20,000", () => ({})]],
  "GET /api/orgs/:org_name/acl/explain": [
    ["1,000 rules", () => ({ query: "subject_type=user&email=powerless%40example.com&project=web&env=full" })]
  ],
  "GET /api/orgs/:org_name/access": [["100 with 1,000 rules", () => ({ query: "subject=powerless%40example.com" })]],
  [`GET ${env}/access`]: [
    ["10,000 members, 20,000 rules", () => ({ query: "limit=100&permission=use" })],
    ["the last of the members, of a key", () => ({ query: `key=${fullKeys[0]}&permission=admin&after=h~user~8` })]
  ],
  [`POST ${env}/access/reviews`]: [
    body("10,000 members, 20,000 rules", () => ({ permission: "use", note: "n".repeat(500) }))
  ],
  "DELETE /api/orgs/:org_name/acl/:rule_id": [
    ["", (about) => ({ place: { rule_id: one(about.limits.rules, about) } })]
  ],

  "POST /api/orgs/:org_name/groups": [body("", ({ attempt }) => ({ name: `created ${attempt}` }))],
  "GET /api/orgs/:org_name/groups": [["190", () => ({})]],
  "GET /api/orgs/:org_name/groups/:group_name": [plain],
  "PATCH /api/orgs/:org_name/groups/:group_name": [
    ["", (about) => ({ place: { group_name: about.limits.groups[1]! }, body: { name: about.limits.groups[1] } })]
  ],
  "DELETE /api/orgs/:org_name/groups/:group_name": [
    ["", (about) => ({ place: { group_name: one(about.limits.groups.slice(2), about) } })],
    [
      "2,000 members",
      async ({ attempt, call, limits }) => {
        const group_name = `full ${attempt}`
        await call("POST", `${org}/groups`, { name: group_name })
        await call("PUT", `${org}/groups/${encodeURIComponent(group_name)}/members`, {
          emails: limits.emails.slice(900, 2_900)
        })
        return { place: { group_name } }
      }
    ]
  ],
  "GET /api/orgs/:org_name/groups/:group_name/members": [["10,000", () => ({})]],
  "PUT /api/orgs/:org_name/groups/:group_name/members": [
    [
      "2,000 others",
      // Without the first members, whom other rows remove, and the last one.
      ({ attempt, limits }) => {
        const from = 100 + ((attempt * 10) % 800)
        return { body: { emails: limits.emails.slice(from, from + 2_000) } }
      }
    ],
    raw("a list of addresses", () => filled(mebibyte, `{"emails":[`, () => `"a@b.cd"`, "]}"))
  ],
  "POST /api/orgs/:org_name/groups/:group_name/members": [
    body("of a full group", ({ limits }) => ({ email: limits.emails.at(-1) }))
  ],
  "DELETE /api/orgs/:org_name/groups/:group_name/members/:user_id": [
    about("", async ({ attempt, call, limits }) => {
      const group_name = `for-one-${attempt}`
      await call("POST", `${org}/groups`, { name: group_name })
      const { user_id } = await call("POST", `${org}/groups/${group_name}/members`, { email: limits.emails[2_900] })
      return { group_name, user_id }
    })
  ],
  "GET /api/orgs/:org_name/group-mappings": [["190", () => ({})]],
  "PUT /api/orgs/:org_name/group-mappings": [
    [
      "190 others",
      async ({ attempt, call }) => {
        const { data } = await call("GET", `${org}/groups`)
        const mappings = data.map(({ name }: Json) => ({ provider_group: `team ${attempt}`, group: name }))
        return { body: { mappings } }
      }
    ],
    raw("a list of mappings", () => filled(mebibyte, `{"mappings":[`, () => `{"provider_group":"a","group":"b"}`, "]}"))
  ],
  "GET /api/orgs/:org_name/scim": [["", () => ({})]],
  "POST /api/orgs/:org_name/scim": [
    about("", async ({ call }) => {
      await call("DELETE", `${org}/scim`).catch(() => undefined)
      return {}
    })
  ],
  // A token is rotated once in 24 hours.
  "POST /api/orgs/:org_name/scim/rotate": [
    about("", async ({ call }) => {
      await call("DELETE", `${org}/scim`).catch(() => undefined)
      await call("POST", `${org}/scim`)
      return {}
    })
  ],
  "DELETE /api/orgs/:org_name/scim": [
    about("", async ({ call }) => {
      await call("POST", `${org}/scim`).catch(() => undefined)
      return {}
    })
  ],
  "POST /api/orgs/:org_name/service-accounts": [body("", ({ attempt }) => ({ name: `created ${attempt}` }))],
  "GET /api/orgs/:org_name/service-accounts": [["2,000", () => ({})]],
  "PATCH /api/orgs/:org_name/service-accounts/:sa_id": [body("", () => ({ allowed_networks: null }))],
  "POST /api/orgs/:org_name/service-accounts/:sa_id/rotate": [body("", () => ({}))],
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id": [
    ["with 1,000 rules, in 450 use rules", (about) => ({ place: { sa_id: one(about.limits.accounts, about) } })]
  ],
  "POST /api/orgs/:org_name/service-accounts/:sa_id/federations": [
    body("20 keys", ({ attempt }) => ({ ...federationBody, name: `made-${attempt}`, jwks: { keys: twentyKeys() } }))
  ],
  "GET /api/orgs/:org_name/service-accounts/:sa_id/federations": [plain],
  "POST /api/orgs/:org_name/service-accounts/:sa_id/federations/try": [
    body("a token of 8 KB", () => ({ token: `e30.${"e30".repeat(2_600)}.e30` }))
  ],
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id/federations/:federation_id": [about("", federation)],

  "POST /api/orgs/:org_name/webhooks": [body("40 patterns", () => ({ ...webhookBody, ...manyPatterns }))],
  "GET /api/orgs/:org_name/webhooks": [plain],
  "GET /api/orgs/:org_name/webhooks/:webhook_id": [about("", webhook)],
  "PATCH /api/orgs/:org_name/webhooks/:webhook_id": [about("40 patterns", webhook, manyPatterns)],
  "DELETE /api/orgs/:org_name/webhooks/:webhook_id": [about("", newWebhook)],
  "POST /api/orgs/:org_name/webhooks/:webhook_id/rotate-key": [about("", webhook, {})],
  "POST /api/orgs/:org_name/webhooks/:webhook_id/test": [about("", webhook)],
  "GET /api/orgs/:org_name/webhooks/:webhook_id/deliveries": [about("", delivery)],
  "POST /api/orgs/:org_name/webhooks/:webhook_id/deliveries/:delivery_id/send": [about("", delivery)],

  [`GET ${secrets}/:key/use-rules`]: [plain],
  [`POST ${secrets}/:key/use-rules`]: [
    body("50 paths", () => ({
      ...useRuleBody,
      accounts: ["account 0".padEnd(64, "x")],
      paths: Array.from({ length: 50 }, (_none, index) => `/${"p".repeat(480)}/${index}`)
    }))
  ],
  [`PATCH ${secrets}/:key/use-rules/:use_rule_id`]: [about("", useRule, { per_minute: 5 })],
  [`DELETE ${secrets}/:key/use-rules/:use_rule_id`]: [about("", newUseRule)],
  [`GET ${env}/connections`]: [plain],
  [`POST ${env}/connections`]: [
    proven("64 KiB of certificates", () => ({
      ...connectionBody,
      ca: `-----BEGIN CERTIFICATE-----\n${"A".repeat(65_000)}\n-----END CERTIFICATE-----\n`
    }))
  ],
  [`DELETE ${env}/connections/:connection_name`]: [about("", newConnection)],
  [`POST ${env}/connections/:connection_name/test`]: [about("", onceConnection)],
  [`DELETE ${env}/connections/:connection_name/orphans/:lease_id`]: [about("", onceConnection)],
  [`GET ${env}/rotations`]: [plain],
  [`POST ${env}/rotations`]: [
    ["20 texts", async (about) => ({ ...(await rotationOf(about)), token: about.limits.proven })]
  ],
  [`GET ${env}/rotations/:rotation_name`]: [about("", once(newRotation))],
  [`PATCH ${env}/rotations/:rotation_name`]: [about("", once(newRotation), { paused: true })],
  [`DELETE ${env}/rotations/:rotation_name`]: [about("", newRotation)],
  [`POST ${env}/rotations/:rotation_name/run`]: [about("", once(newRotation))],
  [`GET ${env}/roles`]: [plain],
  [`POST ${env}/roles`]: [
    ["20 statements each", async (about) => ({ ...(await roleOf(about)), token: about.limits.proven })]
  ],
  [`GET ${env}/roles/:role_name`]: [about("", once(newRole))],
  [`DELETE ${env}/roles/:role_name`]: [about("", newRole)],
  [`POST ${env}/roles/:role_name/leases`]: [about("", once(newRole), {})],
  [`GET ${env}/leases`]: [plain],
  [`POST ${env}/leases/:lease_id/renew`]: [body("", () => ({}))],
  [`DELETE ${env}/leases/:lease_id`]: [plain],
  [`GET ${env}/targets`]: [plain],
  [`POST ${env}/targets`]: [
    body("500 renames", ({ attempt }) => ({
      ...targetBody(`many-${attempt}`, fullKeys[0] ?? ""),
      keys: Array.from({ length: 50 }, () => `${"A*".repeat(3)}${"B".repeat(90)}`),
      rename: Object.fromEntries(Array.from({ length: 500 }, (_none, index) => [`K${index}`, "n".repeat(200)]))
    }))
  ],
  [`GET ${env}/targets/:target_name`]: [about("", newTarget)],
  [`PATCH ${env}/targets/:target_name`]: [about("", newTarget, { automatic: "off" })],
  [`DELETE ${env}/targets/:target_name`]: [about("", newTarget)],
  [`POST ${env}/targets/:target_name/plan`]: [about("", newTarget, {})],
  [`POST ${env}/targets/:target_name/check`]: [about("", newTarget)],
  [`POST ${env}/targets/:target_name/push`]: [about("", newTarget, { plan: "none" })],
  [`GET ${env}/uses`]: [plain],
  [`POST ${env}/use`]: [
    body("1 MB", () => ({
      method: "POST",
      url: `https://api.invalid/${"x".repeat(7_900)}`,
      secrets: ["ABSENT"],
      body: "x".repeat(1_000_000)
    })),
    body("10 MiB in base64", () => ({
      method: "POST",
      url: "https://api.invalid/upload",
      secrets: ["ABSENT"],
      body_base64: Buffer.alloc(10 * 1024 * 1024, 7).toString("base64")
    }))
  ],
  "GET /api/orgs/:org_name/approvals": [plain],
  "POST /api/orgs/:org_name/approvals/:approval_id/approve": [plain],
  "POST /api/orgs/:org_name/approvals/:approval_id/refuse": [plain],

  [`GET ${env}/protection`]: [about("", guardedOne)],
  [`PUT ${env}/protection`]: [
    [
      "100 people",
      ({ attempt, limits }) => ({
        place: { project_name: `project-${400 + attempt}`, env_name: "prod" },
        body: { needed: 1, approvers: limits.emails.slice(2_000, 2_100), break_glass: ["root@example.com"] }
      })
    ]
  ],
  [`DELETE ${env}/protection`]: [
    ["", async (each) => ({ place: await guardedOne(each), headers: breakGlass, token: each.limits.proven })]
  ],
  "POST /api/orgs/:org_name/requests": [
    body("", () => ({
      kind: "access",
      project: "full",
      env: "prod",
      permission: "read",
      expires_in: 60,
      reason: "r".repeat(500)
    }))
  ],
  "GET /api/orgs/:org_name/requests": [plain],
  "GET /api/orgs/:org_name/requests/:request_id": [about("2,000 of 4 KiB", largeRequest)],
  "GET /api/orgs/:org_name/requests/:request_id/values": [about("2,000 of 4 KiB", largeRequest)],
  "POST /api/orgs/:org_name/requests/:request_id/approve": [about("2,000 of 4 KiB", newLargeRequest)],
  "POST /api/orgs/:org_name/requests/:request_id/refuse": [about("2,000 of 4 KiB", newLargeRequest)],
  "POST /api/orgs/:org_name/requests/:request_id/withdraw": [about("2,000 of 4 KiB", newLargeRequest)],

  "GET /api/orgs/:org_name/audit-logs": [
    ["100 long entries", () => ({ query: "limit=100&action=secret.read" })],
    ["100", () => ({ query: "limit=100&action=secret.set" })],
    ["an unknown actor among 10,000 members", () => ({ query: "actor=nobody@example.com" })]
  ],
  "GET /api/orgs/:org_name/audit-logs/verify": [["20,120 entries", () => ({})]],
  "GET /api/orgs/:org_name/audit-logs/activity": [
    ["20,120 entries", () => ({ query: "spans=200" })],
    ["those of an action", () => ({ query: "spans=200&action=secret.set" })]
  ],
  "GET /api/audit-logs": [
    ["100 long entries", () => ({ query: "limit=100&action=secret.read" })],
    ["100", () => ({ query: "limit=100&action=secret.set" })],
    ["an unknown actor among all users", () => ({ query: "actor=nobody@example.com" })]
  ],
  "GET /api/audit-logs/verify": [["20,120 entries", ({ limits }) => ({ query: `org_id=${limits.orgId}` })]],

  "GET /api/users": [["a page of 100", () => ({ query: "limit=100" })]],
  "POST /api/users/:user_id/disable": [plain, ofCrowded],
  "POST /api/users/:user_id/enable": [plain],
  "POST /api/users/:user_id/end-sessions": [plain, ofCrowded],
  "POST /api/backups": [plain],
  "GET /api/backups": [plain],
  "POST /api/backups/:backup_id/restore": [["", async (each) => ({ place: { backup_id: await backup(each) } })]],
  "POST /api/backups/drill": [["", async (each) => ({ body: { backup_id: await backup(each) } })]],

  "GET /api/server": [plain],
  "GET /api/server/settings": [plain],

  "GET /health": [plain],
  "GET /health/ready": [plain],
  "GET /openapi.json": [plain],
  "GET /docs": [plain],
  "GET /llms.txt": [plain],
  "GET /llms-full.txt": [plain]
}
