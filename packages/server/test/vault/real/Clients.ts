import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { each } from "../../authorization/Service.js"
import type { Variables } from "../../support/Program.js"
import { type By, type Client, file, fresh } from "./Client.js"
import { externalSecretsClient } from "./ExternalSecrets.js"
import { isThere, type Ran, run } from "./Run.js"
import { terraform } from "./Terraform.js"
import { vaultAction } from "./VaultAction.js"
import { webhook } from "./Webhook.js"

// Vault's clients as they are published: a client that is not on the PATH is skipped.

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Runs one after the other, and says the first that failed. */
const inTurn = async (runs: ReadonlyArray<() => Promise<Ran>>, atOnce = 1): Promise<Ran> => {
  const ran = await each(runs, (one) => one(), atOnce)
  return ran.find(({ code }) => code !== 0) ?? ran[0]!
}

const tenTimes = (one: () => Promise<Ran>) => inTurn(Array.from({ length: 10 }, () => one))

const ofVault = ({ folder, namespace, token, url }: By): Variables => ({
  HOME: folder,
  VAULT_ADDR: url,
  VAULT_TOKEN: token,
  BAO_ADDR: url,
  BAO_TOKEN: token,
  ...(namespace !== "" && { VAULT_NAMESPACE: namespace, BAO_NAMESPACE: namespace })
})

/** A command line of Vault or of OpenBao. */
export const commandOf =
  (program: string) =>
  (by: By, ...words: ReadonlyArray<string>): Promise<Ran> =>
    run(program, words, ofVault(by))

const commandLine = (program: string): Client => {
  const command = commandOf(program)
  const read = (by: By, env: string) => command(by, "kv", "get", "-mount=webshop", "-field=DATABASE_URL", env)
  return {
    isThere: isThere(program),
    absent: /No value found at webshop\/data\/nope/,
    read,
    list: (by) => command(by, "kv", "list", "-mount=webshop"),
    write: (by) => command(by, "kv", "put", "-mount=webshop", "prod", "A=b"),
    renew: (by) => command(by, "token", "renew"),
    many: (by) =>
      inTurn(
        Array.from({ length: 1000 }, () => () => read(by, "prod")),
        4
      )
  }
}

/** By both forms of the path. */
const secretOf = (env: string) =>
  `{{ with secret "webshop/${env}" }}{{ .Data.data.DATABASE_URL }} {{ end }}
{{ with secret "webshop/data/${env}" }}{{ .Data.data.DATABASE_URL }} {{ .Data.metadata.version }}{{ end }}\n`

const consulTemplate = (): Client => {
  const fill = (by: By, text: string, words: ReadonlyArray<string> = ["-once"], until?: Promise<void>) => {
    const folder = fresh(by)
    const template = `${file(folder, "in.ctmpl", text)}:${join(folder, "out")}`
    const all = [...words, "-dry", "-vault-retry-attempts=1", "-template", template]
    return run("consul-template", all, ofVault(by), { until })
  }
  return {
    isThere: isThere("consul-template"),
    absent: /no secret exists at webshop\/data\/nope/,
    read: (by, env) => fill(by, secretOf(env)),
    list: (by) => fill(by, `{{ range secrets "webshop/" }}- {{ . }}\n{{ end }}`),
    write: (by) => fill(by, `{{ with secret "webshop/data/prod" "A=b" }}{{ .Data }}{{ end }}`),
    renew: (by, until) => fill(by, secretOf("prod"), [], until),
    many: (by, envs) => tenTimes(() => fill(by, envs.map(secretOf).join("")))
  }
}

const envconsul = (): Client => {
  const start = (
    by: By,
    envs: ReadonlyArray<string>,
    words: ReadonlyArray<string>,
    seconds: number,
    until?: Promise<void>
  ) => {
    const secrets = envs.flatMap((env, index) => ["-secret", `webshop/${index === 0 ? "" : "data/"}${env}`])
    const all = ["-no-prefix", "-vault-retry-attempts=1", ...secrets, ...words]
    return run("envconsul", all, ofVault(by), { until, seconds })
  }
  return {
    isThere: isThere("envconsul"),
    // It waits, and ends only when it is killed.
    absent: /^$/,
    read: (by, env) => start(by, [env], ["-once", "env"], 3),
    renew: (by, until) => start(by, ["prod"], ["sleep", "60"], 20, until),
    many: (by, envs) => tenTimes(() => start(by, envs, ["-once", "true"], 20))
  }
}

export const hvac = (
  by: By,
  words: ReadonlyArray<string>,
  variables: Variables = {},
  between?: () => Promise<void>
) => {
  const { folder, key: KEY, namespace: NS, role: ROLE, token: TOKEN, url: VAULT_ADDR } = by
  const own = { HOME: folder, VAULT_ADDR, KEY, NS, ROLE, TOKEN }
  return run("python3", [beside("./hvac_client.py"), ...words], { ...own, ...variables }, { between, seconds: 120 })
}

const hvacClient = (): Client => ({
  isThere: spawnSync("python3", ["-c", "import hvac"], { stdio: "ignore" }).status === 0,
  absent: /InvalidPath: environment nope does not exist/,
  read: (by, env) => hvac(by, ["read", env]),
  again: (by, between) => hvac(by, ["again"], {}, between),
  list: (by) => hvac(by, ["list"]),
  write: (by) => hvac(by, ["write"]),
  renew: (by) => hvac(by, ["renew"]),
  many: (by) => hvac(by, ["many"], { READS: "1000" })
})

/** The Vault client of GitLab's runner, built from gitlab-runner/main.go. */
const gitlabRunner = (): Client => {
  const job = ({ folder, jwt: JWT, namespace: NS, role: ROLE, url: VAULT_ADDR }: By, ENVIRONMENT: string) =>
    run("gitlab-runner-vault", [], { HOME: folder, VAULT_ADDR, JWT, NS, ROLE, ENVIRONMENT })
  return {
    isThere: isThere("gitlab-runner-vault"),
    // GetField returns no error for a path that is not there; the runner says that the secret was not found.
    absent: /^read: <nil> <nil>$/m,
    read: job,
    write: (by) => job(by, "prod")
  }
}

export const clients: Readonly<Record<string, Client>> = {
  bao: commandLine("bao"),
  vault: commandLine("vault"),
  "consul-template": consulTemplate(),
  envconsul: envconsul(),
  "external-secrets-client": externalSecretsClient,
  "external-secrets-client with a webhook": webhook,
  hvac: hvacClient(),
  "gitlab-runner-vault": gitlabRunner(),
  "vault-action.js": vaultAction,
  "terraform-provider-vault": terraform
}
