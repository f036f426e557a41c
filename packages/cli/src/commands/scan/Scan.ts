import { readProblem } from "@coffer/client/internal/FileError"
import * as NodeCommandExecutor from "@effect/platform-node/NodeCommandExecutor"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createReadStream, lstatSync } from "node:fs"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { atEnv } from "../../grammar/Command.js"
import { argumentsOf } from "../../grammar/Fields.js"
import { note, printTable } from "../../terminal/Print.js"
import { printView, type View } from "../../terminal/View.js"
import { hasMangledArgument } from "../../run/Mangled.js"
import { keysOption } from "../secrets/KeyArguments.js"
import { bytesOf, type FilePath, pathOfText, shownPath } from "./FilePath.js"
import { filesBelow, readStaged, type Staged, staged } from "./Git.js"
import { leastLength, secretPatterns } from "./SecretPatterns.js"
import { type Find, SecretSearch } from "./Search.js"
import { requireComplete } from "../secrets/CompleteBundle.js"

interface FileFind extends Find {
  readonly file: string
}

/** No more are shown: what has so many is one file that should not be there. */
const most = 1_000

const inFile = (path: FilePath, finds: ReadonlyArray<Find>): ReadonlyArray<FileFind> =>
  finds.map(({ key, line }) => ({ file: shownPath(path), line, key }))

/** The files to scan. */
type Sources =
  | { readonly type: "staged"; readonly files: ReadonlyArray<Staged> }
  | { readonly type: "files"; readonly files: ReadonlyArray<FilePath> }

const scanStaged = Effect.fnUntraced(function* (secrets: SecretSearch, files: ReadonlyArray<Staged>) {
  const searches = files.map(({ path }) => ({ path, search: secrets.start() }))
  const byPath = new Map(searches.map(({ path, search }) => [path, search]))
  yield* readStaged(files, ({ path }) => byPath.get(path)?.take ?? (() => {}))
  return searches.flatMap(({ path, search }) => inFile(path, search.finds()))
})

const cannotRead = (path: FilePath) => (cause: unknown) =>
  new CannotDo({ message: `${shownPath(path)} cannot be read: ${readProblem(cause)}` })

const scanFile = Effect.fnUntraced(function* (secrets: SecretSearch, path: FilePath) {
  const search = secrets.start()
  const chunks = NodeStream.fromReadable<CannotDo>(() => createReadStream(bytesOf(path)), cannotRead(path))
  yield* Stream.runForEach(chunks, (chunk) => Effect.sync(() => search.take(chunk)))
  return inFile(path, search.finds())
})

/** The files behind a name: itself, or what git would take below it. Links are left out, as git keeps only where they lead. */
const filesOf = Effect.fnUntraced(function* (name: string) {
  const statOf = (path: FilePath) =>
    Effect.try({ try: () => lstatSync(bytesOf(path), { throwIfNoEntry: false }), catch: cannotRead(path) })
  const own = pathOfText(name)
  const found = yield* statOf(own)
  if (found === undefined) {
    const isMangled = name.includes("\ufffd") && hasMangledArgument()
    return yield* new CannotDo({
      message: isMangled ? "a name that is not UTF-8 cannot be given: name its folder" : `there is no file ${name}`
    })
  }
  if (!found.isDirectory()) return [own]
  const below = yield* filesBelow(name)
  return yield* Effect.filter(below, (path) => Effect.map(statOf(path), (stat) => stat?.isFile() === true))
})

const sourcesOf = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  if (names.length === 0) return { type: "staged", files: yield* staged } satisfies Sources
  const files = [...new Set((yield* Effect.forEach(names, filesOf)).flat())]
  return { type: "files", files } satisfies Sources
})

const scan = (secrets: SecretSearch, sources: Sources) =>
  sources.type === "staged"
    ? scanStaged(secrets, sources.files)
    : Effect.map(
        Effect.forEach(sources.files, (path) => scanFile(secrets, path)),
        (finds) => finds.flat()
      )

const platform = Layer.provide(NodeCommandExecutor.layer, NodeFileSystem.layer)

const view = (finds: ReadonlyArray<FileFind>): View => ({
  json: { data: finds },
  text:
    finds.length === 0
      ? Effect.void
      : printTable(
          ["file", "line", "key"],
          finds.slice(0, most).map(({ file, key, line }) => [file, line, key])
        )
})

const counted = (count: number, what: string) => `${count} ${count === 1 ? what : `${what}s`}`

export const scanCommand = atEnv("scan", {
  description: "Look for values of the environment in what git has staged, or in files; exit 1 if one is there",
  examples: ["coffer scan", "coffer scan --env prod --except LOG_LEVEL", "coffer scan docs README.md --json"],
  options: {
    only: keysOption("only", "Only the values of these keys, separated by commas"),
    except: keysOption("except", "Not the values of these keys, separated by commas"),
    files: argumentsOf(
      "FILE",
      Schema.String,
      { least: 0, most: Infinity },
      "Files, or folders for what git has or would add there; what is staged when left out"
    )
  },
  run: ({ call, json, options: { except = [], files, only }, path }) =>
    Effect.gen(function* () {
      // Before the values: no read of them is recorded if there is nothing to look through.
      const sources = yield* sourcesOf(files)
      const place = `${path.org_name}/${path.project_name}/${path.env_name}`
      const where = counted(sources.files.length, files.length === 0 ? "staged file" : "file")
      if (sources.files.length === 0) {
        yield* printView(view([]), json)
        return yield* note(`nothing to look through: ${where}`)
      }
      const urlParams = defined({ keys: only })
      const bundle = yield* call("environments", (api) => api.bundle({ path, urlParams, headers: {} }))
      const secrets = yield* requireComplete(bundle, except)
      const { left, patterns } = secretPatterns(secrets)
      if (left.length > 0) {
        yield* note(`not looked for, because the value is a number or shorter than ${leastLength}: ${left.join(", ")}`)
      }
      const finds = yield* scan(new SecretSearch(patterns), sources)
      yield* printView(view(finds), json)
      if (finds.length === 0) return yield* note(`no value of ${place} in ${where}`)
      if (!json && finds.length > most) yield* note(`${finds.length - most} more are not shown`)
      return yield* new CannotDo({
        message: `${counted(finds.length, "value")} of ${place} in ${where}; take them out, and set new ones if they were shared: coffer secret set KEY --generate`
      })
    }).pipe(Effect.provide(platform))
})
