import { csiProvider, operator } from "../directory/ClusterPrograms.js"
import { piece, type ProgramPiece, type ProgramUse, quoted, roleOf, word } from "../base/ProgramPiece.js"

/**
 * Programs that take their secrets from Coffer as they are, with the lines that set them up: those of docs/works-with.md, of
 * `coffer service-account create --for`, and of the console.
 */

/** How a program signs in: with the account's key, or with the token of its pod. */
type SignsIn = "key" | "pod" | "key or pod"

interface Program {
  /** The name that the program gives itself. */
  readonly title: string
  readonly signsIn: SignsIn
  /** Whether it reads the view of Vault's API, which the server has with SERVICE_VAULT_API=1. */
  readonly speaksVault: boolean
  readonly pieces: (use: ProgramUse) => ReadonlyArray<ProgramPiece>
}

/** A member of an object in JavaScript. */
const memberOf = (name: string) => (/^[a-z][a-z0-9]*$/.test(name) ? `.${name}` : `[${quoted(name)}]`)

const dokploy = ({ env, project, server }: ProgramUse) => [
  piece(
    "In Settings, Secrets Providers, add a provider of the kind HashiCorp Vault. Its Token is the account's key, and Namespace stays empty:",
    "Name: coffer",
    `Vault URL: ${server}`,
    `KV Mount: ${project}`
  ),
  piece("In the environment variables of an application:", `DATABASE_URL=\${{vault.coffer.${env}:DATABASE_URL}}`)
]

const coolify = ({ env, project, server }: ProgramUse) => [
  piece(
    "Add an integration token of the provider Vault. Its token is the account's key, and the namespace stays empty:",
    `Base URL: ${server}`
  ),
  piece("In the secret manager of the application:", `Mount: ${project}`, `Path: ${env}`),
  piece("In its environment variables:", "DATABASE_URL={{vault.DATABASE_URL}}")
]

const varlock = (use: ProgramUse) => [
  piece("Install it with its plugin:", "npm install --save-dev varlock @varlock/hashicorp-vault-plugin"),
  piece(
    "In .env.schema. The account's key is in COFFER_KEY, which the machine or the pipeline sets:",
    "# @plugin(@varlock/hashicorp-vault-plugin)",
    "# @initHcpVault(",
    `#   url=${quoted(use.server)},`,
    `#   roleId=${quoted(roleOf(use))},`,
    "#   secretId=$COFFER_KEY,",
    `#   defaultPath=${quoted(`${use.project}/${use.env}`)}`,
    "# )",
    "# ---",
    "# @sensitive @internal",
    "COFFER_KEY=",
    "# @sensitive",
    "DATABASE_URL=vaultSecret()"
  )
]

const fnox = ({ env, project, server }: ProgramUse) => [
  piece(
    "In fnox.toml. fnox starts the command line vault:",
    "[providers.coffer]",
    'type = "vault"',
    `address = ${quoted(server)}`,
    `path = ${quoted(project)}`,
    "",
    "[secrets]",
    `DATABASE_URL = { provider = "coffer", value = ${quoted(`${env}/DATABASE_URL`)} }`
  ),
  piece(
    "Put the key into a file that only you can read, deploy.key:",
    'export FNOX_VAULT_TOKEN="$(cat deploy.key)"',
    "fnox exec -- ./server"
  )
]

const openclaw = ({ env, project, server }: ProgramUse) => [
  piece(
    "In the environment of the gateway. The key is in a file that only the gateway can read:",
    `VAULT_ADDR=${server}`,
    "OPENCLAW_VAULT_AUTH_METHOD=token_file",
    "VAULT_TOKEN_FILE=/etc/openclaw/coffer.key",
    `OPENCLAW_VAULT_KV_MOUNT=${project}`
  ),
  piece(
    "In the same environment:",
    "openclaw plugins enable vault",
    `openclaw vault setup --plan-out plan.json --openai-id ${env}/OPENAI_API_KEY`,
    "openclaw secrets apply --from plan.json --allow-exec"
  )
]

