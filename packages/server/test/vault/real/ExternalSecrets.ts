import type { Variables } from "../../support/Program.js"
import { type By, type Client, file, fresh } from "./Client.js"
import { isThere, type Ran, run } from "./Run.js"

const program = "external-secrets-client"

export const hasExternalSecrets = isThere(program)

const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "none", cluster: { server: "http://127.0.0.1:1" } }],
  contexts: [{ name: "none", context: { cluster: "none", user: "none" } }],
  users: [{ name: "none", user: {} }],
  "current-context": "none"
})

export const externalSecrets = (by: By, variables: Variables, between?: () => Promise<void>): Promise<Ran> => {
  const { folder, jwt: JWT, key: KEY, namespace: NS, role: ROLE, url: VAULT_ADDR } = by
  const KUBECONFIG = file(fresh(by), "kubeconfig", kubeconfig)
  const own = { HOME: folder, KUBECONFIG, VAULT_ADDR, KEY, JWT, NS, ROLE, METHOD: "approle" }
  return run(program, [], { ...own, ...variables }, { between, seconds: 120 })
}

/** External Secrets with its Vault provider. */
export const externalSecretsClient: Client = {
  isThere: hasExternalSecrets,
  absent: /^map: map\[\] Secret does not exist$/m,
  read: (by, env) => externalSecrets(by, { ENVIRONMENT: env, ONLY: "map" }),
  again: (by, between) => externalSecrets(by, { BETWEEN: "1" }, between),
  list: (by) => externalSecrets(by, {}),
  write: (by) => externalSecrets(by, {}),
  many: (by) => externalSecrets(by, { READS: "1000" })
}
