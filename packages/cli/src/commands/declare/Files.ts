import type { ProjectPath } from "@coffer/domain/api/Paths"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CannotDo, WrongUsage } from "../../base/Failures.js"
import type { Call } from "../../grammar/Command.js"
import { isSame, openOutput, type OutputFile, readOutput, reopenOutput, writeOutput } from "../../output/OutputFile.js"
import { sourceOf } from "../../terminal/Bytes.js"
import { plural } from "../../terminal/Plural.js"
import { note, printJson, printTable, showTable } from "../../terminal/Print.js"
import { agrees, canAsk } from "../../terminal/Prompts.js"
import { readText } from "../../terminal/TextFile.js"
import { type Change, type Choices, differenceOf, requiredText } from "./Difference.js"
import { readExample } from "./ExampleFile.js"
import { declarationRequest } from "./DeclarationRequest.js"
import { writeExample } from "./WriteExample.js"

/** The largest file, in bytes. */
const largest = 8 * 1024 * 1024

interface FromContext {
  readonly call: Call
  readonly path: ProjectPath
  readonly json: boolean
  readonly options: { readonly dryRun: boolean; readonly yes: boolean }
}

const columns = ["key", "change", "required in", "pattern", "example"]
const rowsOf = (changes: ReadonlyArray<Change>) =>
  changes.map(({ change, key, wanted: { example, pattern, required_in } }) => [
    key,
    change,
    requiredText(required_in),
    pattern,
    example
  ])

const isChange = ({ change }: Change): boolean => change !== "unchanged"

/** Shows the changes and asks. Without a terminal, fails if something that is declared would be replaced. */
const approve = Effect.fnUntraced(function* (changes: ReadonlyArray<Change>, project: string) {
  if (yield* canAsk) {
    yield* showTable(columns, rowsOf(changes.filter(isChange)))
    if (yield* agrees(`Declare ${plural(changes.filter(isChange).length, "key")} of ${project}?`)) return
    return yield* new CannotDo({ message: "nothing was changed" })
  }
  const replaced = changes.filter(({ change }) => change === "updated")
  if (replaced.length === 0) return
  return yield* new WrongUsage({
    message: `${project}: this would change ${replaced.length} declared keys, and nobody can be asked here: look at it with --dry-run, then add --yes`
  })
})

/** Declares the keys of a file, one after the other: what was declared before a failure stays, and the rest can be declared again. */
export const declareFrom = Effect.fnUntraced(function* (
  { call, json, options, path }: FromContext,
  file: string,
  choices: Choices
) {
  const source = sourceOf(file)
  const text = yield* readText(source, largest, "larger than any list of keys: check that it is the right file")
  const read = yield* readExample(source.name, Redacted.value(text))
  const { isPrivate, keys, real } = declarationRequest(file, read.keys)
  if (isPrivate) {
    yield* note(
      `the values and comments of ${source.name} may be secrets, so they are not sent: name it .env.example if they are not`
    )
  }
  if (real.length > 0) {
    yield* note(
      `not sent, because it looks like a real secret: the value or comment of ${real.join(", ")}; replace it where it is one`
    )
  }
  const unknown = new Set(read.keys.flatMap(({ unknown }) => unknown))
  if (unknown.size > 0) yield* note(`not declared, because a declaration cannot express it: ${[...unknown].join(", ")}`)
  const declared = yield* call("declared", (api) => api.list({ path }))
  const changes = differenceOf({ ...read, keys }, declared.data, choices)
  const due = changes.filter(isChange)
  if (!options.dryRun && !options.yes && due.length > 0) yield* approve(changes, path.project_name)
  if (!options.dryRun) {
    yield* Effect.forEach(due, ({ key, wanted: payload }, index) =>
      Effect.tapError(
        call("declared", (api) => api.set({ path: { ...path, key }, payload })),
        () => note(`${index} of ${plural(due.length, "key")} ${index === 1 ? "was" : "were"} declared; ${key} was not`)
      )
    )
  }
  if (json) yield* printJson({ data: changes.map(({ change, key, wanted }) => ({ key, change, ...wanted })) })
  else if (changes.length > 0) yield* printTable(columns, rowsOf(changes))
  const count = (change: string) => changes.filter((each) => each.change === change).length
  const sum = `${count("created")} created, ${count("updated")} updated, ${count("unchanged")} unchanged`
  yield* note(
    options.dryRun ? `${path.project_name}: would be ${sum}; nothing was declared` : `${path.project_name}: ${sum}`
  )
  const names = new Set<string>(read.keys.map(({ key }) => key))
  const others = declared.data.filter(({ key }) => !names.has(key)).length
  if (others > 0) yield* note(`${others} more are declared that are not in ${source.name}: they stay`)
})

/** Writes what a project declares to a file that reads back to the same. It holds no secret. */
export const declareTo = Effect.fnUntraced(function* ({ call, options, path }: FromContext, file: string) {
  const { data } = yield* call("declared", (api) => api.list({ path }))
  if (data.length === 0) {
    return yield* new CannotDo({
      message: `project ${path.project_name} declares no keys, or none that you may see; nothing was written to ${file}`
    })
  }
  const { left, text } = writeExample(data)
  const content = Buffer.from(text)
  const target: OutputFile = {
    path: file,
    force: options.yes,
    refusal: new WrongUsage({ message: `${file} already exists, and nobody can be asked here: add --yes` }),
    holdsValues: false,
    // Its comments may be a person's work, unless it is recorded as this command left it.
    isOwn: () => false,
    mode: undefined,
    keepsAccess: true
  }
  const { before } = yield* reopenOutput(target)
  const isCurrent = before !== undefined && Option.exists(yield* readOutput(file), isSame(content))
  if (left.length > 0) yield* note(`left out, because no such file can hold them: ${left.join(", ")}`)
  const what = `${data.length - left.length} declared keys of ${path.project_name}`
  if (isCurrent) return yield* note(`${file} has the ${what} already`)
  if (options.dryRun) return yield* note(`${what} would be written to ${file}; nothing was written`)
  const output = yield* openOutput(target)
  yield* writeOutput(output, (write) => write(content))
  yield* note(`${what} written to ${file}`)
})
