import { SoftAuthenticator } from "../support/SoftAuthenticator.js"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, expect, it } from "vitest"
import {
  connectionBody,
  endpoints,
  federationBody,
  queryOf,
  roleBody,
  rotationBody,
  targetBody,
  termsOf,
  useRuleBody
} from "../authorization/Contract.js"
import { clusterFederation, podClaims, publicUrl, Signer } from "../federations/Signer.js"
import { cleanUp, Program } from "../support/Program.js"
import { approvedDevice } from "../support/ProgramLogins.js"
import { refusingIn } from "../support/Refusing.js"
import { isOnPostgres } from "../support/Services.js"
import { inDays } from "../previews/Support.js"
import { Recorder } from "./Recorder.js"

afterAll(cleanUp)

const absent = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const org = "/api/orgs/acme"
const project = `${org}/projects/webshop`
const envs = `${project}/envs`
const env = `${envs}/dev`
const secret = `${env}/secrets/API_KEY`

/** These succeed only with an other side, or with the console: see the tests of `use`, delivery, leases and the tool server. */
const needsOtherSide =
  /\/(use|approve|refuse|consents|consents\/review|targets\/:target_name\/(plan|check|push)|:role_name\/leases|:lease_id(\/renew)?)$/
const json = "Content-Type: application/json"

