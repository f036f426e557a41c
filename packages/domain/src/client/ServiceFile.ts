import { Data, Effect, Either, Option } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { hasCode } from "./FileError.js"

export const serviceFileName = "service.yml"

export const serviceFileKeys = ["server_url", "org", "project", "env"] as const
export type ServiceFileKey = (typeof serviceFileKeys)[number]

/** The settings in `service.yml`, each with its line number. */
export type ServiceFile = Partial<Record<ServiceFileKey, { readonly text: string; readonly line: number }>>

class Absent extends Data.TaggedError("Absent") {}

/** `service.yml` cannot be read or is invalid. The message names the file and, if known, the line. */
export class BadServiceFile extends Data.TaggedError("BadServiceFile")<{ readonly message: string }> {}

export const isServiceFileKey = (text: unknown): text is ServiceFileKey => serviceFileKeys.some((key) => key === text)

/** Parses a `service.yml` of lines such as `org: acme` or `org: "acme"`, as `coffer init` writes. Returns none for other YAML. */
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

/** Reads `service.yml` in a directory. Returns an empty record if there is none. */
export const readServiceFile = Effect.fnUntraced(function* (directory: string) {
  const path = resolve(directory, serviceFileName)
  const source = yield* Effect.try({
    try: () => Option.some(readFileSync(path, "utf8")),
    catch: (cause) =>
      hasCode(cause, "ENOENT")
        ? new Absent()
        : new BadServiceFile({ message: `${path}: cannot be read; check that it is a file, and its permissions` })
  }).pipe(Effect.catchTag("Absent", () => Effect.succeedNone))
  const none: ServiceFile = {}
  if (Option.isNone(source)) return none
  const simple = parseSimpleServiceFile(source.value)
  if (Option.isSome(simple)) return simple.value
  // Loaded lazily: the YAML parser takes as long to load as everything else in `coffer run`.
  const { parseServiceYaml } = yield* Effect.promise(() => import("./ServiceYaml.js"))
  return yield* Either.mapLeft(
    parseServiceYaml(source.value),
    ({ line, problem }) => new BadServiceFile({ message: `${path}, line ${line}: ${problem}` })
  )
})
