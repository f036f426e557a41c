import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import {
  type About,
  askOf,
  type Endpoint,
  federationBody,
  type Place,
  queryOf,
  requestOf,
  termsOf,
  connectionBody,
  targetBody,
  roleBody,
  rotationBody,
  useRuleBody,
  webhookBody,
  removedName
} from "../authorization/Contract.js"
import { freshSettings } from "../backups/Endpoint.js"
import { clusterFederation, podClaims, Signer } from "../federations/Signer.js"
import { Receiver } from "../observability/Receiver.js"
import { type Answer, freshFolder, masterKey, Program } from "../support/Program.js"
import { approvedDevice, tokenFor } from "../support/ProgramLogins.js"
import { passkeysOf, type SoftAuthenticator } from "../support/SoftAuthenticator.js"
import { mark } from "./Marks.js"
import { Post } from "./Post.js"

const origin = "http://localhost:7100"

/** Words that are to be looked for, each in all that is one kind. */
export interface Marks {
  /** In every value that is set. */
  readonly value: string
  /** In whatever a call does not take. */
  readonly bad: string
  readonly email: string
  /** In keys of secrets: these have a right to stand in the database and the audit trail. */
  readonly key: string
  /** In names of organizations, projects and environments: these too. */
  readonly name: string
}

/** A server with everything switched on, and what goes in and comes out of it. */
export class World {
  readonly marks: Marks = {
    value: mark("value"),
    bad: mark("bad"),
    email: mark("email"),
    key: mark("key").toUpperCase(),
    name: mark("name")
  }
  /** The credentials that the server handed out: session tokens and API keys. */
  readonly tokens: Array<string> = []
  readonly #place: Record<string, string>
  #fresh = 0

  private constructor(
    readonly program: Program,
    readonly post: Post,
    readonly receiver: Receiver,
    readonly metrics: string,
    readonly prefix: string,
    readonly root: string
  ) {
    this.#place = { env_name: "dev", session_id: "", delegation_id: "", passkey_id: "", backup_id: "" }
  }

  static async start(format: "json" | "pretty"): Promise<World> {
    const folder = freshFolder()
    const [post, receiver] = await Promise.all([Post.open(), Receiver.start()])
    const backups = freshSettings()
    const root = `root-${mark("email")}@example.com`
    mkdirSync(join(folder, "tmp"))
    writeFileSync(join(folder, "master.key"), masterKey, { mode: 0o600 })
    const program = await Program.start(
      {
        ...backups,
        SERVICE_MASTER_KEY: undefined,
        SERVICE_MASTER_KEY_FILE: join(folder, "master.key"),
        SMTP_HOST: "127.0.0.1",
        SMTP_PORT: String(post.port),
        SMTP_FROM: "coffer@example.com",
        SUPERADMIN_EMAIL_0: root,
        SERVICE_PUBLIC_URL: origin,
        SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
        SERVICE_SCIM_DOMAINS: "example.com",
        SERVICE_LOG_FORMAT: format,
        SERVICE_LOG_LEVEL: "debug",
        SERVICE_METRICS_PORT: "0",
        SERVICE_AUDIT_STREAM: join(folder, "audit.jsonl"),
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        CORS_ALLOWED_ORIGINS: "https://app.example.com",
        TMPDIR: join(folder, "tmp")
      },
      folder
    )
    const [, metrics = ""] = await program.said(/metrics are at (\S+\/metrics)/)
    return new World(program, post, receiver, metrics, backups.BACKUP_S3_PREFIX, root)
  }

  /** An address that nobody has had. */
  address(): string {
    return `someone-${++this.#fresh}-${this.marks.email}@example.com`
  }

  async login(email: string, count = 1): Promise<string> {
    await this.program.call("POST", "/api/auth/login", { body: { email } })
    const answer = await this.program.verify(email, await this.post.code(email, count))
    assert.strictEqual(answer.status, 200, answer.text)
    this.#keep(answer)
    return answer.body.token
  }

