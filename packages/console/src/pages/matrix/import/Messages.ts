/** What the command line suggests: here, there is a box for it, or no option. */
const option =
  /(?:[:;,] (?:rename it with|name another one with|pass) --[\w-]+(?: "(?:[^"\\]|\\.)*")?|: --base64 keeps it as base64 text)$/

/** A message of the plan without the options of the command line. */
export const withoutOption = (message: string): string => message.replace(option, "")
