import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CannotDo } from "../../base/Failures.js"
import { refuse } from "../../grammar/Place.js"
import { isRendered } from "../../output/Earlier.js"
import { isSame, openOutput, type OutputFile, readOutput, reopenOutput, updateOutput } from "../../output/OutputFile.js"
import { note, toTerminal, write, writeValues } from "../../terminal/Print.js"
import { checkRender, type RenderOptions } from "./RenderOptions.js"
import { fetchValues, openTemplate, render, type Rendering } from "./Rendering.js"

/** Bytes that are no UTF-8 are shown replaced. */
const print = (content: Buffer) =>
  Effect.flatMap(toTerminal, (isTerminal) =>
    isTerminal ? writeValues(content.toString("utf8"), "--output writes them as they are") : write(content)
  )

/** Says whether the file would change, and shows nothing of it. */
const compare = Effect.fnUntraced(function* (path: string, content: Buffer) {
  const current = yield* readOutput(path)
  if (Option.exists(current, isSame(content))) return yield* note(`${path} is up to date`)
  const how = Option.isNone(current) ? "does not exist yet" : "would change"
  return yield* new CannotDo({ message: `${path} ${how}` })
})

const outputOf = ({ parts }: Rendering, path: string, { force, mode = 0o600 }: RenderOptions): OutputFile => ({
  path,
  force,
  holdsValues: true,
  isOwn: isRendered(parts),
  mode,
  keepsAccess: true,
  otherwise: "without --output the secrets go to standard output"
})

/** Renders a template once, or for as long as `--watch` says. */
export const runRender = Effect.fnUntraced(function* (options: RenderOptions) {
  yield* refuse(checkRender(options))
  const { check, output } = options
  const rendering = yield* openTemplate(options)
  const file = output === undefined ? undefined : outputOf(rendering, output, options)
  const opened = file === undefined ? undefined : yield* check ? reopenOutput(file) : openOutput(file)
  if (rendering.requests.length === 0) yield* note(`${options.template} has no placeholder such as {{KEY}}`)
  const fetched = yield* fetchValues(rendering, options)
  const content = yield* render(rendering, fetched)
  if (opened === undefined) return yield* print(content)
  const { path } = opened.file
  if (check) return yield* compare(path, content)
  yield* note((yield* updateOutput(opened, content)) ? `${path} written` : `${path} is up to date`)
  if (!options.watch) return
  const { watchFile } = yield* Effect.promise(() => import("./WatchFile.js"))
  yield* watchFile({ rendering, file: opened.file, options, fetched })
})
