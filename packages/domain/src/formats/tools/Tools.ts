import { awsSecretsManager } from "./AwsSecretsManager.js"
import { doppler } from "./Doppler.js"
import { phaseEnv } from "./EnvDialects.js"
import { addFlat, isFlat } from "./Flatten.js"
import { infisical } from "./Infisical.js"
import { kubernetes } from "./Kubernetes.js"
import { onePassword } from "./OnePassword.js"
import { sops } from "./Sops.js"
import type { Syntax, Tool, ToolTarget } from "./Tool.js"
import type { ToolName } from "./ToolNames.js"
import { vault } from "./Vault.js"

/** A tool that prints keys and values, and no place. */
const flat = (
  name: ToolName,
  prints: string,
  syntaxes: ReadonlyArray<Syntax>,
  more: Pick<Tool, "own" | "readEnv" | "targetOf"> = {}
): Tool => ({
  name,
  prints,
  syntaxes,
  ...more,
  read: (tree, places) => {
    addFlat(tree, places, {})
    return isFlat(tree)
  }
})

/** Phase writes `KEY`, `env.KEY`, and `app::env.KEY`. */
const phaseTarget = (text: string): ToolTarget | undefined => {
  const [, project, env, key] = /^(?:([^:]+)::)?(?:([^.]+)\.)?([^.:]+)$/.exec(text.trim()) ?? []
  if (key === undefined) return undefined
  return { key, ...(env === undefined ? {} : { env }), ...(project === undefined ? {} : { project }) }
}

/** The tools, by name. */
export const tools: { readonly [Name in ToolName]: Tool } = {
  doppler,
  infisical,
  vault,
  "aws-sm": awsSecretsManager,
  "1password": onePassword,
  sops,
  // Its `.env` is read as dotenv's: values between double quotes as they are. Source: dotenvx/dotenvx v1.75.1, src/lib/helpers/replace.js.
  dotenvx: flat("dotenvx", "dotenvx get", ["json", "env"], {
    own: [/^DOTENV_PUBLIC_KEY(?:_|$)/, "dotenvx's own: it encrypts values there"]
  }),
  kubernetes,
  phase: flat("phase", "phase secrets export --format json", ["json", "yaml", "env"], {
    targetOf: phaseTarget,
    readEnv: phaseEnv
  })
}
