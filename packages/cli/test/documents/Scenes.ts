import { generateKeyPairSync, sign } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Stage } from "../support/Stage.js"

/** A script for the shell, or calls of the API: those take no process. */
export type Step = string | (() => Promise<unknown>)

export interface Scene {
  /** Steps that set up the state that the examples of a command need. */
  readonly before?: ReadonlyArray<Step>
  /** Steps that undo the changes of the examples. */
  readonly after?: ReadonlyArray<Step>
}

const base64 = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url")

/** Returns the scenes for the examples of the help, at a stage whose person is logged in. */
export const scenesOf = (stage: Stage): Readonly<Record<string, Scene>> => {
  const { home } = stage
  const file = (name: string) => join(home.folder, name)

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${home.serverUrl}/api/orgs${path}`, {
      method,
      headers: { authorization: `Bearer ${home.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    // A thing that exists already need not be made, and a missing one need not be removed.
    if (!answer.ok && answer.status !== 409 && !(method === "DELETE" && answer.status === 404)) {
      throw new Error(`${method} ${path}: ${text}`)
    }
    return text === "" ? undefined : JSON.parse(text)
  }

  const webshop = () => call("POST", "/acme/projects", { name: "webshop" })
  const account = () => call("POST", "/acme/service-accounts", { name: "ci" })
  const directory = () => call("POST", "/acme/scim")
  const noDirectory = () => call("DELETE", "/acme/scim")
  const agent = () => call("POST", "/acme/service-accounts", { name: "agent" })
  const invite = () => call("POST", "/acme/members", { email: "grace@example.com" })

  const bundle = (env: string) => `/acme/projects/webshop/envs/${env}/bundle`
  const set = (env: string, values: Readonly<Record<string, string>>) => call("PATCH", bundle(env), { set: values })

  /** Writes versions of secrets one after another, after it has deleted `gone`. */
  const write = async (
    env: string,
    gone: ReadonlyArray<string>,
    versions: ReadonlyArray<readonly [string, string]>
  ) => {
    await call("PATCH", bundle(env), { delete: gone })
    for (const [key, value] of versions) await set(env, { [key]: value })
  }

  /** The two secrets that examples name, and no other. */
  const secrets =
    (env: string, ...more: ReadonlyArray<readonly [string, string]>) =>
    async () => {
      const { data } = await call("GET", `/acme/projects/webshop/envs/${env}/secrets`)
      const keys = data.map(({ key }: { readonly key: string }) => key)
      await write(env, keys, [["API_KEY", "1"], ["DATABASE_URL", "1"], ...more])
    }

  /** A secret with three versions, and no more. */
  const versions = () =>
    write(
      "dev",
      ["API_KEY"],
      [
        ["API_KEY", "1"],
        ["API_KEY", "2"],
        ["API_KEY", "3"]
      ]
    )

  const all = async (path: string): Promise<ReadonlyArray<Readonly<Record<string, string>>>> =>
    (await call("GET", path)).data

  const accountId = async () => (await all("/acme/service-accounts")).find(({ name }) => name === "ci")?.["id"]

  const removeAccounts = async () => {
    for (const { id } of await all("/acme/service-accounts")) await call("DELETE", `/acme/service-accounts/${id}`)
  }

  const removeGroups = async () => {
    for (const { name } of await all("/acme/groups")) await call("DELETE", `/acme/groups/${name}`)
  }

  const groups = () => call("POST", "/acme/groups", { name: "backend" })

  const removeMember = async () => {
    const found = (await all("/acme/members")).find(({ email }) => email === "grace@example.com")
    if (found !== undefined) await call("DELETE", `/acme/members/${found["user_id"]}`)
  }

  const grant = () =>
    call("POST", "/acme/acl", {
      ...{ subject_type: "user", email: "grace@example.com", permission: "read" },
      ...{ project_pattern: "webshop", env_pattern: "prod" }
    })

  const distrust = async () => {
    const path = `/acme/service-accounts/${await accountId()}/federations`
    for (const { id } of await all(path)) await call("DELETE", `${path}/${id}`)
  }

  /** Makes a cluster's keys, and a token of a pod. */
  const cluster = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const now = Math.floor(Date.now() / 1000)
    const pod = { namespace: "shop", serviceaccount: { name: "deploy" } }
    const claims = {
      iss: "https://kubernetes.default.svc.cluster.local",
      aud: `coffer:${new URL(home.serverUrl).host}/acme/ci`,
      iat: now,
      exp: now + 600,
      "kubernetes.io": pod
    }
    const text = `${base64({ alg: "ES256", kid: "1" })}.${base64(claims)}`
    const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" })
    writeFileSync(
      file("cluster.json"),
      JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1" }] })
    )
    writeFileSync(file("token.jwt"), `${text}.${signature.toString("base64url")}`)
    return Promise.resolve()
  }

  const configuration = readFileSync(file("service.yml"))
  const configure = () => {
    writeFileSync(file("service.yml"), configuration)
    return Promise.resolve()
  }

  const writeToken = () => {
    writeFileSync(file("token.txt"), home.token)
    return Promise.resolve()
  }

  const password = () => set("dev", { DB_PASSWORD: "1" })
  const connection = () =>
    call("POST", "/acme/projects/webshop/envs/prod/connections", {
      ...{ name: "shop-db", host: "db.invalid", database: "shop", user: "renewer", password_key: "RENEWER_PASSWORD" }
    })
  const rotation = () =>
    call("POST", "/acme/projects/webshop/envs/prod/rotations", {
      ...{ name: "shop-app", connection: "shop-db", users: ["app_a", "app_b"] },
      writes: { DATABASE_URL: "postgres://{user}:{password}@db.invalid/shop" }
    })
  const role = () => call("POST", "/acme/projects/webshop/envs/prod/roles", { name: "app-role", connection: "shop-db" })
  const stripe = () => set("dev", { STRIPE_KEY: "1" })
  const vaultToken = () => set("dev", { VAULT_TOKEN: "1" })
  const targets = "/acme/projects/webshop/envs/dev/targets"
  const target = () =>
    call("POST", targets, {
      ...{ name: "bao", kind: "vault", credential_key: "VAULT_TOKEN" },
      place: { url: "https://bao.example.com", mount: "secret", path: "webshop/dev" }
    })
  const untargeted = async () => {
    for (const { name } of await all(targets)) await call("DELETE", `${targets}/${name}`)
  }
  const webhook = () => call("POST", "/acme/webhooks", { url: "https://hooks.invalid/", events: ["acl.*"] })
  const votes = { needed: 1, approvers: "admins", self: true, break_glass: ["ada@example.com"] }
  const protect = () => call("PUT", "/acme/projects/webshop/envs/prod/protection", votes)
  const unprotect = "coffer env unprotect prod --yes --break-glass 'the end of an example'"
  const ask = "coffer secret set API_KEY asked --env prod || test $? -eq 5"
  const asked = { before: [protect, ask], after: [unprotect] }
  const envs = "/acme/projects/webshop/envs"
  const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString()
  const preview = () => call("POST", envs, { name: "preview" })
  const noPreviews = () => call("DELETE", `${envs}/pr-42`)
  const allowPreviews = () => call("PUT", "/acme/projects/webshop/previews", { from: "preview", pattern: "pr-*" })
  const recipient = "age10asf4ncyemjamajjpx6gk8ump6sy7aejekn2fl00lzvn09rrlg7qessdk7"
  const identity = "AGE-SECRET-KEY-1FHV9DQVT5R799G8SZQRUS28MAP03E77DLZALAU4CNKGMS0YC65WQXH8QCT"
  const keyFiles = [
    `rm -f *.age; echo ${recipient} > recipient.txt; echo ${identity} > key.txt`,
    "echo correct horse battery staple > passphrase.txt; chmod 600 key.txt passphrase.txt"
  ]
  const init = "coffer init --force --org acme --project webshop --env dev"

  return {
    login: { before: [writeToken] },
    "webhook edit": { before: [webhook] },
    "webhook delete": { before: [webhook] },
    "webhook rotate": { before: [webhook] },
    "webhook deliveries": { before: [webhook] },
    init: { before: ["rm -f service.yml"], after: [configure] },
    trust: { before: [`${init} --allow-env NODE_OPTIONS`], after: [configure] },
    "org create": { before: [() => call("DELETE", "/acme")], after: [webshop] },
    "org export": { before: keyFiles },
    "org export end": { before: [() => call("POST", "/acme/exports", {})] },
    "org import": {
      before: [...keyFiles, `coffer org export --to-age ${recipient} acme.age`],
      after: ["coffer org delete --org acme-copy --yes || true"]
    },
    "org rename": { after: [() => call("PATCH", "/acme-inc", { name: "acme" })] },
    "org restore": {
      before: ["coffer org delete acme --yes"],
      after: ["coffer org rename acme --org acme-old || true"]
    },
    "org erase": { before: ["coffer org create acme-old", "coffer org delete acme-old --yes"] },
    "project restore": {
      before: ["coffer project delete webshop --yes"],
      after: ["coffer project rename shop-old webshop || true"]
    },
    "project erase": { before: ["coffer project create shop-old", "coffer project delete shop-old --yes"] },
    "environment restore": { before: ["coffer env create qa || true", "coffer env delete qa --yes"] },
    "environment erase": { before: ["coffer env create qa-old || true", "coffer env delete qa-old --yes"] },
    "rotation create": { before: [connection], after: ["coffer rotation delete shop-app --env prod --yes"] },
    "rotation show": { before: [connection, rotation] },
    "rotation edit": { before: [connection, rotation] },
    "rotation pause": { before: [connection, rotation] },
    "rotation resume": { before: [connection, rotation] },
    "rotation delete": { before: [connection, rotation] },
    "role create": { before: [connection], after: ["coffer role delete app-role --env prod --yes"] },
    "role show": { before: [connection, role] },
    "role delete": { before: [connection, role] },
    "connection test": { before: [connection] },
    "connection delete": { before: [connection] },
    "project create": { before: [() => call("DELETE", "/acme/projects/webshop")] },
    "project rename": { after: [() => call("PATCH", "/acme/projects/shop", { name: "webshop" })] },
    "project delete": { after: [webshop] },
    "member invite": {
      before: [removeMember, "printf 'email,role,rules\\nlinus@example.com,developer,webshop/dev:read\\n' > people.csv"]
    },
    "member set-role": { before: [invite] },
    "member remove": { before: [invite], after: [invite] },
    "environment create": { before: [preview, noPreviews] },
    "environment extend": {
      before: [preview, noPreviews, () => call("POST", envs, { name: "pr-42", from: "preview", expires_at: inAWeek() })]
    },
    "project allow-previews": { before: [preview] },
    "project previews": { before: [preview, allowPreviews] },
    "project forbid-previews": { before: [preview, allowPreviews] },
    "environment delete": { before: [() => call("POST", "/acme/projects/webshop/envs", { name: "qa" })] },
    "environment diff": {
      before: [() => call("POST", "/acme/projects/webshop/envs/prod/copy", { from: "staging" })]
    },
    "environment copy": { before: [() => set("staging", { API_KEY: "1", DATABASE_URL: "1" })] },
    "environment revert": { before: [() => set("prod", { API_KEY: "1" })] },
    "environment protection": { before: [protect], after: [unprotect] },
    "environment protect": { before: [invite, "coffer member set-role grace@example.com admin"], after: [unprotect] },
    "environment unprotect": { before: [protect], after: [unprotect] },
    "request show": asked,
    "request approve": asked,
    "request refuse": asked,
    "request withdraw": asked,
    "acl grant": { before: [invite, account, groups] },
    "acl deny": { before: [invite, groups] },
    "scim enable": { before: [noDirectory] },
    "scim rotate": { before: [directory] },
    "scim disable": { before: [directory] },
    "group map": { before: [groups] },
    "group unmap": {
      before: [
        groups,
        () => call("PUT", "/acme/group-mappings", { mappings: [{ provider_group: "platform-team", group: "backend" }] })
      ]
    },
    "group create": { before: [removeGroups] },
    "group rename": { before: [removeGroups, groups] },
    "group delete": { before: [groups] },
    "group members": { before: [groups] },
    "group add": { before: [invite, groups] },
    "group remove": {
      before: [invite, groups, () => call("POST", "/acme/groups/backend/members", { email: "grace@example.com" })]
    },
    "acl revoke": { before: [grant] },
    "acl table": { before: [invite, account] },
    delegate: {
      after: ["for _ in end forget; do coffer delegate revoke claude || coffer delegate revoke 'nightly job'; done"]
    },
    "delegate store": {
      before: [
        `coffer delegate acme/webshop/dev --name claude --json | sed -n 's/^ *"token": "\\(.*\\)".*/\\1/p' > token.txt`
      ],
      after: ["coffer delegate revoke claude", "coffer delegate revoke claude"]
    },
    "delegate revoke": {
      before: ["coffer delegate acme/webshop/dev --name claude"],
      after: ["coffer delegate revoke claude"]
    },
    "target create": { before: [untargeted, vaultToken] },
    "target show": { before: [untargeted, vaultToken, target] },
    "target edit": { before: [untargeted, vaultToken, target] },
    "target pause": { before: [untargeted, vaultToken, target] },
    "target resume": { before: [untargeted, vaultToken, target] },
    "target delete": { before: [untargeted, vaultToken, target] },
    "use list": { before: [stripe] },
    "use allow": { before: [stripe, agent] },
    "use edit": {
      before: [
        stripe,
        account,
        "coffer use allow STRIPE_KEY --host api.stripe.com --path /v1/refunds --account ci --as-query key"
      ]
    },
    "use proxy": {
      before: [
        stripe,
        "coffer use allow STRIPE_KEY --host api.stripe.com --path /v1/refunds --account ada@example.com --as-query key"
      ]
    },
    "use revoke": {
      before: [
        stripe,
        account,
        "coffer use allow STRIPE_KEY --host api.stripe.com --path /v1/refunds --account ci --as-query key"
      ]
    },
    "service-account create": { before: [removeAccounts] },
    "service-account edit": { before: [account] },
    "service-account rotate": { before: [account] },
    "service-account revoke": { before: [account] },
    "service-account trust": { before: [account, distrust, cluster] },
    "service-account trust list": { before: [account] },
    "service-account trust revoke": {
      before: [account, "coffer service-account trust ci --github a/b --repository-id 1 || true"]
    },
    "service-account trust try": {
      before: [
        account,
        distrust,
        cluster,
        "coffer service-account trust ci --kubernetes shop/deploy --jwks cluster.json"
      ]
    },
    declare: { before: ["printf '# The port\\nPORT=80\\n' > .env.example"] },
    "declare rm": { before: ["coffer declare OLD_TOKEN"] },
    check: { before: ["for key in $(coffer declare list | cut -f 1); do coffer declare rm $key --yes; done"] },
    "helper docker": {
      before: [
        () => set("dev", { GHCR_TOKEN: "1" }),
        "cp service.yml kept; printf 'helpers: { docker: { ghcr.io: { username: a, key: GHCR_TOKEN } } }' >> service.yml; coffer trust"
      ],
      after: ["mv kept service.yml"]
    },
    "helper aws": {
      before: [
        () => set("dev", { AWS_ACCESS_KEY_ID: "1", AWS_SECRET_ACCESS_KEY: "1" }),
        () => set("prod", { DEPLOY_ID: "1", DEPLOY_KEY: "1" }),
        "coffer trust"
      ]
    },
    "helper exec": { before: [secrets("dev"), "coffer trust"] },
    render: {
      before: [
        secrets("dev"),
        "printf '{{API_KEY | json}}' > app.conf.tpl",
        "coffer render app.conf.tpl --output app.conf"
      ]
    },
    scan: { before: [secrets("dev"), "git init --quiet .; mkdir -p docs; touch README.md"] },
    "secret get": { before: [secrets("dev", ["API_KEY", "2"], ["API_KEY", "3"])] },
    "secret set": { before: [versions, password] },
    "secret delete": { before: [secrets("dev", ["API_KEY", "2"], ["API_KEY", "3"])] },
    "secret edit": { before: [secrets("dev")] },
    "secret rename": { before: [secrets("dev")] },
    "secret copy": { before: [secrets("staging")] },
    "secret export": { before: [secrets("dev"), secrets("staging")] },
    "secret find": { before: [secrets("dev"), stripe] },
    "secret references": { before: [secrets("dev"), password] },
    "secret versions": { before: [versions] },
    "secret rollback": { before: [versions] },
    "secret destroy": { before: [versions] },
    "secret undelete": { before: [versions, () => call("PATCH", bundle("dev"), { delete: ["API_KEY"] })] },
    "master-key rotate": { before: ["systemctl stop coffer; cp /var/lib/coffer/service.db ."] }
  }
}
