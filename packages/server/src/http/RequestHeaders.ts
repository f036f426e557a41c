import { AskingHeaders, mayNeedVotes } from "@coffer/domain/api/AskingHeaders"
import { endpointsOf } from "@coffer/domain/api/Endpoints"
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Option from "effect/Option"
import * as SchemaAST from "effect/SchemaAST"

/** The headers that every call takes: credentials, the type of a body, and an id for the log. */
const common = ["Authorization", "X-API-Key", "Content-Type", "X-Request-Id"]

/** The name of a header as it is mostly written, such as `If-Match`. */
const written = (name: string): string => name.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase())

/** The request headers that the calls of a contract take. */
export const requestHeaders = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<string> => {
  const names = new Set<string>()
  const add = (ast: SchemaAST.AST): void => {
    for (const { name } of SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast))) names.add(written(String(name)))
  }
  for (const { endpoint } of endpointsOf(api)) {
    if (Option.isSome(endpoint.headersSchema)) add(endpoint.headersSchema.value.ast)
    if (mayNeedVotes(endpoint)) add(AskingHeaders.ast)
  }
  return [...common, ...[...names].sort()]
}
