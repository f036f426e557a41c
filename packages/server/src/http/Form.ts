import { type AnyApiError, UnsupportedMediaType } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { sharedBounds } from "../base/SharedBounds.js"
import { readBody, readBytes, type TooSlow } from "./Body.js"
import { makeMemoryBudget } from "./MemoryBudget.js"
import type { NodeRequest } from "./NodeRequest.js"

const limit = 8 * 1024
const budget = makeMemoryBudget(sharedBounds.forms)

const isForm = (contentType = ""): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType.trim())

const notForm = new UnsupportedMediaType({ message: "this page takes only its own form" })

/** The fields of a form without files, which a browser sends. A duplicate field is left out. */
export type Form = ReadonlyMap<string, string>

/** Reads the form of a page, whose memory the scope of the request holds. Fails as `readBody` does. */
export const readForm = (request: NodeRequest): Effect.Effect<Form, AnyApiError | TooSlow, Scope.Scope> =>
  Effect.suspend(() => {
    const memory = budget.scoped(request.info.ip ?? "")
    const whole = Effect.flatMap(memory, (reserve) => readBytes(request.source, limit, reserve, isForm, notForm))
    return Effect.map(whole, (bytes) => {
      const fields = new URLSearchParams(bytes.toString("utf8"))
      const seen = new Set<string>()
      const repeated = new Set<string>()
      for (const name of fields.keys()) (seen.has(name) ? repeated : seen).add(name)
      return new Map([...fields].filter(([name]) => !repeated.has(name)))
    })
  })

/** Reads a small JSON body of a stranger, whose memory the scope of the request holds. Fails as `readBody` does. */
export const readSmallJson = (request: NodeRequest): Effect.Effect<unknown, AnyApiError | TooSlow, Scope.Scope> =>
  Effect.flatMap(budget.scoped(request.info.ip ?? ""), (reserve) => readBody(request.source, limit, reserve))
