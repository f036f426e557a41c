import { Either } from "effect"
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml"
import { isServiceFileKey, type ServiceFile, serviceFileKeys, serviceFileName } from "./ServiceFile.js"

export interface YamlProblem {
  readonly line: number
  readonly problem: string
}

/** Parses a `service.yml`. Every scalar is a string, so that an organization may be called `123` or `null`. */
export const parseServiceYaml = (source: string): Either.Either<ServiceFile, YamlProblem> => {
  const lines = new LineCounter()
  const document = parseDocument(source, { schema: "failsafe", lineCounter: lines, prettyErrors: false })
  const refuse = (offset: number, problem: string) => Either.left({ line: lines.linePos(offset).line, problem })
  const [error] = document.errors
  if (error !== undefined) return refuse(error.pos[0], `not valid YAML: ${error.message}`)
  const root = document.contents
  if (root === null || (isScalar(root) && root.source === "")) return Either.right({})
  const start = root.range[0]
  if (!isMap(root)) return refuse(start, `must hold lines such as "org: acme"`)
  const found: ServiceFile = {}
  for (const { key, value } of root.items) {
    const offset = isNode(key) ? key.range[0] : start
    const name = isScalar(key) ? key.value : undefined
    if (!isServiceFileKey(name)) {
      const shown = typeof name === "string" ? JSON.stringify(name) : "this"
      return refuse(offset, `${shown} is not a key of ${serviceFileName}; the keys are ${serviceFileKeys.join(", ")}`)
    }
    if (!isScalar(value) || typeof value.value !== "string" || value.value === "") {
      return refuse(offset, `${name} must have a text as its value`)
    }
    found[name] = { text: value.value, line: lines.linePos(offset).line }
  }
  return Either.right(found)
}
