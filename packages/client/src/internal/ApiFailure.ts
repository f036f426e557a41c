import * as Effect from "effect/Effect"
import type { AnyApiError } from "@coffer/domain/errors/Errors"
import type { Refused } from "./ClassifyResponse.js"
import { UnknownApiError } from "./ClientErrors.js"

/** Returns the field of an error that comes from the response's headers. */
export const retryAfterOf = ({ retryAfter }: Refused) => (retryAfter === undefined ? {} : { retryAfter })

const propsOf = (refused: Refused) => ({ message: refused.message, ...retryAfterOf(refused) })

/** The error for a refusal with a code that this client does not know, or does not expect. */
export const unknownApiError = (refused: Refused): UnknownApiError =>
  new UnknownApiError({ ...propsOf(refused), status: refused.response.status, code: refused.code })

/** Fails with the error of the contract that a refusal stands for. The errors are loaded only here: few requests fail. */
export const toApiError = (refused: Refused): Effect.Effect<never, AnyApiError | UnknownApiError> =>
  Effect.flatMap(
    Effect.promise(() => import("@coffer/domain/errors/Errors")),
    ({ errors }) => {
      const known = errors.find(({ code, status }) => code === refused.code && status === refused.response.status)
      return Effect.fail(known === undefined ? unknownApiError(refused) : new known(propsOf(refused)))
    }
  )
