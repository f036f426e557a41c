import { isMap, isScalar, type Node } from "yaml"
import { secretKeyForm } from "@coffer/domain/base/NameForms"

/** The programs that ask for a credential by the name of a host. */
export const helperTools = ["git", "docker"] as const
export type HelperTool = (typeof helperTools)[number]

/** The credential for a host, as `service.yml` names it. */
export interface HelperRule {
  readonly tool: HelperTool
  /** In small letters, with the port if there is one. */
  readonly host: string
  /** The repositories of the host, such as `acme` or `acme/webshop`; empty for all. Of git alone. */
  readonly path: string
  readonly username: string
  /** The key of the secret that is the password. */
  readonly key: string
}

export const helpersExample = 'helpers: { git: { "github.com": { username: "x-access-token", key: "GITHUB_TOKEN" } } }'

const hostForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?$/

const pathForm = /^[\w.~-]{1,100}(?:\/[\w.~-]{1,100}){0,9}$/

/** No control characters: the protocols of the programs have lines. */
const usernameForm = /^[^\x00-\x1f\x7f-\x9f]{1,255}$/

const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === "string" ? node.value : undefined

/** The members of a mapping with texts as keys. */
const membersOf = (node: unknown): ReadonlyArray<readonly [name: string, value: unknown]> | undefined => {
  if (!isMap<unknown, Node | null>(node)) return undefined
  const members = node.items.map(({ key, value }) => [textOf(key) ?? "", value] as const)
  return members.length > 0 && members.every(([name]) => name !== "") ? members : undefined
}

/** A host, and with git the path of repositories behind it. */
const placeOf = (tool: HelperTool, name: string): Pick<HelperRule, "host" | "path"> | undefined => {
  const slash = tool === "git" ? name.indexOf("/") : -1
  const host = (slash < 0 ? name : name.slice(0, slash)).toLowerCase()
  const path = slash < 0 ? "" : name.slice(slash + 1).replace(/\.git$/, "")
  return hostForm.test(host) && (slash < 0 || pathForm.test(path)) ? { host, path } : undefined
}

const ruleOf = (tool: HelperTool, name: string, node: unknown): HelperRule | undefined => {
  const members = new Map(membersOf(node))
  const username = textOf(members.get("username"))
  const key = textOf(members.get("key"))
  const place = placeOf(tool, name)
  if (members.size !== 2 || username === undefined || key === undefined || place === undefined) return undefined
  return usernameForm.test(username) && secretKeyForm.is(key) ? { tool, ...place, username, key } : undefined
}

/** Reads the value of `helpers`. None if it is not as in the example. */
export const helperRulesIn = (node: unknown): ReadonlyArray<HelperRule> | undefined => {
  const rules = membersOf(node)?.flatMap(([name, hosts]) => {
    const tool = helperTools.find((each) => each === name)
    const members = membersOf(hosts)
    if (tool === undefined || members === undefined) return [undefined]
    return members.map(([name, value]) => ruleOf(tool, name, value))
  })
  return rules?.every((rule) => rule !== undefined) === true ? rules : undefined
}