/** Each call of the contract once with success, and what else it answers. */
const calls = async (program: Program): Promise<Recorder> => {
  const recorder = new Recorder(program)
  const ask = recorder.ask.bind(recorder)

  recorder.part("Without a credential")
  await ask("GET", "/health")
  await ask("HEAD", "/health")
  await ask("GET", "/health?nonce=1")
  await ask("GET", "/health/ready")
  for (const path of ["/openapi.json", "/docs", "/llms.txt", "/llms-full.txt"]) {
    await ask("GET", path, { opaque: true })
    await ask("HEAD", path, { opaque: true })
  }

  recorder.part("Login")
  const codeOf = async (email: string, count: number): Promise<string> =>
    (await program.said(new RegExp(`^login code for ${email}: (\\d{6})$`, "m"), count))[1] ?? ""
  await ask("GET", "/api/auth/methods")
  await ask("POST", "/api/auth/login", { body: { email: "Ada@Example.com " } })
  const code = await codeOf("ada@example.com", 1)
  const { token: by } = await ask("POST", "/api/auth/verify", { body: { email: "ada@example.com", code } })
  await ask("POST", "/api/auth/verify", { body: { email: "ada@example.com", code }, why: "a used code" })
  for (let times = 0; times < 6; times++) {
    await ask("POST", "/api/auth/login", { body: { email: "often@example.com" } })
  }
  for (let times = 0; times < 11; times++) {
    await ask("POST", "/api/auth/verify", { body: { email: "guessed@example.com", code: "000000" } })
  }
  const { device_code } = await ask("POST", "/api/auth/device", { body: { machine: "build-box" } })
  for (let times = 0; times < 2; times++) await ask("POST", "/api/auth/token", { body: { device_code } })
  const { device_code: approved } = await approvedDevice(program)
  for (const why of ["an approved login", "a used one"]) {
    await ask("POST", "/api/auth/token", { body: { device_code: approved }, why })
  }
  await ask("POST", "/api/auth/token", { body: { code: "A".repeat(43), verifier: "v".repeat(43) } })
  await ask("POST", "/api/auth/token", { body: { code: "A".repeat(43) } })
  const root = await program.login("root@example.com")
  const dev = await program.login("dev@example.com")
  const eve = await program.login("eve@example.com")
  await ask("GET", "/api/auth/me", { by })
  await ask("GET", "/api/server", { by })
  await ask("GET", "/api/server/settings", { by: root, opaque: true })
  await ask("GET", "/api/auth/sessions", { by })
  const { data: sessions } = (await program.call("GET", "/api/auth/sessions", { token: eve })).body
  await ask("DELETE", `/api/auth/sessions/${absent}`, { by: eve })
  await ask("DELETE", `/api/auth/sessions/${sessions[0].id}`, { by: eve })
  await ask("DELETE", "/api/auth/sessions", { by: await program.login("many@example.com") })
  await ask("DELETE", "/api/auth/logout", { by: await program.login("gone@example.com") })
  const outsider = { by: await program.login("eve@example.com") }

  recorder.part("Organizations, members and projects")
  await ask("POST", "/api/orgs", { by, body: { name: "acme" } })
  await ask("POST", "/api/orgs", { by, body: { name: "acme" }, why: "the name is in use" })
  await ask("GET", "/api/orgs", { by })
  await ask("HEAD", "/api/orgs", { by })
  await ask("GET", org, { by })
  await ask("GET", org, outsider)
  await ask("PATCH", org, { by, body: { name: "acme" } })
  await ask("POST", `${org}/members`, { by, body: { email: "dev@example.com", role: "developer" } })
  await ask("POST", `${org}/members`, { by, body: { email: "dev@example.com", role: "developer" } })
  const { data: members } = await ask("GET", `${org}/members`, { by })
  const [ada, other] = ["ada@example.com", "dev@example.com"].map(
    (email) => members.find((member: { readonly email: string }) => member.email === email).user_id
  )
  await ask("PATCH", `${org}/members/${other}`, { by, body: { role: "developer" } })
  await ask("PATCH", `${org}/members/${ada}`, { by, body: { role: "member" }, why: "the last owner" })
  await ask("POST", `${org}/projects`, { by, body: { name: "webshop" } })
  await ask("GET", `${org}/projects`, { by })
  await ask("GET", project, { by })
  await ask("PATCH", project, { by, body: { name: "webshop" } })
  await ask("POST", envs, { by, body: { name: "qa" } })
  await ask("GET", envs, { by })
  await ask("DELETE", `${envs}/qa`, { by })
  const [removedEnv] = (await ask("GET", `${project}/trash`, { by })).data
  await ask("GET", `${project}/trash`, { by: dev, why: "for admins" })
  await ask("POST", `${project}/trash/${removedEnv.id}/restore`, { by, body: { name: "dev" }, why: "a name in use" })
  await ask("POST", `${project}/trash/${removedEnv.id}/restore`, { by, body: {} })
  await ask("POST", `${project}/trash/${removedEnv.id}/restore`, { by, body: {}, why: "it is restored" })
  await ask("DELETE", `${envs}/qa`, { by })
  await ask("POST", `${project}/trash/${removedEnv.id}/erase`, { by, body: { name: "prod" }, why: "another name" })
  await ask("POST", `${project}/trash/${removedEnv.id}/erase`, { by, body: { name: "qa" } })
  await ask("GET", `${project}/trash?name=qa`, { by })

  recorder.part("Secrets")
  await ask("PUT", secret, { by, body: { value: "one" } })
  await ask("PUT", secret, { by, body: { value: "tv\u00f6\u{1f600}", expected_version: 1 } })
  await ask("PUT", secret, { by, body: { value: "three", expected_version: 1 } })
  await ask("GET", secret, { by })
  await ask("HEAD", secret, { by })
  await ask("GET", `${secret}?version=1`, { by })
  await ask("GET", `${secret}?version=9`, { by })
  await ask("GET", `${env}/secrets/OTHER`, { by })
  await ask("GET", `${env}/secrets/%41PI%5fKEY`, { by, why: "needless escapes" })
  await ask("GET", `${env}/secrets`, { by })
  await ask("GET", `${secret}/versions`, { by })
  await ask("GET", `${project}/revisions?limit=2`, { by })
  await ask("GET", `${project}/revisions?after=x`, { by })
  await ask("GET", `${secret}/versions?limit=1&before=2`, { by })
  await ask("PATCH", secret, { by, body: { expires_at: "9999-12-31", owner: "Ops@Example.com" } })
  await ask("PATCH", secret, { by, body: { expires_at: "2001-01-01T08:00Z" } })
  await ask("GET", `${env}/secrets?due_within=1h`, { by })
  await ask("GET", `${env}/secrets?due_within=367d`, { by })
  await ask("GET", `${org}/secrets/due?limit=1`, { by })
  await ask("GET", `${org}/keys?query=api`, { by })
  await ask("GET", `${org}/keys?query=%25`, { by })
  await ask("GET", `${org}/overview?limit=1`, { by })
  await ask("GET", `${org}/overview?after=x`, { by })
  await ask("PATCH", secret, { by, body: { expires_at: null, owner: null } })
  await ask("POST", `${secret}/rollback`, { by, body: { version: 1 } })
  await ask("POST", `${secret}/destroy`, { by, body: { versions: [1] } })
  await ask("POST", `${secret}/destroy`, { by, body: { versions: [3] }, why: "the current version" })
  await ask("DELETE", `${secret}?expected_version=7`, { by })
  await ask("DELETE", `${secret}?expected_version=3`, { by })
  await ask("GET", `${env}/secrets?removed=1`, { by })
  await ask("GET", `${env}/secrets?limit=1`, { by })
  await ask("GET", `${env}/secrets?removed=1&due_within=1h`, { by })
  await ask("POST", `${secret}/undelete`, { by })
  await ask("POST", `${secret}/undelete`, { by, why: "the key is in use" })
  await ask("PATCH", `${env}/bundle`, { by, body: { set: { ANOTHER: "x", __proto: "y" }, delete: ["NONE"] } })
  await ask("PATCH", `${env}/bundle`, { by, body: { set: { A: "x" } }, fields: ['If-Match: "other"'] })
  await ask("GET", `${env}/bundle`, { by })
  await ask("HEAD", `${env}/bundle`, { by })
  await ask("GET", `${env}/bundle?keys=ANOTHER`, { by })

  recorder.part("Delegations")
  const scope = { org: "acme", project: "webshop", env: "dev" }
  const delegating = { name: "claude", ...scope, permission: "read", expires_in: 3600 }
  const delegated = await ask("POST", "/api/auth/delegations", { by, body: { ...delegating, keys: ["ANOTHER"] } })
  await ask("POST", "/api/auth/delegations", { by, body: { ...delegating, expires_in: 86_401 } })
  await ask("POST", "/api/auth/delegations", { ...outsider, body: delegating })
  await ask("GET", "/api/auth/delegations", { by })
  const delegate = { by: delegated.token }
  await ask("GET", "/api/auth/me", delegate)
  await ask("GET", `${env}/secrets`, delegate)
  await ask("GET", secret, delegate)
  await ask("GET", `${org}/members`, delegate)
  await ask("DELETE", `/api/auth/delegations/${delegated.id}`, { by })
  await ask("GET", `${env}/secrets`, delegate)
  await ask("DELETE", `/api/auth/delegations/${delegated.id}`, { by })

  recorder.part("Consents, without the console that asks for them")
  const consentQuery = queryOf(publicUrl, "https://agents.example.com/client.json", "https://agents.example.com/cb")
  const chosen = termsOf({ org_name: "acme", project_name: "webshop", env_name: "dev" })
  await ask("POST", "/api/auth/consents/review", { by, body: { request: consentQuery } })
  await ask("POST", "/api/auth/consents", { by, body: { ...chosen, request: consentQuery } })
  await ask("POST", "/api/auth/consents", { ...outsider, body: { ...chosen, request: consentQuery } })

  recorder.part("Passkeys")
  const passkeys = "/api/auth/passkeys"
  const device = new SoftAuthenticator(publicUrl)
  const credential = device.register(await ask("POST", `${passkeys}/options`, { by }))
  const { id: passkey } = await ask("POST", passkeys, { by, body: { name: "laptop", credential } })
  await ask("POST", passkeys, { by, body: { name: "laptop", credential }, why: "the challenge is used" })
  await ask("POST", passkeys, { by, body: { name: "laptop", credential: { id: "+" } } })
  const proof = device.prove(await ask("POST", `${passkeys}/challenge`, { by, body: {} }))
  await ask("POST", `${passkeys}/verify`, { by, body: { credential: proof } })
  await ask("POST", `${passkeys}/verify`, { by, body: { credential: proof } })
  await ask("GET", passkeys, { by })
  await ask("DELETE", `${passkeys}/${passkey}`, { by })
  await ask("DELETE", `${passkeys}/${passkey}`, { by })
  await ask("POST", `${passkeys}/challenge`, { by, body: {} })

  recorder.part("Bundles")
  await ask("GET", `${env}/bundle?keys=ANOTHER,MISSING`, { by })
  const { headers } = await program.call("GET", `${env}/bundle`, { token: by })
  await ask("GET", `${env}/bundle`, { by, fields: [`If-None-Match: ${headers.get("etag")}`], why: "unchanged" })
  await ask("HEAD", `${env}/bundle`, { by, fields: ["If-None-Match: *"] })
  await ask("POST", `${envs}/staging/copy`, { by, body: { from: "dev", keys: ["ANOTHER"] } })
  await ask("GET", `${env}/diff?with=staging`, { by })
  const url = `${env}/secrets/URL`
  await ask("PUT", url, { by, body: { value: "x://${NONE}", kind: "reference" } })
  await ask("PUT", url, { by, body: { value: "x://${ANOTHER", kind: "reference" } })
  await ask("PUT", url, { by, body: { value: "x://${ANOTHER}", kind: "reference" } })
  await ask("GET", url, { by })
  await ask("GET", `${url}?raw=1`, { by })
  await ask("GET", `${url}?raw=yes`, { by })
  await ask("GET", `${url}/references`, { by })
  await ask("GET", `${env}/secrets/ANOTHER/references`, { by })
  await ask("DELETE", `${env}/secrets/ANOTHER`, { by })
  await ask("DELETE", `${env}/secrets/ANOTHER?force=1`, { by })
  await ask("GET", `${env}/bundle?keys=URL`, { by })
  await ask("GET", `${env}/bundle?keys=URL&format=object`, { by })
  await ask("DELETE", url, { by })
  await ask("POST", `${env}/secrets/ANOTHER/undelete`, { by })
  await ask("GET", `${org}/projects/webshop/matrix`, { by })
  await ask("GET", `${org}/projects/webshop/matrix?envs=staging`, { by })
  await ask("GET", `${org}/projects/webshop/matrix?envs=staging,nowhere`, { by })
  await ask("GET", `${org}/projects/webshop/matrix?envs=staging&format=compact`, { by })
  await ask("GET", `${env}/revisions`, { by })
  await ask("GET", `${env}/revisions?limit=1`, { by })
  await ask("POST", `${env}/revert`, { by, body: { to: 1, dry_run: true }, why: "a version is destroyed" })
  await ask("POST", `${env}/revert`, { by, body: { to: 0, dry_run: true } })
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`KEY_${1000 + index}`, "v".repeat(500)]))
  await ask("PATCH", `${envs}/prod/bundle`, { by, body: { set: many } })
  await ask("GET", `${envs}/prod/bundle?keys=${Object.keys(many).slice(0, 3).join(",")}`, { by })
  await ask("GET", `${envs}/prod/diff?with=staging`, { by })
  await ask("GET", `${envs}/prod/bundle`, { by, opaque: true, why: "a large answer" })

  const declared = `${org}/projects/webshop/declared`
  await ask("PUT", `${declared}/PORT`, { by, body: { required_in: ["prod"], pattern: "[0-9]+", example: "8080" } })
  await ask("PUT", `${declared}/PORT`, { by, body: { pattern: "(" }, why: "no regular expression" })
  await ask("PUT", `${declared}/PORT`, { by, body: { pattern: "[0-9]+", example: "x" }, why: "another form" })
  await ask("GET", declared, { by })
  await ask("GET", declared, { by: dev })
  await ask("GET", `${declared}/PORT`, { by })
  await ask("GET", `${declared}/PORT`, { by: dev })
  await ask("PUT", `${declared}/PORT`, { by: dev, body: {} })
  await ask("GET", `${env}/check`, { by })
  await ask("PUT", `${env}/secrets/PORT`, { by, body: { value: "many" }, why: "it breaks the pattern" })
  await ask("PATCH", `${org}/projects/webshop`, { by, body: { strict: true } })
  await ask("PUT", `${env}/secrets/PORT`, { by, body: { value: "more" }, why: "the project is strict" })
  await ask("PATCH", `${org}/projects/webshop`, { by, body: { strict: false } })
  await ask("PATCH", `${org}/projects/webshop`, { by, body: {}, why: "nothing to change" })
  await ask("DELETE", `${declared}/PORT`, { by })
  await ask("DELETE", `${declared}/PORT`, { by, why: "it is removed" })

  recorder.part("Rights")
  await ask("GET", secret, { by: dev })
  await ask("GET", `${env}/secrets/OTHER`, { by: dev })
  await ask("PUT", secret, { by: dev, body: { value: 1 } })
  await ask("GET", `${org}/projects/nowhere/envs/dev/secrets`, { by: dev })
  await ask("GET", `${envs}/nowhere/secrets`, { by: dev })
  await ask("PUT", secret, { ...outsider, raw: "no json" })
  await ask("GET", "/api/audit-logs", { by })
  await ask("POST", "/api/backups", { by })
  const patterns = { project_pattern: "*", env_pattern: "dev", permission: "read" }
  const rule = { subject_type: "user", email: "dev@example.com", ...patterns }
  const granted = await ask("POST", `${org}/acl`, { by, body: rule })
  await ask("POST", `${org}/acl`, { by, body: { ...rule, permission: "write" }, why: "the same rule again" })
  await ask("GET", `${org}/acl`, { by })
  await ask("GET", `${org}/acl/explain?subject_type=user&email=dev@example.com&project=webshop&env=dev`, { by })
  await ask("GET", `${org}/access?subject=dev@example.com&limit=2`, { by })
  await ask("GET", `${org}/access?subject=dev`, { by })
  await ask("GET", `${org}/projects/webshop/envs/dev/access?permission=admin`, { by })
  await ask("GET", `${org}/projects/webshop/envs/dev/access?after=x`, { by })
  await ask("POST", `${org}/projects/webshop/envs/dev/access/reviews`, { by, body: { note: "Q4" } })
  await ask("POST", `${org}/projects/webshop/envs/dev/access/reviews`, { by, body: { note: "" } })
  await ask("GET", `${org}/projects/webshop/envs/dev/access`, { by: dev })
  await ask("GET", secret, { by: dev })
  await ask("DELETE", `${org}/acl/${granted.id}`, { by })
  await ask("DELETE", `${org}/acl/${granted.id}`, { by, why: "it is removed" })
  await ask("POST", `${org}/acl`, { by, body: { ...rule, expires_at: "2020-01-01" }, why: "it has passed" })
  await ask("POST", `${org}/acl`, { by, body: { ...rule, expires_at: "tomorrow" }, why: "no time" })
  const group = `${org}/groups/back%20end`
  await ask("POST", `${org}/groups`, { by, body: { name: " back end " } })
  await ask("POST", `${org}/groups`, { by, body: { name: "Back end" }, why: "a name that is in use" })
  await ask("POST", `${org}/groups`, { by: dev, body: { name: "mine" } })
  await ask("GET", `${org}/groups`, { by })
  await ask("GET", group, { by: dev })
  await ask("POST", `${group}/members`, { by, body: { email: "dev@example.com" } })
  await ask("POST", `${group}/members`, { by, body: { email: "dev@example.com" }, why: "the same again" })
  await ask("POST", `${group}/members`, { by, body: { email: "nobody@example.com" } })
  await ask("PUT", `${group}/members`, { by, body: { emails: ["dev@example.com", "nobody@example.com"] } })
  await ask("PUT", `${group}/members`, { by, body: { emails: [] } })
  await ask("PUT", `${group}/members`, { by, body: { emails: ["dev@example.com"] } })
  const [inGroup] = (await ask("GET", `${group}/members`, { by })).data
  await ask("POST", `${org}/acl`, { by, body: { subject_type: "group", group: "back end", ...patterns } })
  await ask("POST", `${org}/acl`, { by, body: { subject_type: "group", group: "nobody", ...patterns } })
  await ask("GET", `${org}/acl`, { by })
  await ask("GET", secret, { by: dev })
  await ask("GET", `${org}/acl/explain?subject_type=user&email=dev@example.com&project=webshop&env=dev`, { by })
  await ask("GET", `${org}/access?subject=dev@example.com&limit=1`, { by })
  const mappings = `${org}/group-mappings`
  await ask("PUT", mappings, { by, body: { mappings: [{ provider_group: "eng", group: "back end" }] } })
  await ask("PUT", mappings, { by, body: { mappings: [{ provider_group: "eng", group: "nobody" }] } })
  await ask("PUT", mappings, { by, body: { mappings: [{ provider_group: "", group: "back end" }] } })
  await ask("GET", mappings, { by })
  await ask("GET", mappings, { by: dev })
  await ask("GET", group, { by })
  await ask("PATCH", group, { by, body: { name: "frontend" } })
  await ask("GET", group, { by, why: "it is renamed" })
  await ask("DELETE", `${org}/groups/frontend/members/${inGroup.user_id}`, { by })
  await ask("DELETE", `${org}/groups/frontend/members/${inGroup.user_id}`, { by, why: "it is removed" })
  await ask("DELETE", `${org}/groups/frontend`, { by })
  await ask("DELETE", `${org}/groups/frontend`, { by, why: "it is removed" })
  const scim = `${org}/scim`
  await ask("GET", scim, { by: dev })
  await ask("POST", `${scim}/rotate`, { by, why: "no directory has a token" })
  await ask("POST", scim, { by: dev })
  await ask("POST", scim, { by })
  await ask("POST", scim, { by, why: "a directory has one" })
  await ask("POST", `${scim}/rotate`, { by })
  await ask("GET", scim, { by })
  await ask("DELETE", scim, { by })
  const account = await ask("POST", `${org}/service-accounts`, { by, body: { name: "ci", expires_in_days: 3 } })
  await ask("GET", `${org}/service-accounts`, { by })
  await ask("GET", "/api/auth/me", { key: account.api_key })
  await ask("DELETE", "/api/auth/logout", { key: account.api_key })
  await ask("GET", secret, { key: account.api_key })
  const own = `${org}/service-accounts/${account.id}`
  await ask("PATCH", own, { by, body: { allowed_networks: null } })
  await ask("PATCH", own, { by, body: { allowed_networks: ["10.20.0.0/16"] }, why: "the proxies are unknown" })
  await ask("PATCH", own, { by, body: { allowed_networks: [] }, why: "no network" })
  const rotate = `${org}/service-accounts/${account.id}/rotate`
  const rotated = await ask("POST", rotate, { by, body: {} })
  await ask("GET", "/api/auth/me", { key: account.api_key, why: "a key that was rotated" })
  await ask("GET", "/api/auth/me", { key: account.api_key, by, why: "a key outweighs a session" })
  await ask("GET", "/api/auth/me", { key: rotated.api_key, by: "nonsense" })
  await ask("POST", rotate, { by, why: "an empty body" })
  const useRules = `${secret}/use-rules`
  const useRule = { ...useRuleBody, accounts: ["ci"] }
  const { id: useRuleId } = await ask("POST", useRules, { by, body: useRule })
  await ask("POST", useRules, { by, body: { ...useRule, hosts: ["*.example.com"] }, why: "a wildcard" })
  await ask("POST", useRules, { by, body: { ...useRule, place: { in: "body" } }, why: "no such place" })
  await ask("POST", useRules, { by, body: { ...useRule, accounts: ["nobody"] }, why: "no such account" })
  await ask("GET", useRules, { by })
  await ask("GET", useRules, { by: dev })
  await ask("PATCH", `${useRules}/${useRuleId}`, { by, body: { per_minute: 5, approval: "each" } })
  await ask("DELETE", `${useRules}/${useRuleId}`, { by })
  await ask("DELETE", `${useRules}/${useRuleId}`, { by, why: "it is removed" })
  const targets = `${env}/targets`
  const target = targetBody("bao", "API_KEY")
  await ask("POST", targets, { by, body: target })
  await ask("POST", targets, { by, body: target, why: "the name is in use" })
  await ask("POST", targets, { by, body: { ...target, name: "other", place: {} }, why: "no place" })
  await ask("POST", targets, { by, body: { ...target, kind: "ftp" }, why: "no such kind" })
  await ask("GET", targets, { by })
  await ask("GET", targets, { by: dev })
  await ask("GET", `${targets}/bao`, { by })
  await ask("PATCH", `${targets}/bao`, { by, body: { paused: true } })
  await ask("PATCH", `${targets}/bao`, { by, body: { automatic: "always" }, why: "no such automation" })
  await ask("POST", `${targets}/bao/plan`, { by, body: {}, why: "the platform has no address" })
  await ask("POST", `${targets}/bao/check`, { by, why: "the platform has no address" })
  await ask("POST", `${targets}/bao/push`, { by, body: { plan: "x" }, why: "the platform has no address" })
  await ask("DELETE", `${targets}/bao`, { by })
  await ask("DELETE", `${targets}/bao`, { by, why: "it is removed" })
  await ask("GET", `${env}/uses`, { by })
  const request = { method: "GET", url: "https://api.invalid/v1/x", secrets: ["API_KEY"] }
  await ask("POST", `${env}/use`, { by, body: request, why: "it is not switched on" })
  await ask("POST", `${env}/use`, { by, body: { ...request, url: "ftp://x" } })
  await ask("GET", `${org}/approvals`, { by })
  const approval = `${org}/approvals/0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e`
  await ask("POST", `${approval}/approve`, { by, why: "there is none" })
  await ask("POST", `${approval}/refuse`, { by, why: "there is none" })
  const protection = `${env}/protection`
  await ask("GET", protection, { by, why: "there is none" })
  await ask("PUT", protection, { by, body: { needed: 3, approvers: "owners" }, why: "too few people" })
  await ask("DELETE", protection, { by, why: "there is none" })
  const requests = `${org}/requests`
  await ask("GET", `${requests}?state=pending&kind=access`, { by })
  const access = { kind: "access", project: "webshop", env: "prod", permission: "read", expires_in: 60, reason: "x" }
  await ask("POST", requests, { by, body: access, why: "the owner has it" })
  const noRequest = `${requests}/0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e`
  await ask("GET", noRequest, { by, why: "there is none" })
  await ask("GET", `${noRequest}/values`, { by, why: "there is none" })
  for (const word of ["approve", "refuse", "withdraw"]) {
    await ask("POST", `${noRequest}/${word}`, { by, why: "there is none" })
  }
  const prod = `${envs}/prod`
  const prefer = ["Prefer: respond-async"]
  const terms = { needed: 1, approvers: "owners", self: true, break_glass: ["ada@example.com"] }
  await ask("PUT", `${prod}/protection`, { by, body: terms })
  await ask("GET", `${prod}/protection`, { by: dev })
  const old = { by, body: terms, fields: ['If-Match: "Zk3n0fQxk8vR7yB2mJtW5cLsEaH"'] }
  await ask("PUT", `${prod}/protection`, { ...old, why: "somebody else was faster" })
  await ask("PUT", `${prod}/secrets/ASKED`, { by, body: { value: "asked" }, why: "it needs votes" })
  const asking = async (key: string) =>
    (await ask("PUT", `${prod}/secrets/${key}`, { by, body: { value: "asked" }, fields: prefer })).id
  const [made, refused, withdrawn] = [await asking("MADE"), await asking("REFUSED"), await asking("WITHDRAWN")]
  await ask("GET", `${requests}/${made}`, { by })
  await ask("GET", `${requests}/${made}/values`, { by })
  await ask("POST", `${requests}/${made}/approve`, { by })
  await ask("POST", `${requests}/${refused}/refuse`, { by, body: { comment: "not before the release" } })
  await ask("POST", `${requests}/${withdrawn}/withdraw`, { by })
  await ask("GET", `${requests}?limit=2`, { by })
  await ask("POST", requests, { by: dev, body: access })
  const glass = ["X-Coffer-Break-Glass: INC-12"]
  await ask("DELETE", `${prod}/protection`, { by, fields: glass })
  const previews = `${project}/previews`
  await ask("GET", previews, { by, why: "it allows none" })
  await ask("PUT", previews, { by, body: { from: "prod", pattern: "pr-*", max: 51 } })
  await ask("PUT", previews, { by, body: { from: "prod", pattern: "pr-*" } })
  await ask("GET", previews, { by: dev })
  await ask("POST", envs, { by, body: { name: "pr-1", from: "prod", expires_at: inDays(7) } })
  await ask("POST", envs, { by, body: { name: "pr-2", keys: ["API_KEY"] }, why: "keys of no environment" })
  await ask("POST", envs, { by, body: { name: "pr-2", expires_at: "2001-01-31" }, why: "an end that has passed" })
  await ask("PATCH", `${envs}/pr-1`, { by, body: { expires_at: inDays(14) } })
  await ask("PUT", `${envs}/pr-1/protection`, { by, body: terms, why: "it ends" })
  await ask("DELETE", `${envs}/pr-1`, { by })
  await ask("DELETE", previews, { by })
  await ask("DELETE", previews, { by, why: "it allows none" })
  const connections = `${prod}/connections`
  await ask("POST", connections, { by, body: connectionBody })
  await ask("POST", connections, { by, body: connectionBody, why: "a name that is in use" })
  await ask("POST", connections, { by, body: { ...connectionBody, name: "own", host: "127.0.0.1" }, why: "not listed" })
  await ask("GET", connections, { by })
  await ask("POST", `${connections}/shop-db/test`, { by })
  await ask("POST", `${connections}/other/test`, { by, why: "there is none" })
  const rotations = `${prod}/rotations`
  await ask("POST", rotations, { by, body: rotationBody })
  await ask("POST", rotations, { by, body: { ...rotationBody, writes: { A: "{user}" } }, why: "no password" })
  await ask("GET", rotations, { by })
  await ask("PATCH", `${rotations}/shop-app`, { by, body: { every: "7d", paused: true } })
  await ask("POST", `${rotations}/shop-app/run`, { by, why: "it is paused" })
  await ask("DELETE", `${connections}/shop-db`, { by, why: "a rotation uses it" })
  await ask("DELETE", `${rotations}/shop-app`, { by })
  await ask("POST", rotations, { by, body: { ...rotationBody, name: "far-away", every: "365d" } })
  await ask("GET", `${rotations}/far-away`, { by })
  await ask("POST", `${rotations}/far-away/run`, { by })
  // Its failure has an entry in the log, which is counted below.
  const isTried = async () => {
    const { body } = await program.call("GET", `${rotations}/far-away`, { token: by })
    return body.problem !== null
  }
  while (!(await isTried())) await sleep(100)
  await ask("DELETE", `${rotations}/far-away`, { by })
  const roles = `${prod}/roles`
  const noLease = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce"
  await ask("POST", roles, { by, body: roleBody })
  await ask("POST", roles, { by, body: { ...roleBody, create: ["CREATE ROLE {{name}}"] }, why: "no password" })
  await ask("GET", roles, { by })
  await ask("GET", `${roles}/app-role`, { by })
  await ask("DELETE", `${connections}/shop-db`, { by, why: "a role uses it" })
  await ask("POST", `${roles}/app-role/leases`, { by, body: {}, why: "the database is nowhere" })
  await ask("GET", `${prod}/leases`, { by })
  await ask("POST", `${prod}/leases/${noLease}/renew`, { by, body: {}, why: "there is none" })
  await ask("DELETE", `${prod}/leases/${noLease}`, { by, why: "there is none" })
  await ask("DELETE", `${roles}/app-role`, { by })
  await ask("DELETE", `${connections}/shop-db`, { by })
  const federations = `${org}/service-accounts/${account.id}/federations`
  const federation = { name: "gitlab", ...federationBody, expires_at: "2100-01-01T00:00:00Z" }
  const { id: federationId } = await ask("POST", federations, { by, body: federation })
  await ask("POST", federations, { by, body: federation, why: "a name that is in use" })
  await ask("POST", federations, { by, body: { ...federation, conditions: { "/ref": "main" } }, why: "no id" })
  await ask("POST", federations, { by, body: { ...federation, issuer: "https://evil.example" }, why: "not listed" })
  const signer = await Signer.make()
  const cluster = await program.call("POST", federations, { token: by, body: clusterFederation(signer) })
  await ask("GET", federations, { by })
  await ask("GET", federations, { by: dev })
  const pod = podClaims(cluster.body.audience, Math.floor(Date.now() / 1000))
  const exchange = { token: await signer.sign(pod), account: "acme/ci" }
  const { token: machine } = await ask("POST", "/api/auth/federate", { body: exchange })
  await ask("GET", "/api/auth/me", { by: machine })
  await ask("DELETE", "/api/auth/logout", { by: machine })
  await ask("GET", "/api/auth/me", { by: machine, why: "the session has ended" })
  const elsewhere = { ...pod, aud: "coffer:coffer.example.com/acme/other" }
  await ask("POST", "/api/auth/federate", { body: { ...exchange, token: await signer.sign(elsewhere) } })
  const webhooks = `${org}/webhooks`
  const webhook = { url: "https://hooks.invalid/token", events: ["federation.*", "key.none"] }
  await ask("POST", webhooks, { by, body: webhook })
  await ask("POST", webhooks, { by, body: { ...webhook, events: ["acl.*"], url: "http://hooks.invalid" } })
  await ask("POST", webhooks, { by, body: { ...webhook, events: ["acl.*"], environments: ["a/b/c"] } })
  const { id: webhookId } = await ask("POST", webhooks, { by, body: { ...webhook, events: ["acl.grant"] } })
  await ask("GET", webhooks, { by })
  await ask("GET", webhooks, { by: dev })
  await ask("GET", `${webhooks}/${webhookId}`, { by })
  await ask("GET", `${webhooks}/${absent}`, { by })
  await ask("PATCH", `${webhooks}/${webhookId}`, { by, body: { environments: ["prod", "web/*"], enabled: false } })
  await ask("PATCH", `${webhooks}/${webhookId}`, { by, body: { enabled: true, skip: true } })
  await ask("POST", `${webhooks}/${webhookId}/rotate-key`, { by, body: { grace_seconds: 0 } })
  const { id: deliveryId } = await ask("POST", `${webhooks}/${webhookId}/test`, { by })
  await ask("GET", `${webhooks}/${webhookId}/deliveries`, { by, opaque: true })
  await ask("GET", `${webhooks}/${webhookId}/deliveries?after=d${absent}`, { by })
  await ask("POST", `${webhooks}/${webhookId}/deliveries/${deliveryId}/send`, { by })
  await ask("POST", `${webhooks}/${webhookId}/deliveries/${absent}/send`, { by })
  for (let times = 0; times < 10; times++) await ask("POST", `${webhooks}/${webhookId}/test`, { by })
  await ask("DELETE", `${webhooks}/${webhookId}`, { by })
  await ask("DELETE", `${webhooks}/${webhookId}`, { by, why: "it is removed" })
  const tried = await signer.sign({ ...pod, aud: "coffer:coffer.example.com/acme/other" })
  await ask("POST", `${federations}/try`, { by, body: { token: tried }, opaque: true })
  await ask("POST", `${federations}/try`, { by, body: { token: "e30.e30.e30" } })
  await ask("POST", `${federations}/try`, { by: dev, body: { token: "e30.e30.e30" } })
  await ask("DELETE", `${federations}/${federationId}`, { by })
  await ask("DELETE", `${federations}/${federationId}`, { by, why: "it is removed" })
  await ask("POST", "/api/auth/federate", { body: { token: "e30.e30.e30", account: "acme/ci" } })
  await ask("POST", "/api/auth/federate", { body: { token: "e30.e30.e30", account: "acme" } })
  await ask("DELETE", `${org}/service-accounts/${account.id}`, { by })
  await ask("DELETE", `${org}/members/${other}`, { by })
  await ask("DELETE", `${org}/members/me`, { by, why: "the last owner" })
  await ask("DELETE", `${org}/members/me`, outsider)
  await ask("POST", `${org}/members`, { by, body: { email: "dev@example.com", role: "developer" } })
  await ask("DELETE", `${org}/members/me`, { by: dev })

  recorder.part("Audit logs, people and backups")
  await ask("GET", `${org}/audit-logs?limit=2`, { by })
  await ask("GET", `${org}/audit-logs?action=org.create`, { by })
  await ask("GET", `${org}/audit-logs?action=org.creat`, { by })
  await ask("GET", `${org}/audit-logs/verify`, { by })
  await ask("GET", `${org}/audit-logs/activity?since=2000-01-01&until=2100-01-01&spans=1`, { by })
  await ask("GET", "/api/audit-logs?limit=1&action=auth.verify", { by: root })
  await ask("GET", "/api/audit-logs/verify", { by: root })
  await ask("GET", "/api/users?email=dev", { by: root })
  await ask("POST", `/api/users/${other}/disable`, { by: root })
  await ask("POST", `/api/users/${other}/enable`, { by: root })
  await ask("POST", `/api/users/${other}/end-sessions`, { by: root })
  await ask("POST", `/api/users/${absent}/enable`, { by: root })
  const backup = await ask("POST", "/api/backups", { by: root })
  await ask("GET", "/api/backups", { by: root })
  await ask("POST", `/api/backups/${backup.id}/restore`, { by: root })
  await ask("POST", `/api/backups/${absent}/restore`, { by: root })
  await ask("POST", "/api/backups/drill", { by: root, body: {} })

  recorder.part("Exports and imports")
  const moving = "/api/orgs/moving"
  const setUp = (method: string, path: string, body: unknown) => program.call(method, path, { token: by, body })
  await setUp("POST", "/api/orgs", { name: "moving" })
  await setUp("POST", `${moving}/projects`, { name: "webshop" })
  await setUp("PUT", `${moving}/projects/webshop/envs/dev/secrets/API_KEY`, { value: "one" })
  const { id: exportId } = await ask("POST", `${moving}/exports`, { by, body: { versions: true } })
  const exported = `${moving}/exports/${exportId}`
  await ask("GET", `${moving}/exports`, { by })
  await ask("GET", exported, { by })
  await ask("POST", `${exported}/approve`, { by })
  await ask("GET", `${exported}/structure`, { by })
  await ask("GET", `${exported}/declared?project=webshop`, { by })
  const page = await ask("GET", `${exported}/secrets?project=webshop&env=dev`, { by })
  await ask("GET", `${exported}/secrets?project=webshop&env=dev&after=x`, { by })
  await ask("GET", `${exported}/structure`, { by: root, why: "only who asked reads it" })
  await ask("DELETE", exported, { by })
  const structure = { projects: { name: "webshop", strict: false, environments: [{ name: "dev" }] } }
  const bringing = { name: "moved", organization: JSON.stringify(structure) }
  await ask("POST", "/api/imports", { by, body: { ...bringing, organization: "one line" } })
  const { id: importId } = await ask("POST", "/api/imports", { by, body: bringing })
  const importing = `/api/imports/${importId}`
  const place = { project: "webshop", env: "dev" }
  await ask("PUT", `${importing}/declared`, { by, body: { project: "webshop", data: [{ key: "API_KEY" }] } })
  await ask("PUT", `${importing}/secrets`, { by, body: { ...place, data: page.data } })
  await ask("PUT", `${importing}/secrets`, { ...outsider, body: { ...place, data: page.data } })
  const sent = { projects: 1, environments: 1, secrets: 1, versions: 1, use_rules: 0, declared: 1 }
  await ask("POST", `${importing}/finish`, { by, body: { counts: { ...sent, declared: 2 } } })
  await ask("POST", `${importing}/finish`, { by, body: { counts: sent } })
  const { id: spare } = (await setUp("POST", "/api/imports", { ...bringing, name: "spare" })).body
  await ask("DELETE", `/api/imports/${spare}`, { by })

  recorder.part("Paths and methods")
  for (const path of [
    ...["/", "/nowhere", "/HEALTH", "/API/orgs", "/health/", "/api//orgs", "//health", "/health;a", "/health#a"],
    ...["/health/../health", "/api/orgs/%zz", "/api/orgs/%ff%fe", `/api/orgs/${"a".repeat(1001)}`]
  ]) {
    await ask("GET", path, { by })
  }
  await ask("HEAD", "/nowhere", { by })
  await ask("OPTIONS", "*")
  await ask("GET", "/%68ealth")
  await ask("GET", "http://elsewhere.test/health")
  const others = [
    ...["POST /health", "OPTIONS /health", "TRACE /health", "PROPFIND /health", "GET /api/auth/login"],
    ...["HEAD /api/auth/login", "PUT /api/orgs", `POST ${secret}`, `POST ${org}/acl/explain`],
    ...[`PUT ${org}/audit-logs/verify`, "OPTIONS /nowhere"]
  ]
  for (const call of others) {
    const [method = "", path = ""] = call.split(" ")
    await ask(method, path, { raw: method === "POST" ? "x" : "" })
  }

  recorder.part("Requests that are refused")
  await ask("GET", "/api/auth/me")
  await ask("GET", "/api/auth/me", { by: "svc_st_nonsense" })
  await ask("GET", "/api/auth/me", { key: "" })
  await ask("GET", "/api/auth/me", { fields: ["Authorization: Basic YTpi"] })
  await ask("PUT", `${org}/projects/-/envs/dev/secrets/K?x=1`, { raw: "no json" })
  await ask("GET", "/api/orgs/ACME", { by })
  await ask("GET", "/api/orgs/acme%2Fx", { by })
  await ask("GET", `${secret}x%20`, { by })
  await ask("GET", `${secret}?version=x`, { by })
  await ask("GET", `${secret}?version=1&version=2`, { by })
  await ask("GET", `${secret}?verison=1`, { by })
  await ask("GET", `${org}/projects/-/envs/dev/bundle?keys=a b&x=1`.replace(" ", "%20"), { by })
  await ask("GET", `${org}/projects/-/envs/dev/bundle?keys=a%20b`, { by })
  await ask("GET", `${env}/bundle?keys=a%20b`, { by })
  await ask("GET", `${env}/diff`, { by })
  await ask("GET", `${org}/audit-logs/verify?seq=3`, { by })
  await ask("GET", `${org}/acl/explain?subject_type=user&project=webshop&env=dev`, { by })
  await ask("PUT", `${secret}?x=1`, { by, raw: "no json", fields: [json] })
  await ask("PUT", `${org}/projects/nowhere/envs/dev/secrets/K`, { by, raw: "no json", fields: [json] })
  for (const raw of ["no json", '{"value":"x"', "null", "[]", '"x"', "{}", '{"value":1}', '{"value":"x","more":1}']) {
    await ask("PUT", secret, { by, raw, fields: [json] })
  }
  await ask("PUT", secret, { by, raw: '{"value":"\\ud800"}', fields: [json] })
  await ask("PUT", secret, { by, raw: `{"value":${"[".repeat(40)}1${"]".repeat(40)}}`, fields: [json] })
  await ask("PUT", secret, { by })
  await ask("PUT", secret, { by, fields: ["Content-Length: 0", "Content-Type: text/plain"] })
  await ask("PUT", secret, { by, body: { value: "x".repeat(65_537) } })
  await ask("PATCH", `${env}/bundle`, { by, body: { set: { "a b": "x" } } })
  await ask("PATCH", `${env}/bundle`, { by, body: { set: { A: 1 } } })
  await ask("POST", `${org}/acl`, { by, body: { ...rule, permission: "all" } })
  await ask("POST", "/api/orgs", { by, body: { name: "A" } })
  await ask("POST", "/api/auth/login", { body: { email: "nobody" } })
  await ask("POST", "/api/auth/login?email=x", { body: { email: "ada@example.com" } })
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "a/b"]) {
    await ask("PUT", secret, { by, raw: '{"value":"x"}', fields: [`Content-Type: ${type}`] })
  }
  await ask("PUT", secret, { by, raw: '{"value":"x"}', why: "no type" })
  await ask("PUT", secret, { by, raw: '{"value":"x"}', fields: [json, "Content-Encoding: gzip"] })
  await ask("PUT", secret, { by, raw: '{"value":"x"}', fields: ['Content-Type: Application/JSON;charset="UTF-8"'] })
  await ask("PUT", secret, { by, fields: [json, "Content-Length: 99999999"], why: "too large, as announced" })
  await ask("POST", "/api/auth/login", {
    raw: `2100\r\n${" ".repeat(0x2100)}\r\n0\r\n\r\n`,
    fields: [json, "Transfer-Encoding: chunked"],
    why: "too large, as it streams in"
  })
  await ask("DELETE", `${env}/secrets/NONE`, { by, raw: "a body that nobody reads" })
  await ask("GET", "/api/auth/me", { by, fields: [`Authorization: Bearer ${by}`] })
  await ask("GET", "/api/auth/me", { fields: ["X-API-Key: a", "X-API-Key: b"] })
  await ask("GET", "/health", { fields: ["Host: again"] })
  await ask("GET", "/health", { fields: ["Expect: foo"] })
  await ask("GET", "/health", { fields: [`X-A: ${"a".repeat(20_000)}`] })
  await ask("GET", "/health", { fields: ["X-Request-Id: a sane one? no"] })
  await ask("GET", "/health", { fields: ["X-Request-Id: sane.1"] })
  await ask("GET", "/nowhere", { fields: ["X-Request-Id: sane.2"] })
  await ask("GET", "/api/auth/me", { by, fields: ["Set-Cookie: a=b", "Origin: https://app.example.com"] })
  await ask("CONNECT", "example.com:443")
  await ask("GET", "health")

  recorder.part("Defects")
  const heal = await refusingIn(program, { table: "secret_versions" })
  await ask("PUT", secret, { by, body: { value: "x" }, fields: ["X-Request-Id: r1"] })
  await heal()

  recorder.part("Removals")
  await ask("DELETE", project, { by })
  await ask("DELETE", project, { by })
  const [removedProject] = (await ask("GET", `${org}/trash`, { by })).data
  await ask("POST", `${org}/trash/${removedProject.id}/restore`, { by, body: {} })
  await ask("POST", `${org}/trash/${absent}/restore`, { by, body: {}, why: "there is none" })
  await ask("DELETE", project, { by })
  await ask("POST", `${org}/trash/${removedProject.id}/erase`, { by, body: { name: "webshop" } })
  await ask("DELETE", org, { by })
  await ask("GET", org, { by })
  const [removedOrg] = (await ask("GET", "/api/trash", { by })).data
  await ask("POST", "/api/orgs", { by: outsider.by, body: { name: "acme" }, why: "the name is kept" })
  await ask("POST", `/api/trash/${removedOrg.id}/restore`, { by: outsider.by, body: {}, why: "somebody else's" })
  await ask("POST", `/api/trash/${removedOrg.id}/restore`, { by, body: {} })
  await ask("DELETE", org, { by })
  await ask("POST", `/api/trash/${removedOrg.id}/erase`, { by, body: { name: "acme" } })
  return recorder
}

