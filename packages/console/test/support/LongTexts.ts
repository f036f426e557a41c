import { inject } from "vitest"
import { queryOf } from "../../../server/test/authorization/Contract.js"
import { pages } from "../../src/pages/Pages.js"
import { type Json, Person } from "./Person.js"

/** The longest text of a kind, without a blank. */
export const long = (length: number, first = ""): string => first + "w".repeat(length - first.length)

/** Controls of the direction of text, which would turn the text around them. */
export const turning = ["\u202e", "\u2066", "\u200f", "\u061c"]

export const org = long(50, "o")
export const project = long(50, "p")
export const env = long(50, "e")
export const key = long(100, "K")
const domain = [long(63), long(63), long(61)].join(".")
/** An address of the 254 characters that are taken. */
const addressOf = (first: string) => `${long(64, first)}@${domain}`
export const owner = addressOf("o")
export const developer = addressOf("d")
export const invited = addressOf("i")
const api = `/api/orgs/${org}`
export const projectPath = `${api}/projects/${project}`
const inEnv = `${projectPath}/envs/${env}`

/** The key of a provider, which signs nothing. */
const jwk = {
  ...{ kty: "EC", crv: "P-256", alg: "ES256", use: "sig", kid: "1" },
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
}

/** Fills every field of an organization that people write with the longest text that it takes. */
export const fill = async () => {
  const ada = await Person.login(owner)
  const removed = long(50, "r")
  await ada.call("POST", "/api/orgs", { name: org })
  await ada.call("POST", "/api/orgs", { name: removed })
  await ada.call("DELETE", `/api/orgs/${removed}`)
  for (const name of [project, removed]) await ada.call("POST", `${api}/projects`, { name })
  await ada.call("DELETE", `${api}/projects/${removed}`)
  for (const name of [env, removed]) await ada.call("POST", `${projectPath}/envs`, { name })
  await ada.call("DELETE", `${projectPath}/envs/${removed}`)
  const set = { [key]: long(3_000), [long(100, "L")]: "1" }
  for (const name of [env, "dev"]) {
    await ada.call("PATCH", `${projectPath}/envs/${name}/bundle`, { set, note: long(500) })
  }
  await ada.call("PUT", `${inEnv}/secrets/REFERS`, { value: `\${${key}}`, kind: "reference" })
  await ada.call("DELETE", `${inEnv}/secrets/${long(100, "L")}`)
  await ada.call("POST", `${api}/members`, { email: developer, role: "developer" })
  await ada.call("POST", `${api}/members`, { email: invited, role: "owner" })
  const dora = await Person.login(developer)
  await dora.accept()
  const group = long(64, "g")
  await ada.call("POST", `${api}/groups`, { name: group })
  await ada.call("PUT", `${api}/group-mappings`, {
    mappings: [{ provider_group: `${long(127)}${turning[0] ?? ""}${long(128)}`, group }]
  })
  const account = await ada.call("POST", `${api}/service-accounts`, {
    name: long(64, "s"),
    project,
    expires_in_days: 30
  })
  await ada.call("POST", `${api}/service-accounts/${account.id}/federations`, {
    name: long(50, "f"),
    issuer: `https://${domain}/${long(80)}`,
    conditions: { "/repository_id": long(500), [`/${long(190)}`]: long(500) },
    jwks: { keys: [jwk] }
  })
  const pattern = { project_pattern: `${long(199)}*`, env_pattern: `${long(199)}*`, permission: "read" }
  for (const subject of [
    { subject_type: "user", email: developer },
    { subject_type: "group", group },
    { subject_type: "service_account", subject_id: account.id }
  ]) {
    await ada.call("POST", `${api}/acl`, { ...subject, ...pattern })
  }
  await ada.call("POST", `${inEnv}/targets`, {
    ...{ name: long(50, "t"), kind: "vault", credential_key: key, prefix: long(50), keys: [long(100, "K")] },
    ...{ rename: { [key]: long(200) }, place: { url: `https://${domain}`, mount: long(500), path: long(500) } }
  })
  const connection = long(50, "c")
  await ada.call("POST", `${inEnv}/connections`, {
    ...{ name: connection, host: "127.0.0.1", database: long(63), user: long(63), password_key: key }
  })
  await ada.call("POST", `${inEnv}/rotations`, {
    ...{ name: long(50, "r"), connection, users: [long(63, "a"), long(63, "b")] },
    writes: { [long(100, "N")]: "{user} {password}" }
  })
  await ada.call("POST", `${inEnv}/roles`, { name: long(50, "l"), connection })
  const hook = `https://${domain}/`
  await ada.call("POST", `${api}/webhooks`, {
    url: `${hook}${long(500 - hook.length)}`,
    events: ["secret.*", "member.*"],
    environments: [`${project}/${env}`, `${long(199)}*`]
  })
  await ada.call("PUT", `${projectPath}/declared/${key}`, {
    ...{ required_in: [env, "prod"], pattern: `${long(255)}*` },
    ...{ description: long(1_000), example: long(1_000), owner: long(254) }
  })
  await ada.call("PATCH", `${inEnv}/secrets/${key}`, { expires_at: "2027-01-31", owner })
  await ada.call("POST", `${inEnv}/secrets/${key}/use-rules`, {
    ...{ accounts: [owner, long(64, "s")], hosts: [domain], paths: [`/${long(499)}`], methods: ["GET"] },
    place: { in: "header", name: long(60), format: "Bearer {}" }
  })
  await ada.call("POST", "/api/auth/delegations", {
    ...{ name: long(64, "d"), org, project, env, permission: "read", reveal: true, expires_in: 3_600, keys: [key] }
  })
  const asks = { kind: "access", project, env, permission: "read", expires_in: 3_600, reason: long(500) }
  const first = await dora.call("POST", `${api}/requests`, asks)
  await ada.call("POST", `${api}/requests/${first.id}/refuse`, { comment: long(500) })
  await dora.call("POST", `${api}/requests`, asks)
  await ada.call("PUT", `${projectPath}/envs/prod/protection`, {
    ...{ needed: 1, approvers: [owner], self: true, break_glass: [owner], expires_after: "72h", passkey: false }
  })
  await ada.call(
    "PATCH",
    `${projectPath}/envs/prod/bundle`,
    { set: { [key]: "1", [long(100, "M")]: "2" }, note: long(500) },
    { prefer: "respond-async", "x-coffer-reason": long(500) }
  )
  const callback = "http://127.0.0.1:33418/callback"
  const named = { redirect_uris: [callback], client_name: long(200) }
  const { client_id } = await ada.call("POST", "/oauth/register", named)
  return { ada, dora, consent: `/-/authorize?${queryOf(inject("server").url, client_id, callback)}` }
}

