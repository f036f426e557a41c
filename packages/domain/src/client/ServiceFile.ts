import { Data, Effect, Option } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { hasCode } from "./FileError.js"

export const serviceFileName = "service.yml"

const keys = ["server_url", "org", "project", "env"] as const
export type ServiceFileKey = (typeof keys)[number]

/** What `service.yml` says, with the line that says it. */
export type ServiceFile = Partial<Record<ServiceFileKey, { readonly text: string; readonly line: number }>>

/** `service.yml` cannot be read or does not say what it may; the message names the file and, where there is one, the line. */
export class BadServiceFile extends Data.TaggedError("BadServiceFile")<{ readonly message: string }> {}

const isKey = (text: unknown): text is ServiceFileKey => keys.some((key) => key === text)

/**
 * Reads `service.yml` in a directory; an empty record where there is none.
 *
 * Every scalar is read as the text that it is, so that an organization may be called `123` or `null`.
 */
export const readServiceFile = Effect.fnUntraced(function* (directory: string) {
  const path = resolve(directory, serviceFileName)
  const source = yield* Effect.try({
    try: () => Option.some(readFileSync(path, "utf8")),
    catch: (cause) => cause
  }).pipe(
    Effect.catchAll((cause) =>
      hasCode(cause, "ENOENT")
        ? Effect.succeedNone
        : Effect.fail(new BadServiceFile({ message: `${path}: cannot be read; check what it is and its permissions` }))
    )
  )
  const none: ServiceFile = {}
  if (Option.isNone(source)) return none
  // Most of the program's users have such a file, but not all: it is loaded when there is one.
  const yaml = yield* Effect.promise(() => import("yaml"))
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(source.value, { schema: "failsafe", lineCounter: lines, prettyErrors: false })
  const refuse = (offset: number, problem: string) =>
    new BadServiceFile({ message: `${path}, line ${lines.linePos(offset).line}: ${problem}` })
  const [error] = document.errors
  if (error !== undefined) return yield* refuse(error.pos[0], `not valid YAML: ${error.message}`)
  const root = document.contents
  if (root === null || (yaml.isScalar(root) && root.source === "")) return none
  const start = root.range[0]
  if (!yaml.isMap(root)) return yield* refuse(start, `must hold lines such as "org: acme"`)
  const found: ServiceFile = {}
  for (const { key, value } of root.items) {
    const offset = yaml.isNode(key) ? key.range[0] : start
    const name = yaml.isScalar(key) ? key.value : undefined
    if (!isKey(name)) {
      const shown = typeof name === "string" ? JSON.stringify(name) : "this"
      return yield* refuse(offset, `${shown} is not a key of ${serviceFileName}; the keys are ${keys.join(", ")}`)
    }
    if (!yaml.isScalar(value) || typeof value.value !== "string" || value.value === "") {
      return yield* refuse(offset, `${name} must have a text as its value`)
    }
    found[name] = { text: value.value, line: lines.linePos(offset).line }
  }
  return found
})
