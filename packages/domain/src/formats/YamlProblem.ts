import type { YAMLParseError } from "yaml"

const yamlProblems: { readonly [Code in YAMLParseError["code"]]?: string } = {
  BAD_DQ_ESCAPE: "double quotes hold a backslash that begins no escape; write two backslashes for one",
  BAD_INDENT: "the line is indented too little, or a bracket does not close",
  BLOCK_AS_IMPLICIT_KEY: "there is a second colon, or this line is indented too much; write the value in quotes",
  MISSING_CHAR: "a colon and a value are missing",
  MULTILINE_IMPLICIT_KEY: "a colon and a space are missing after the key",
  TAB_AS_INDENT: "the line is indented with a tab; use spaces",
  UNEXPECTED_TOKEN: "more text follows the value; write all of it in one pair of quotes"
}

/** Returns the problem, without the library's own message, which may quote the file. */
export const yamlProblem = ({ code, message }: Pick<YAMLParseError, "code" | "message">): string =>
  message.startsWith("Missing closing")
    ? "quotes that begin on this line or above do not close"
    : (yamlProblems[code] ?? "write the value in double quotes")
