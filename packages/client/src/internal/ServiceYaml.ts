import { leaseRoleNameForm } from "@coffer/domain/base/NameForms"
import { yamlProblem } from "@coffer/domain/formats/YamlProblem"
import * as Either from "effect/Either"
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml"
import { helperRulesIn, helpersExample } from "./HelperRules.js"
import {
  allowEnvKey,
  helpersKey,
  isLeaseName,
  isServiceFileKey,
  isVariableName,
  leasesKey,
  type ServiceFile,
  serviceFileKeys,
  serviceFileName
} from "./ServiceFileKeys.js"

export interface YamlProblem {
  readonly line: number
  readonly problem: string
}

/** The names of a list. None if it is no list of names of variables. */
const namesIn = (list: unknown): ReadonlyArray<string> | undefined => {
  if (!isSeq(list)) return undefined
  const names = list.items.map((item) => (isScalar(item) && typeof item.value === "string" ? item.value : ""))
  return names.every(isVariableName) ? names : undefined
}

/** The roles of a mapping such as `DB: app-role`. None if it is no such mapping. */
const rolesIn = (mapping: unknown): ReadonlyMap<string, string> | undefined => {
  if (!isMap(mapping) || mapping.items.length === 0) return undefined
  const roles = new Map<string, string>()
  for (const { key, value } of mapping.items) {
    const [name, role] = [key, value].map((node) =>
      isScalar(node) && typeof node.value === "string" ? node.value : ""
    )
    if (name === undefined || role === undefined || !isLeaseName(name) || !leaseRoleNameForm.is(role)) return undefined
    roles.set(name, role)
  }
  return roles
}

/** Parses a `service.yml`. Every scalar is a string, so that an organization may be called `123` or `null`. */
export const parseServiceYaml = (source: string): Either.Either<ServiceFile, YamlProblem> => {
  const lines = new LineCounter()
  const document = parseDocument(source, { schema: "failsafe", lineCounter: lines, prettyErrors: false })
  const refuse = (offset: number, problem: string) => Either.left({ line: lines.linePos(offset).line, problem })
  const [error] = document.errors
  if (error !== undefined) return refuse(error.pos[0], `not valid YAML: ${yamlProblem(error)}`)
  const root = document.contents
  if (root === null || (isScalar(root) && root.source === "")) return Either.right({})
  const start = root.range[0]
  if (!isMap(root)) return refuse(start, `must hold lines such as "org: acme"`)
  const found: ServiceFile = {}
  for (const { key, value } of root.items) {
    const offset = isNode(key) ? key.range[0] : start
    const name = isScalar(key) ? key.value : undefined
    if (name === allowEnvKey) {
      const names = namesIn(value)
      if (names === undefined)
        return refuse(offset, `${name} must be a list of names of variables, as in [NODE_OPTIONS]`)
      found[allowEnvKey] = { names, line: lines.linePos(offset).line }
      continue
    }
    if (name === helpersKey) {
      const rules = helperRulesIn(value)
      if (rules === undefined)
        return refuse(offset, `${name} must name programs, hosts and credentials, as in ${helpersExample}`)
      found[helpersKey] = { rules, line: lines.linePos(offset).line }
      continue
    }
    if (name === leasesKey) {
      const roles = rolesIn(value)
      if (roles === undefined) return refuse(offset, `${name} must name variables and roles, as in { DB: app-role }`)
      found[leasesKey] = { roles, line: lines.linePos(offset).line }
      continue
    }
    if (!isServiceFileKey(name)) {
      const shown = typeof name === "string" ? JSON.stringify(name) : "this"
      return refuse(
        offset,
        `${shown} is not a key of ${serviceFileName}; the keys are ${[...serviceFileKeys, allowEnvKey, helpersKey, leasesKey].join(", ")}`
      )
    }
    if (!isScalar(value) || typeof value.value !== "string" || value.value === "") {
      return refuse(offset, `${name} must have a text as its value`)
    }
    found[name] = { text: value.value, line: lines.linePos(offset).line }
  }
  return Either.right(found)
}