  /** Logs a program in by device. Its codes are looked for as tokens are. */
  async approve(): Promise<void> {
    const codes = await approvedDevice(this.program, (email) => this.post.code(email, 1))
    this.tokens.push(codes.device_code, codes.user_code, codes.user_code.replace("-", ""))
    const answer = await tokenFor(this.program, { device_code: codes.device_code })
    assert.strictEqual(answer.status, 200, answer.text)
    this.#keep(answer)
  }

  /** Signs the account of `build` in with a token of a cluster. */
  async signIn(root: string): Promise<Answer> {
    const { org_name, sa_id } = this.place
    const signer = await Signer.make()
    const path = `/api/orgs/${org_name}/service-accounts/${sa_id}/federations`
    const made = await this.program.call("POST", path, { token: root, body: clusterFederation(signer) })
    assert.strictEqual(made.status, 201, made.text)
    const account = `${org_name}/ci`
    const token = await signer.sign(podClaims(made.body.audience, Math.floor(Date.now() / 1000)))
    const answer = await this.program.call("POST", "/api/auth/federate", { body: { token, account } })
    assert.strictEqual(answer.status, 200, answer.text)
    this.tokens.push(token)
    this.#keep(answer)
    return answer
  }

  /** Reviews or grants what a program asks for that has just registered. Its code is looked for as tokens are. */
  async consent(path: string, token: string): Promise<void> {
    const callback = "http://127.0.0.1:33418/callback"
    const registered = await this.program.call("POST", "/oauth/register", { body: { redirect_uris: [callback] } })
    const request = queryOf(origin, registered.body.client_id, callback)
    const body = path.endsWith("/review") ? { request } : { ...termsOf(this.place), request }
    const answer = await this.program.call("POST", path, { token, body })
    assert.isBelow(answer.status, 300, `POST ${path}: ${answer.text}`)
    const code = new URL(answer.body.continue_to ?? origin).searchParams.get("code")
    if (code !== null) this.tokens.push(code)
  }