/** Records a server's answers to browsers of an origin that its settings allow. The server has no backups. */
const browsers = async (program: Program): Promise<Recorder> => {
  const recorder = new Recorder(program)
  const ask = recorder.ask.bind(recorder)
  recorder.part("A server with allowed origins and no backups")
  const origin = ["Origin: https://app.example.com", "Access-Control-Request-Method: PUT"]
  const by = await program.login("root@example.com")
  await ask("OPTIONS", secret, { fields: origin })
  await ask("OPTIONS", secret)
  await ask("OPTIONS", secret, { fields: ["Origin: https://other.example.com"] })
  await ask("GET", "/health", { fields: origin })
  await ask("GET", "/health", { fields: ["Origin: https://other.example.com"] })
  await ask("GET", "/api/auth/me", { fields: origin })
  await ask("GET", "/nowhere", { fields: origin })
  await ask("GET", "/health//", { fields: origin })
  await ask("POST", "/api/backups", { by, fields: origin })
  await ask("GET", "/api/backups", { by })
  return recorder
}

/** On PostgreSQL a destroyed version is erased later: the one difference of the engines. */
const withErased = (answers: string): string =>
  answers.replace(/content-length: 147( \| content-type: \S+\n.*"erased":)"pending"/, 'content-length: 143$1"now"')

