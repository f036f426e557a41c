/** Manual pages in the macros of man(7). */

const escaped = (text) => text.replaceAll("\\", "\\e").replace(/^([.'])/gm, "\\&$1")

/** A text that readers copy: its hyphens stay what they are. */
const literal = (text) => escaped(text).replaceAll("-", "\\-")

const quoted = (text) => `"${literal(text).replaceAll('"', "\\(dq")}"`

export const paragraph = (text) => [".PP", escaped(text)]

export const section = (title, lines) => (lines.length === 0 ? [] : [`.SH ${quoted(title)}`, ...lines])

export const subsection = (title, lines) => [`.SS ${quoted(title)}`, ...lines]

/** A line in bold, as it is typed. */
export const typed = (text) => [".PP", `.B ${quoted(text)}`]

/** Lines as they stand. */
export const example = (lines) => [".PP", ".RS 4", ".nf", ...lines.map(literal), ".fi", ".RE"]

/** A list of names with what they mean. */
export const items = (list) => list.flatMap(({ name, text }) => [".TP", `.B ${quoted(name)}`, escaped(text)])

/** @param time the seconds since 1970 that the page bears */
export const page = ({ body, name, summary, time, version }) => {
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  return [
    `.TH ${quoted(name.toUpperCase())} 1 ${quoted(date)} ${quoted(`Coffer ${version}`)} "User Commands"`,
    // No hyphenation, and no spread words: the pages are full of names.
    ".nh",
    ".ad l",
    ...section("NAME", [`${literal(name)} \\- ${escaped(summary)}`]),
    ...body,
    ""
  ].join("\n")
}
