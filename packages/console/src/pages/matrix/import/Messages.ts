/** The command-line option that a message suggests: the console has a control for it, or no such option. */
const option =
  /(?:[:;,] (?:rename it with|name another one with|pass) --[\w-]+(?: "(?:[^"\\]|\\.)*")?|: --base64 keeps it as base64 text)$/

/** A message of the plan without the options of the command line. */
export const withoutOption = (message: string): string => message.replace(option, "")