it("answers as the release before it, to the byte but for ids and times", { timeout: 120_000 }, async () => {
  const variables = {
    SUPERADMIN_EMAIL_0: "root@example.com",
    SERVICE_AUDIT_REQUIRED: "1",
    // The names of its files change with every build.
    SERVICE_CONSOLE: "0",
    SERVICE_PUBLIC_URL: "http://127.0.0.1:7100"
  }
  const directory = mkdtempSync(join(tmpdir(), "coffer-answers-"))
  const program = await Program.start({
    ...variables,
    BACKUP_DIR: directory,
    SERVICE_PUBLIC_URL: publicUrl,
    SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
    SERVICE_SCIM_DOMAINS: "example.com"
  })
  const recorded = await calls(program)
  // As the router does, the path with the fewest parameters comes first.
  const byParameters = endpoints.toSorted((one, other) => one.path.split(":").length - other.path.split(":").length)
  const made = new Set(
    recorded.succeeded.map((call) => byParameters.find(({ method, path }) => shapeOf(method, path).test(call))?.call)
  )
  assert.deepStrictEqual(
    endpoints
      .filter(({ path }) => !needsOtherSide.test(path))
      .map(({ call }) => call)
      .filter((call) => !made.has(call)),
    []
  )
  await program.remove()
  const other = await Program.start({ ...variables, CORS_ALLOWED_ORIGINS: "https://app.example.com" })
  const { text } = await browsers(other)
  await other.remove()
  const answers = recorded.text + text
  await expect(isOnPostgres() ? withErased(answers) : answers).toMatchFileSnapshot("answers.txt")
})

const shapeOf = (method: string, path: string): RegExp =>
  new RegExp(`^${method} ${path.replace(/\./g, "\\.").replace(/:[a-z_]+/g, "[^/]+")}$`)