  #passkeys(token: string) {
    return passkeysOf(async (method, path, body) => {
      const answer = await this.program.call(method, path, { token, body })
      assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
      if (typeof answer.body?.challenge === "string") this.tokens.push(answer.body.challenge)
      return answer.body
    }, origin)
  }

  /** Registers a passkey. Its challenge is looked for as tokens are. */
  async register(token: string, name: string) {
    return this.#passkeys(token).register(name)
  }

  async prove(token: string, device: SoftAuthenticator): Promise<void> {
    const body = await this.#passkeys(token).proof(device)
    const answer = await this.program.call("POST", "/api/auth/passkeys/verify", { token, body })
    assert.strictEqual(answer.status, 200, answer.text)
  }

  #keep({ body }: Answer): void {
    for (const token of [body?.token, body?.api_key, body?.signing_key])
      if (typeof token === "string") this.tokens.push(token)
  }

  /** Makes an organization with something of everything, owned by the holder of a token. */
  async build(token: string): Promise<void> {
    const { key, name, value } = this.marks
    const org = `o-${name}`.slice(0, 50)
    const make = async (method: string, path: string, body?: object) => {
      const answer = await this.program.call(method, path, { token, body })
      assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
      this.#keep(answer)
      return answer.body
    }
    await make("POST", "/api/orgs", { name: org })
    const at = `/api/orgs/${org}`
    const project = `p-${name}`.slice(0, 50)
    await make("POST", `${at}/projects`, { name: project })
    for (const env of ["dev", "staging"]) {
      const secrets = `${at}/projects/${project}/envs/${env}/secrets`
      await make("PUT", `${secrets}/K_${key}`, { value: `first ${value}` })
      await make("PUT", `${secrets}/K_${key}`, { value: `second "${value}"\\ü` })
    }
    // A change that waits for votes, and the glass broken.
    const staging = `${at}/projects/${project}/envs/staging`
    await make("PUT", `${staging}/protection`, { needed: 1, approvers: "owners", self: true, break_glass: [this.root] })
    const waiting = { body: { set: { [`K_${key}`]: `pending ${value}` } }, headers: { prefer: "respond-async" } }
    const asked = await this.program.call("PATCH", `${staging}/bundle`, { token, ...waiting })
    assert.strictEqual(asked.status, 202, asked.text)
    const glass = { "x-coffer-break-glass": "broken" }
    const ended = await this.program.call("DELETE", `${staging}/protection`, { token, headers: glass })
    assert.strictEqual(ended.status, 204, ended.text)
    const member = await make("POST", `${at}/members`, { email: this.address(), role: "member" })
    const { user_id } = member
    await make("POST", `${at}/service-accounts`, { name: useRuleBody.accounts[0] })
    const account = await make("POST", `${at}/service-accounts`, { name: "ci" })
    const rule = { subject_type: "service_account", subject_id: account.id, permission: "write" }
    const { id: rule_id } = await make("POST", `${at}/acl`, { ...rule, project_pattern: "*", env_pattern: "*" })
    const place = { org_name: org, project_name: project, key: `K_${key}`, user_id, rule_id, sa_id: account.id }
    const group_name = "bystanders"
    await make("POST", `${at}/groups`, { name: group_name })
    await make("PUT", `${at}/groups/${group_name}/members`, { emails: [member.email] })
    const federations = `${at}/service-accounts/${account.id}/federations`
    const { id: federation_id } = await make("POST", federations, { name: "bystander", ...federationBody })
    const useRules = `${at}/projects/${project}/envs/dev/secrets/${place.key}/use-rules`
    const { id: use_rule_id } = await make("POST", useRules, useRuleBody)
    const connection_name = "shop-db"
    const connections = `${at}/projects/${project}/envs/dev/connections`
    await make("POST", connections, { ...connectionBody, name: connection_name })
    await make("POST", `${at}/projects/${project}/envs/dev/targets`, targetBody("target", place.key))
    await make("POST", `${at}/projects/${project}/envs/dev/rotations`, rotationBody)
    await make("POST", `${at}/projects/${project}/envs/dev/roles`, roleBody)
    await make("PUT", `${at}/projects/${project}/declared/${place.key}`, {})
    const { id: webhook_id } = await make("POST", `${at}/webhooks`, webhookBody)
    const { id: delivery_id } = await make("POST", `${at}/webhooks/${webhook_id}/test`)
    const { id: export_id } = await make("POST", `${at}/exports`, { versions: true })
    const { id: import_id } = await make("POST", "/api/imports", this.#imported(project))
    Object.assign(this.#place, place, {
      webhook_id,
      group_name,
      delivery_id,
      use_rule_id,
      connection_name,
      rotation_name: "shop-app",
      role_name: "app-role",
      lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
      target_name: "target",
      export_id,
      import_id,
      approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      request_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    })
    Object.assign(this.#place, { federation_id, backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e" })
    const none = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    Object.assign(this.#place, { removed_id: none, session_id: none, delegation_id: none, passkey_id: none })
  }

  /** An import whose environment takes a value. */
  #imported(project: string) {
    const environments = [{ name: "dev" }]
    const organization = JSON.stringify({ projects: { name: project, strict: false, environments } })
    return { name: `i-${this.marks.name}`.slice(0, 50), organization }
  }

  get place(): Place {
    const { backup_id = "", env_name = "", key = "", org_name = "", project_name = "" } = this.#place
    const { federation_id = "", rule_id = "", sa_id = "", session_id = "", user_id = "" } = this.#place
    const { approval_id = "", delegation_id = "", delivery_id = "", passkey_id = "", request_id = "" } = this.#place
    const {
      connection_name = "",
      lease_id = "",
      removed_id = "",
      role_name = "",
      rotation_name = "",
      target_name = ""
    } = this.#place
    const { export_id = "", group_name = "", import_id = "", use_rule_id = "", webhook_id = "" } = this.#place
    const ids = {
      connection_name,
      role_name,
      rotation_name,
      removed_id,
      export_id,
      import_id,
      delegation_id,
      passkey_id,
      group_name,
      lease_id,
      delivery_id,
      webhook_id,
      approval_id,
      request_id,
      backup_id,
      federation_id,
      rule_id,
      sa_id,
      session_id,
      use_rule_id,
      target_name,
      user_id
    }
    return { ...ids, env_name, key, org_name, project_name }
  }

  /** Says where the next calls are about. */
  move(place: Partial<Record<keyof Place, string>>): void {
    Object.assign(this.#place, place)
  }

  /** Removes a place of its own, for a call that restores or erases it. */
  async remove({ path }: Endpoint, token: string): Promise<void> {
    const { org_name, project_name } = this.place
    const above = `/api/orgs/${org_name}`
    const [lists, trash] = path.startsWith("/api/trash")
      ? ["/api/orgs", "/api/trash"]
      : path.includes(":project_name")
        ? [`${above}/projects/${project_name}/envs`, `${above}/projects/${project_name}/trash`]
        : [`${above}/projects`, `${above}/trash`]
    const name = path.endsWith("/erase") ? removedName : `r${++this.#fresh}-${this.marks.name}`.slice(0, 50)
    for (const [method, at, body] of [
      ["POST", lists, { name }],
      ["DELETE", `${lists}/${name}`, undefined]
    ] as const) {
      const { status, text } = await this.program.call(method, at, { token, body })
      assert.isBelow(status, 300, `${method} ${at}: ${text}`)
    }
    const { body } = await this.program.call("GET", `${trash}?name=${name}`, { token })
    this.move({ removed_id: body.data[0].id })
  }

  about(): About {
    return {
      place: this.place,
      fresh: `x${++this.#fresh}${this.marks.name}`.slice(0, 40),
      self: { subject_type: "user", email: this.root },
      patterns: { project_pattern: "web*", env_pattern: "dev" }
    }
  }

  /** One sound request for a call, with a value that is to be looked for wherever it takes one. */
  async sound(endpoint: Endpoint, token: string): Promise<Answer> {
    const { key, value } = this.marks
    const about = this.about()
    const own: Readonly<Record<string, unknown>> = {
      "PUT /imports/:import_id/secrets": {
        project: about.place.project_name,
        env: "dev",
        data: [
          {
            ...{ key: `I_${key}`, version: 1, value: `imported ${value}`, current: { use_rules: [] } },
            ...{ created_at: "2026-01-31T12:00:00.000Z", created_by: this.root }
          }
        ]
      },
      "POST /imports/:import_id/finish": {
        counts: { projects: 1, environments: 1, secrets: 1, versions: 1, use_rules: 0, declared: 0 }
      },
      "PUT /secrets/:key": { value: `sound ${value} "quoted"\\ü\n` },
      "POST /groups/:group_name/members": { email: this.root },
      "PATCH /bundle": { set: { [`B_${key}`]: `bundled ${value}`, [about.place.key]: `again ${value}` } }
    }
    const [end = ""] =
      /\/(bundle|imports\/:import_id\/(?:secrets|finish)|secrets\/:key|groups\/:group_name\/members)$/.exec(
        endpoint.path
      ) ?? []
    const valued = own[`${endpoint.method} ${end}`]
    const ask = valued === undefined ? askOf(endpoint, about) : { body: valued }
    const { body, method, path } = requestOf(endpoint, about, ask)
    const answer = await this.program.call(method, path, { token, body })
    this.#keep(answer)
    return answer
  }

  close(): void {
    this.post.close()
    this.receiver.close()
  }
}
