/**
 * The manual pages. Those of the client come from the same data as its help; those of the tool server and the server are
 * their help.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../bundling.mjs"
import { example, items, page, paragraph, section, subsection, typed } from "./roff.mjs"

const { groupUsage, usageItems, usageLines } = await import("../../packages/cli/dist/grammar/Usage.js")

/** Returns the parts of a command's manual: its input and its effect. They have titles of their own. */
const commandParts = (path, leaf) => {
  const { arguments: words, common, options } = usageItems(leaf)
  return {
    synopsis: usageLines(path, leaf).flatMap(typed),
    description: paragraph(`${leaf.description}.`),
    options: items([...words, ...options, ...common]),
    examples: example(leaf.examples)
  }
}

const allParts = (path, leaf) => Object.values(commandParts(path, leaf)).flat()

const seeAlso = (name, names) =>
  section(
    "SEE ALSO",
    paragraph(
      names
        .filter((one) => one !== name)
        .map((one) => `${one}(1)`)
        .join(", ")
    )
  )

/** The page of a command, or of a noun with its commands. */
const nodePage = (node) => {
  if (node.type === "command") {
    const { description, examples, options, synopsis } = commandParts([node.name], node)
    return [
      ...section("SYNOPSIS", synopsis),
      ...section("DESCRIPTION", description),
      ...section("OPTIONS", options),
      ...section("EXAMPLES", examples)
    ]
  }
  const alias = node.alias === undefined ? [] : paragraph(`coffer ${node.alias} is the same as coffer ${node.name}.`)
  return [
    ...section("SYNOPSIS", typed(groupUsage([node.name]))),
    ...section("DESCRIPTION", [...paragraph(`${node.description}.`), ...alias]),
    ...section(
      "COMMANDS",
      node.commands.flatMap((leaf) => subsection(`${node.name} ${leaf.name}`, allParts([node.name, leaf.name], leaf)))
    )
  ]
}

const lowered = (text) => `${text[0].toLowerCase()}${text.slice(1)}`

/** The pages of the client: an overview, and one for each command or noun. */
const clientPages = ({ description, nodes }, common) => {
  // A name may have two words, such as `declare list`.
  const nameOf = (node) => `coffer-${node.name.replaceAll(" ", "-")}`
  const names = ["coffer", ...nodes.map(nameOf), "coffer-mcp"]
  const overview = {
    name: "coffer",
    summary: lowered(description),
    body: [
      ...section("SYNOPSIS", typed(groupUsage([]))),
      ...section("DESCRIPTION", paragraph("Each command has a page of its own, and says more with --help.")),
      ...section(
        "COMMANDS",
        items(nodes.map((node) => ({ name: node.name, text: `${node.description}. See ${nameOf(node)}(1).` })))
      )
    ]
  }
  const pages = nodes.map((node) => ({ name: nameOf(node), summary: lowered(node.description), body: nodePage(node) }))
  return [overview, ...pages]
    .map(({ body, ...one }) =>
      page({ ...common, ...one, body: [...body, ...seeAlso(one.name, one.name === "coffer" ? names : ["coffer"])] })
    )
    .map((text, index) => [`${names[index]}.1`, text])
}

/** Titles of our help, as manual pages have them. */
const titles = { USAGE: "SYNOPSIS", VARIABLES: "ENVIRONMENT" }

/** Lists and paragraphs of a help text: a name and its text stand in columns, or the text below. */
const blocksOf = (lines) => {
  const blocks = []
  for (const [index, line] of lines.entries()) {
    const [, indent, name, text = ""] = /^( *)(.*?)(?: {2,}(.*))?$/.exec(line)
    const last = blocks.at(-1)
    const isBelow = (each = "") => /^ {8}/.test(each)
    if (line === "") blocks.push({ text: "" })
    else if (isBelow(line)) last.text = `${last.text} ${line.trim()}`.trim()
    else if (indent !== "" && (text !== "" || isBelow(lines[index + 1]))) blocks.push({ name, text })
    else if (last === undefined || last.name !== undefined) blocks.push({ text: name })
    else last.text = `${last.text} ${name}`.trim()
  }
  return blocks
    .filter(({ name, text }) => name !== undefined || text !== "")
    .flatMap((block) => (block.name === undefined ? paragraph(block.text) : items([block])))
}

/** The page of a program from the text of its help. */
const helpPage = ({ common, help, name, summary }) => {
  const parts = help.trimEnd().split(/^(?=[A-Z]+$)/m)
  const body = parts.flatMap((part) => {
    const [first, ...rest] = part.trimEnd().split("\n")
    if (!/^[A-Z]+$/.test(first)) return section("DESCRIPTION", blocksOf(part.trimEnd().split("\n")))
    return section(
      titles[first] ?? first,
      first === "USAGE" ? rest.flatMap((line) => typed(line.trim())) : blocksOf(rest)
    )
  })
  return page({
    ...common,
    name,
    summary,
    body: [...body, ...seeAlso(name, ["coffer", "coffer-mcp", "coffer-server"])]
  })
}

const helpOf = async (path) => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL(path, root)), "--help"])
  return stdout
}

/** Returns the manual pages by file name: those of the client's package, and those of the server's. */
export const manuals = async (common) => {
  const { tree } = await import("../../packages/cli/dist/Commands.js")
  const [title, ...serverHelp] = (await helpOf("packages/server/bin/coffer-server.js")).split("\n")
  return {
    client: Object.fromEntries([
      ...clientPages(tree, common),
      [
        "coffer-mcp.1",
        helpPage({
          common,
          name: "coffer-mcp",
          summary: "serves the tools of Coffer to an agent",
          help: await helpOf("packages/mcp/bin/coffer-mcp.js")
        })
      ]
    ]),
    server: {
      "coffer-server.1": helpPage({
        common,
        name: "coffer-server",
        summary: title.replace(/^coffer-server: /, ""),
        help: serverHelp.join("\n")
      })
    }
  }
}
