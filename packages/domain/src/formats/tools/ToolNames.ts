/** The tools whose documents can be imported. */
export const toolNames = [
  "doppler",
  "infisical",
  "vault",
  "aws-sm",
  "1password",
  "sops",
  "dotenvx",
  "kubernetes",
  "phase"
] as const
export type ToolName = (typeof toolNames)[number]
