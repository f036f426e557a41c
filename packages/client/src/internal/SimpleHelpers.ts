import type { HelperRule, HelperTool } from "./HelperRules.js"

/** A word in quotes or without. */
const word = (form: string) => `(?:"(${form})"|(${form}))`

const ruleLine = new RegExp(
  `^ {4}${word("[a-z0-9](?:[a-z0-9.-]{0,100}[a-z0-9])?(?::[0-9]{1,5})?")}: ` +
    `\\{ username: ${word("[A-Za-z][A-Za-z0-9._-]{0,100}")}, key: ${word("[A-Za-z_][A-Za-z0-9_]{0,99}")} \\}$`
)

const toolLines: Readonly<Record<string, HelperTool>> = { "  git:": "git", "  docker:": "docker" }

/** The lines below `helpers:`, in the one form that needs no parser. */
export class SimpleHelpers {
  readonly rules: Array<HelperRule> = []
  private readonly tools = new Set<HelperTool>()
  private tool: HelperTool | undefined

  /** Takes a line. Returns whether it has that form. */
  take(line: string): boolean {
    const next = toolLines[line]
    if (next !== undefined) {
      const isNew = !this.tools.has(next) && this.hasHosts
      this.tool = next
      this.tools.add(next)
      return isNew
    }
    const { rules, tool } = this
    const [, quotedHost, bareHost, quotedName, bareName, quotedKey, bareKey] = ruleLine.exec(line) ?? []
    const host = quotedHost ?? bareHost
    const username = quotedName ?? bareName
    const key = quotedKey ?? bareKey
    if (tool === undefined || host === undefined || username === undefined || key === undefined) return false
    if (rules.some((rule) => rule.tool === tool && rule.host === host)) return false
    rules.push({ tool, host, path: "", username, key })
    return true
  }

  /** Whether every program has a host. */
  private get hasHosts(): boolean {
    return [...this.tools].every((tool) => this.rules.some((rule) => rule.tool === tool))
  }

  /** Whether a parser would take the lines. */
  get isWhole(): boolean {
    return this.rules.length > 0 && this.hasHosts
  }
}
