import * as Effect from "effect/Effect"
import { withoutEnv } from "../../../staging/Staged.js"
import { send } from "../../../staging/Writes.js"
import type { Column } from "../Grid.js"
import type { Model } from "../Model.js"
import { type FilePlan, stageFile } from "./FilePlan.js"

/**
 * Writes the secrets of a file at once, into a project that has none: there is nothing that a review would compare them with. They
 * are staged first, so that a failure loses nothing. Another write meanwhile leads to the review.
 */
export const storeFile = (model: Model, column: Column, plan: FilePlan) =>
  Effect.gen(function* () {
    const { place, sent, staging } = model
    const env = column.name
    stageFile(model, column, plan)
    const staged = staging.staged.peek().get(env)
    if (staged === undefined) return
    const result = yield* send(place, env, staged)
    switch (result.type) {
      case "refused":
        return yield* Effect.fail(result.failure)
      case "conflict":
        model.setOpen({ type: "review" })
        return
      case "written":
        sent.value = [{ env, revision: result.written.revision, etag: result.etag }]
        staging.drop((all) => withoutEnv(all, env))
        return
      case "requested":
        staging.drop((all) => withoutEnv(all, env))
    }
  })
