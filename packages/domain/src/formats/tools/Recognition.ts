import { isAwsBatch, isAwsSecret } from "./AwsSecretsManager.js"
import { isDoppler } from "./Doppler.js"
import { isInfisicalList } from "./Infisical.js"
import { isKubernetes } from "./Kubernetes.js"
import { isOnePasswordItem } from "./OnePassword.js"
import type { ToolName } from "./ToolNames.js"
import { isList, isScalar, type Tree } from "./Tree.js"
import { isVaultMount, isVaultSecret } from "./Vault.js"

/** Forms that only one tool prints. Documents of the others are plain keys and values. */
const marks: ReadonlyArray<readonly [tool: ToolName, isOf: (tree: Tree) => boolean]> = [
  ["kubernetes", isKubernetes],
  ["vault", isVaultSecret],
  ["vault", isVaultMount],
  ["aws-sm", isAwsSecret],
  ["aws-sm", isAwsBatch],
  ["1password", isOnePasswordItem],
  ["infisical", isInfisicalList],
  ["doppler", isDoppler]
]

/** The tool that a document is of, where its form shows that. */
export const toolOf = (tree: Tree): ToolName | undefined => marks.find(([, isOf]) => isOf(tree))?.[0]

/** The form of the values that each tool encrypts, and the command that decrypts them. */
const encryptions: ReadonlyArray<readonly [pattern: RegExp, tool: string, command: string]> = [
  [/^ENC\[AES256_GCM,/, "sops", "sops --decrypt FILE | coffer import sops -"],
  [/^encrypted:[A-Za-z0-9+/=]{20,}$/, "dotenvx", "dotenvx get | coffer import dotenvx -"]
]

/** The first encrypted value of a document, and what to do. */
export const findEncrypted = (tree: Tree): { readonly line: number; readonly problem: string } | undefined => {
  if (isScalar(tree)) {
    const found = tree.type === "text" ? encryptions.find(([pattern]) => pattern.test(tree.text)) : undefined
    if (found === undefined) return undefined
    const [, tool, command] = found
    return { line: tree.line, problem: `is a value that ${tool} encrypted; import what it decrypts: ${command}` }
  }
  for (const below of isList(tree) ? tree.items : tree.members.map(({ value }) => value)) {
    const found = findEncrypted(below)
    if (found !== undefined) return found
  }
  return undefined
}
