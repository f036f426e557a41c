import { RemovedId } from "@coffer/domain/base/Ids"
import type { Removed } from "@coffer/domain/directory/Removed"
import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import { momentCell, momentText } from "../../base/Moments.js"
import type { Failure } from "../../base/Failures.js"
import { CannotDo, NotThere, WrongUsage } from "../../base/Failures.js"
import { option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"
import { ask, canAsk } from "../../terminal/Prompts.js"
import { listView } from "../../terminal/View.js"

export const removedFlag = flag("removed", "Those that were deleted and can be restored, instead")

export const idOption = option(
  "id",
  idOf(RemovedId),
  "The id of the one that is meant, or its first characters, where several had the name"
)

/** The kind of item that is deleted or restored, and the next commands about it. */
export interface Kind {
  readonly what: "organization" | "project" | "environment"
  /** The command that restores the item of a name. */
  readonly restore: (name: string) => string
  /** The command that lists those that can be restored. */
  readonly list: string
}

/** The options that a next command needs, besides its place. */
export const serverOption = ({ serverUrl }: CommandLineSettings): string =>
  serverUrl === undefined ? "" : ` --server-url ${serverUrl}`

const columns = {
  name: ({ name }: Removed) => name,
  deleted: ({ removed_at }: Removed) => momentCell(removed_at),
  by: ({ removed_by }: Removed) => removed_by,
  "restorable until": ({ restorable_until }: Removed) => momentCell(restorable_until),
  id: ({ id }: Removed) => id
}

/** The list of what can be restored. */
export const removedView = (list: { readonly data: ReadonlyArray<Removed> }, { restore, what }: Kind) => {
  const view = listView(list, columns, `no deleted ${what} can be restored`)
  const hint = list.data.length === 0 ? Effect.void : note(`bring one back with: ${restore("NAME")}`)
  return { ...view, text: Effect.zipLeft(view.text, hint) }
}

/** Says how to undo a deletion. An older server, or one that keeps nothing, has nothing to say. */
export const noteRestore = <E extends Failure, R>(
  list: Effect.Effect<{ readonly data: ReadonlyArray<Removed> }, E, R>,
  name: string,
  { restore }: Kind
): Effect.Effect<void, never, Output | R> =>
  Effect.flatMap(
    Effect.orElseSucceed(list, () => ({ data: [] })),
    ({ data: [newest] }) =>
      newest === undefined
        ? Effect.void
        : note(`until ${momentText(newest.restorable_until)}, bring it back with: ${restore(name)}`)
  )

/** The one that a name means: that of the id, or the one that was deleted last. */
export const restorable = Effect.fnUntraced(function* (
  { data }: { readonly data: ReadonlyArray<Removed> },
  name: string,
  id: RemovedId | undefined,
  { list, what }: Kind
) {
  const meant = id === undefined ? data.slice(0, 1) : data.filter((one) => one.id.startsWith(id))
  if (meant.length > 1) {
    return yield* new WrongUsage({
      message: `${id ?? ""} is the beginning of the ids of ${meant.length} deleted ${what}s: give more of it`
    })
  }
  const [found] = meant
  if (found === undefined) {
    return yield* new NotThere({
      message: `no deleted ${what} ${name}${id === undefined ? "" : ` with this id`} can be restored; ${list} shows those that can`
    })
  }
  if (id === undefined && data.length > 1) {
    yield* note(
      `${data.length} deleted ${what}s had the name ${name}: this is the one that was deleted last, ${found.id}`
    )
  }
  return found
})

/** The only one that a name means: what is erased is not guessed. */
export const erasable = Effect.fnUntraced(function* (
  list: { readonly data: ReadonlyArray<Removed> },
  name: string,
  id: RemovedId | undefined,
  kind: Kind
) {
  if (id === undefined && list.data.length > 1) {
    return yield* new WrongUsage({
      message: `${list.data.length} deleted ${kind.what}s had the name ${name}: say which with --id; ${kind.list} shows them`
    })
  }
  return yield* restorable(list, name, id, kind)
})

/** Asks for the name of what is destroyed, again. Without a terminal, fails unless `yes` is set. */
export const confirmName = Effect.fnUntraced(function* (question: string, name: string, yes: boolean) {
  if (yes) return
  if (!(yield* canAsk)) {
    return yield* new WrongUsage({ message: "nobody can be asked here: add --yes to continue without a question" })
  }
  const answer = yield* ask(`${question} Type ${name} to go on: `)
  if (answer !== name) return yield* new CannotDo({ message: "that is another name: nothing was changed" })
})
