import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CannotDo } from "../Failures.js"
import { refuse } from "../grammar/Place.js"
import { note, toTerminal, write, writeValues } from "../terminal/Print.js"
import { checkTarget } from "../terminal/Target.js"
import { checkIgnored } from "./GitIgnored.js"
import { checkRender, type RenderOptions } from "./Options.js"
import { isSame, readOutput, updateOutput } from "./OutputFile.js"
import { fetchValues, openTemplate, render } from "./Rendering.js"

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

/** Renders a template once, or for as long as `--watch` says. */
export const runRender = Effect.fnUntraced(function* (options: RenderOptions) {
  yield* refuse(checkRender(options))
  const { check, force, mode, output } = options
  if (output !== undefined) yield* checkTarget(output)
  if (output !== undefined && !check && !force) yield* checkIgnored(output)
  const rendering = yield* openTemplate(options)
  if (rendering.requests.length === 0) yield* note(`${options.template} has no placeholder such as {{KEY}}`)
  const fetched = yield* fetchValues(rendering, options)
  const content = yield* render(rendering, fetched)
  if (output === undefined) return yield* print(content)
  if (check) return yield* compare(output, content)
  yield* note((yield* updateOutput(output, content, mode)) ? `${output} written` : `${output} is up to date`)
  if (!options.watch) return
  const { watchFile } = yield* Effect.promise(() => import("./WatchFile.js"))
  yield* watchFile({ rendering, output, options, fetched })
})
