import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"
import type { By, Client } from "./Client.js"
import { externalSecrets, hasExternalSecrets } from "./ExternalSecrets.js"
import type { Ran } from "./Run.js"

const page = readFileSync(new URL("../../../../../docs/connect/kubernetes.md", import.meta.url), "utf8")
const documents = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].flatMap(([, text = ""]) =>
  parseAllDocuments(text).map((document) => document.toJS())
)

/** A store of docs/connect/kubernetes.md, for this server and this organization. */
const storeOf = (name: string, { namespace, url }: By): string => {
  const store = documents.find((one) => one?.kind === "SecretStore" && one.metadata.name === name)
  return JSON.stringify(store.spec.provider.webhook)
    .replace("https://coffer.example.com", url)
    .replace("/orgs/acme/", `/orgs/${namespace === "" ? "acme" : namespace}/`)
}

/** Reads by the store of one key. */
export const byKey = (by: By, key: string): Promise<Ran> =>
  externalSecrets(by, { WEBHOOK: storeOf("coffer", by), ENVIRONMENT: key, ONLY: "one" })

/** The webhook provider of External Secrets, with the stores of docs/connect/kubernetes.md. It neither lists, writes nor renews. */
export const webhook: Client = {
  isThere: hasExternalSecrets,
  absent: /^map: map\[\] Secret does not exist$/m,
  refused: /endpoint gave error 401/,
  read: (by, env) => externalSecrets(by, { WEBHOOK: storeOf("coffer-webshop", by), ENVIRONMENT: env, ONLY: "map" }),
  again: (by, between) => externalSecrets(by, { WEBHOOK: storeOf("coffer-webshop", by), BETWEEN: "1" }, between),
  many: (by) => externalSecrets(by, { WEBHOOK: storeOf("coffer-webshop", by), READS: "1000" })
}
