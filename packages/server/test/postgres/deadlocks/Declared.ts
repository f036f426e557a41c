import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"
import { Either, Option, Schema } from "effect"
import type { Endpoint } from "../../authorization/Contract.js"

interface Answer {
  readonly status: number
  readonly text: string
  readonly body: unknown
}

const isBody = new Map<string, (body: unknown) => boolean>()

HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, errors, successes }) => {
    for (const [status, { ast }] of [...errors, ...successes]) {
      const is = Option.match(ast, {
        onNone: () => () => true,
        onSome: (found) => {
          const decode = Schema.decodeUnknownEither(Schema.make<unknown, unknown>(found))
          return (body: unknown) => Either.isRight(decode(body))
        }
      })
      isBody.set(`${endpoint.method} ${endpoint.path} ${status}`, is)
    }
  }
})

/** Whether the contract declares an answer of a call: its status, and a body of that status. It declares defects, too. */
export const isDeclared = ({ call }: Endpoint, { body, status, text }: Answer): boolean => {
  const is = isBody.get(`${call} ${status}`)
  return status !== 500 && is !== undefined && (text === "" || is(body))
}