/** The addresses of all pages: a page that is added to the console is among them. */
export const addresses: ReadonlyArray<string> = [
  ...pages.server.map(({ page }) => (page === "" ? "/" : `/-/${page}`)),
  ...pages.org.map(({ page }) => (page === "" ? `/${org}` : `/${org}/-/${page}`)),
  ...pages.project.map(({ page }) => {
    const address = page === "" ? `/${org}/${project}` : `/${org}/${project}/-/${page}`
    return /^(renewal|targets)$/.test(page) ? `${address}?env=${env}` : address
  }),
  ...pages.secret.map(() => `/${org}/${project}/${key}?env=${env}`)
]

/** Pages that show an owner nothing that people write: they are for superadmins. */
export const withoutTexts: ReadonlySet<string> = new Set(["/-/users", "/-/server", "/-/backups"])

/** The elements of the page, or of the open dialog, that are wider than their place. Few may be scrolled sideways. */
export const tooWide = `(() => {
  const width = document.documentElement.clientWidth
  const inside = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body
  const mayScroll = ".matrix-scroller, pre, .code-lines, .tabs, textarea, input, select"
  const isCut = (one) => {
    for (let box = one.parentElement; box !== null && box !== document.body; box = box.parentElement) {
      if (getComputedStyle(box).overflowX !== "visible" && box.getBoundingClientRect().right <= width + 1) return true
    }
    return false
  }
  const isSeen = (one) => one.getClientRects().length > 0 && one.closest(".hidden, " + mayScroll) === null
  const named = (one) => one.tagName.toLowerCase() + "." + one.className + " " + one.textContent.slice(0, 30)
  const scrolled = (one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)
  const placeOf = (one) => {
    let place = one.parentElement
    while (/inline|contents/.test(getComputedStyle(place).display)) place = place.parentElement
    return place
  }
  const standsOut = (one) => one.getBoundingClientRect().right > placeOf(one).getBoundingClientRect().right + 1
  return {
    page: document.documentElement.scrollWidth - width,
    scrolled: [...inside.querySelectorAll("*"), inside].filter((one) => isSeen(one) && scrolled(one)).map(named),
    out: [...inside.querySelectorAll("*")]
      .filter((one) => isSeen(one) && one.getBoundingClientRect().right > width + 1 && !isCut(one)).map(named).slice(0, 4),
    over: [...inside.querySelectorAll("button, .button, code, bdi, .badge, td a, td time")]
      .filter((one) => one.getClientRects().length > 0 && one.closest(".hidden, .tabs, pre, .code-lines") === null && standsOut(one)).map(named).slice(0, 4)
  }
})()`

export const isTooWide = (found: Json): boolean => found.page > 0 || found.scrolled.length > 0 || found.out.length > 0
