import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { hasCode, readProblem } from "./FileError.js"
import type { HelperRule } from "./HelperRules.js"
import {
  allowEnvKey,
  helpersKey,
  isServiceFileKey,
  isVariableName,
  leasesKey,
  type ServiceFile,
  type ServiceFileKey,
  serviceFileKeys,
  serviceFileName
} from "./ServiceFileKeys.js"
import { SimpleHelpers } from "./SimpleHelpers.js"

/** A name that people give the file, and under which it is not read. */
const otherName = "service.yaml"

class Absent extends Data.TaggedError("Absent") {}

/** `service.yml` cannot be read or is invalid. The message names the file and, if known, the line. */
export class BadServiceFile extends Data.TaggedError("BadServiceFile")<{ readonly message: string }> {}

/** Parses `allow_env: [PATH, "IFS"]`. */
const parseAllowEnv = (line: string): ReadonlyArray<string> | undefined => {
  const [, list] = /^allow_env: \[([A-Za-z0-9_," ]+)\]$/.exec(line) ?? []
  const names = list?.split(", ").map((item) => /^"([^"]*)"$/.exec(item)?.[1] ?? item)
  return names?.every(isVariableName) === true ? names : undefined
}

/** Parses a `service.yml` of lines such as `org: acme` or `org: "acme"`, as `coffer init` writes. Returns none for other YAML. */
export const parseSimpleServiceFile = (source: string): Option.Option<ServiceFile> => {
  const found: ServiceFile = {}
  let block: SimpleHelpers | undefined
  for (const [index, line] of source.split("\n").entries()) {
    if (/^(#[\x20-\x7e]*)?$/.test(line)) continue
    if (line.startsWith(" ")) {
      if (block?.take(line) !== true) return Option.none()
      continue
    }
    if (block?.isWhole === false) return Option.none()
    block = undefined
    if (line === `${helpersKey}:` && found[helpersKey] === undefined) {
      block = new SimpleHelpers()
      found[helpersKey] = { rules: block.rules, line: index + 1 }
      continue
    }
    const names = parseAllowEnv(line)
    if (names !== undefined && found[allowEnvKey] === undefined) {
      found[allowEnvKey] = { names, line: index + 1 }
      continue
    }
    const [, key, quoted, bare] =
      /^([a-z_]+): (?:"([a-zA-Z0-9:/._-]+)"|([a-z0-9](?:[a-z0-9:/._-]*[a-z0-9])?))$/.exec(line) ?? []
    const text = quoted ?? bare
    if (!isServiceFileKey(key) || text === undefined || Object.hasOwn(found, key)) return Option.none()
    found[key] = { text, line: index + 1 }
  }
  return block?.isWhole === false ? Option.none() : Option.some(found)
}

/**
 * The folders that may hold the file: the directory and its parents, up to the root of its repository. Outside of a
 * repository, only the directory: a parent such as `/tmp` may belong to others.
 */
const foldersOf = (directory: string): ReadonlyArray<string> => {
  const folders: Array<string> = []
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    folders.push(folder)
    if (existsSync(join(folder, ".git"))) return folders
    if (dirname(folder) === folder) return folders.slice(0, 1)
  }
}

const read = (path: string) =>
  Effect.try({
    try: () => Option.some(readFileSync(path, "utf8")),
    catch: (cause) =>
      hasCode(cause, "ENOENT")
        ? new Absent()
        : new BadServiceFile({ message: `${path} cannot be read: ${readProblem(cause)}` })
  }).pipe(Effect.catchTag("Absent", () => Effect.succeedNone))

const parse = Effect.fnUntraced(function* (path: string, source: string) {
  const simple = parseSimpleServiceFile(source)
  if (Option.isSome(simple)) return simple.value
  // Loaded lazily: the YAML parser takes as long to load as everything else in `coffer run`.
  const { parseServiceYaml } = yield* Effect.promise(() => import("./ServiceYaml.js"))
  return yield* Either.mapLeft(
    parseServiceYaml(source),
    ({ line, problem }) => new BadServiceFile({ message: `${path}, line ${line}: ${problem}` })
  )
})

/** A `service.yml` that was read. */
export interface ReadFile {
  /** The path from the working directory, for messages. */
  readonly name: string
  /** The absolute path. */
  readonly path: string
  readonly source: string
}

/** A setting with its file. */
export interface FoundSetting {
  readonly text: string
  readonly line: number
  readonly file: ReadFile
}

/** The settings of the `service.yml` files that apply. Each setting comes from the nearest file that has it. */
export interface FoundServiceFiles {
  readonly settings: Partial<Record<ServiceFileKey, FoundSetting>>
  readonly allowEnv: { readonly names: ReadonlyArray<string>; readonly file: ReadFile } | undefined
  readonly helpers: { readonly rules: ReadonlyArray<HelperRule>; readonly file: ReadFile } | undefined
  readonly leases: { readonly roles: ReadonlyMap<string, string>; readonly file: ReadFile } | undefined
  /** The files that were read, the nearest first. */
  readonly files: ReadonlyArray<ReadFile>
  /** The nearest file. */
  readonly nearest: ReadFile | undefined
  /** A file that is not read because it is called `service.yaml`. */
  readonly misnamed: () => string | undefined
}

/** The working directory. It may have been removed. */
export const workingDirectory: Effect.Effect<string, BadServiceFile> = Effect.try({
  try: () => process.cwd(),
  catch: () => new BadServiceFile({ message: "the current directory does not exist any more: change to another one" })
})

/** Reads the `service.yml` files of a directory and its parents in the same repository. */
export const readServiceFiles = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<FoundServiceFiles, BadServiceFile> {
  const settings: Partial<Record<ServiceFileKey, FoundSetting>> = {}
  let allowEnv: FoundServiceFiles["allowEnv"]
  let helpers: FoundServiceFiles["helpers"]
  let leases: FoundServiceFiles["leases"]
  const files: Array<ReadFile> = []
  const folders = foldersOf(directory)
  for (const folder of folders) {
    const path = join(folder, serviceFileName)
    const source = yield* read(path)
    if (Option.isNone(source)) continue
    const file: ReadFile = { name: relative(directory, path), path, source: source.value }
    const own = yield* parse(path, source.value)
    files.push(file)
    for (const key of serviceFileKeys) {
      const setting = own[key]
      if (setting !== undefined) settings[key] ??= { ...setting, file }
    }
    const allowed = own[allowEnvKey]
    if (allowed !== undefined) allowEnv ??= { names: allowed.names, file }
    const given = own[helpersKey]
    if (given !== undefined) helpers ??= { rules: given.rules, file }
    const leased = own[leasesKey]
    if (leased !== undefined) leases ??= { roles: leased.roles, file }
  }
  const misnamed = () => {
    const paths = folders
      .filter((folder) => !existsSync(join(folder, serviceFileName)))
      .map((folder) => join(folder, otherName))
    const path = paths.find((each) => existsSync(each))
    return path === undefined ? undefined : relative(directory, path)
  }
  return { settings, allowEnv, helpers, leases, files, nearest: files[0], misnamed }
})
