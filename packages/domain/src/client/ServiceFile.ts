import { Data, Effect, Either, Option } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { hasCode } from "./FileError.js"

export const serviceFileName = "service.yml"

export const serviceFileKeys = ["server_url", "org", "project", "env"] as const
export type ServiceFileKey = (typeof serviceFileKeys)[number]

/** What `service.yml` says, with the line that says it. */
export type ServiceFile = Partial<Record<ServiceFileKey, { readonly text: string; readonly line: number }>>

/** `service.yml` cannot be read or does not say what it may; the message names the file and, where there is one, the line. */
class Absent extends Data.TaggedError("Absent") {}

export class BadServiceFile extends Data.TaggedError("BadServiceFile")<{ readonly message: string }> {}

export const isServiceFileKey = (text: unknown): text is ServiceFileKey => serviceFileKeys.some((key) => key === text)

/**
 * What a `service.yml` says that holds nothing but lines such as `org: acme` or `org: "acme"`, as `coffer init` writes it;
 * none for every other, whose meaning takes a parser of YAML to tell.
 */
export const parseSimpleServiceFile = (source: string): Option.Option<ServiceFile> => {
  const found: ServiceFile = {}
  for (const [index, line] of source.split("\n").entries()) {
    if (/^(#[\x20-\x7e]*)?$/.test(line)) continue
    const [, key, quoted, bare] =
      /^([a-z_]+): (?:"([a-zA-Z0-9:/._-]+)"|([a-z0-9](?:[a-z0-9:/._-]*[a-z0-9])?))$/.exec(line) ?? []
    const text = quoted ?? bare
    if (!isServiceFileKey(key) || text === undefined || Object.hasOwn(found, key)) return Option.none()
    found[key] = { text, line: index + 1 }
  }
  return Option.some(found)
}

/** Reads `service.yml` in a directory; an empty record where there is none. */
export const readServiceFile = Effect.fnUntraced(function* (directory: string) {
  const path = resolve(directory, serviceFileName)
  const source = yield* Effect.try({
    try: () => Option.some(readFileSync(path, "utf8")),
    catch: (cause) =>
      hasCode(cause, "ENOENT")
        ? new Absent()
        : new BadServiceFile({ message: `${path}: cannot be read; check what it is and its permissions` })
  }).pipe(Effect.catchTag("Absent", () => Effect.succeedNone))
  const none: ServiceFile = {}
  if (Option.isNone(source)) return none
  const simple = parseSimpleServiceFile(source.value)
  if (Option.isSome(simple)) return simple.value
  // The parser of YAML takes as long to load as everything else that a quick call needs.
  const { parseServiceYaml } = yield* Effect.promise(() => import("./ServiceYaml.js"))
  return yield* Either.mapLeft(
    parseServiceYaml(source.value),
    ({ line, problem }) => new BadServiceFile({ message: `${path}, line ${line}: ${problem}` })
  )
})