const komodo = ({ env, org, project, server }: ProgramUse) => [
  piece(
    "In the stack. coffer and the key are on the machine of the Periphery agent, the key in a file that only the agent can read:",
    "[[stack]]",
    `name = ${quoted(project)}`,
    "[stack.config]",
    `compose_cmd_wrapper = "SERVICE_SERVER_URL=${server} SERVICE_API_KEY_FILE=/etc/komodo/coffer.key coffer run ${org}/${project}/${env} -- [[COMPOSE_COMMAND]]"`
  ),
  piece(
    "In compose.yaml, name the variables without values:",
    "services:",
    "  web:",
    "    environment:",
    "      - DATABASE_URL"
  )
]

const n8n = (use: ProgramUse) => [
  piece(
    "In Settings, External Secrets, add HashiCorp Vault. Its Secret ID is the account's key:",
    `Vault URL: ${use.server}/v1/`,
    "Authentication Method: AppRole",
    `Role ID: ${roleOf(use)}`,
    `KV Mount Path: ${use.project}`,
    "KV Version: v2"
  ),
  piece(
    "In a field of a credential, as an expression, where the vault is named coffer:",
    `{{ $secrets.coffer${memberOf(use.project)}${memberOf(use.env)}.DATABASE_URL }}`
  )
]

/** By the names that `--for` takes. */
export const programs = {
  dokploy: { title: "Dokploy", signsIn: "key", speaksVault: true, pieces: dokploy },
  coolify: { title: "Coolify", signsIn: "key", speaksVault: true, pieces: coolify },
  varlock: { title: "varlock", signsIn: "key", speaksVault: true, pieces: varlock },
  fnox: { title: "fnox", signsIn: "key", speaksVault: true, pieces: fnox },
  openclaw: { title: "OpenClaw", signsIn: "key", speaksVault: true, pieces: openclaw },
  komodo: { title: "Komodo", signsIn: "key", speaksVault: false, pieces: komodo },
  n8n: { title: "n8n", signsIn: "key", speaksVault: true, pieces: n8n },
  "vault-secrets-operator": {
    title: "Vault Secrets Operator",
    signsIn: "key or pod",
    speaksVault: true,
    pieces: operator
  },
  "csi-provider": { title: "Vault's CSI provider", signsIn: "pod", speaksVault: true, pieces: csiProvider }
} as const satisfies Readonly<Record<string, Program>>

export type ProgramName = keyof typeof programs

export const programNames = [
  "dokploy",
  "coolify",
  "varlock",
  "fnox",
  "openclaw",
  "komodo",
  "n8n",
  "vault-secrets-operator",
  "csi-provider"
] as const satisfies ReadonlyArray<ProgramName>

/** Returns the problem with how the account signs in, in words after the program's name. */
export const signInProblem = (name: ProgramName, hasKey: boolean): string | undefined => {
  const { signsIn }: Program = programs[name]
  if (signsIn === "key" && !hasKey) return "needs a key"
  return signsIn === "pod" && hasKey ? "signs in with the token of its pod, and needs no key" : undefined
}

/** The requirement of every program that reads the view of Vault's API. */
const vaultNeeds = "The server needs SERVICE_VAULT_API=1."

/** Returns the program's requirement of the server; undefined if it has none. */
export const serverNeeds = (name: ProgramName): string | undefined =>
  programs[name].speaksVault ? vaultNeeds : undefined

/** Gives a new account what the program reads. */
export const grantPiece = ({ account, env, org, project }: ProgramUse): ProgramPiece =>
  piece(
    "The account has no rule yet. Let it read the environment:",
    `coffer acl grant --org ${org} --service-account ${word(account)} --project-pattern ${project} --env-pattern ${env} --permission read`
  )

/** The lines for a program. None contains the key. */
export const programPieces = (name: ProgramName, use: ProgramUse): ReadonlyArray<ProgramPiece> =>
  programs[name].pieces(use)
