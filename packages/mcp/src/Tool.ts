import { withReason } from "@coffer/client/internal/Asking"
import type { ClientError } from "@coffer/client/internal/ClientErrors"
import { type ChangeRequested, Reason } from "@coffer/domain/requests/ApprovalRequest"
import type { AnyApiError } from "@coffer/domain/errors/Errors"
import { type BrokenRule, brokenRules } from "@coffer/domain/errors/BrokenRules"
import type { Action } from "@coffer/domain/access/Permissions"
import { optional } from "@coffer/domain/base/Schemas"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Confirm } from "./Confirmation.js"
import type { Call, Connect } from "./Connection.js"
import { BadParameters, type Failure, type NotConfirmed } from "./Failures.js"
import { inputSchema, type ObjectSchema, outputSchema } from "./JsonSchemas.js"
import { cleaned } from "./Cleaned.js"
import { type Hints, isForPeople, type Offer } from "./Offers.js"
import { type FindSettings, namesIn, type Paths, pathsOf, type Scope, placeParameters } from "./Places.js"
import type { RunContext } from "./RunContext.js"
import { afterVotes } from "./Votes.js"

/** The dependencies of a tool. */
export interface ToolContext extends Pick<RunContext, "visits" | "waitsFor"> {
  readonly findSettings: FindSettings
  readonly connect: Connect
  readonly confirm: Confirm
}

export interface Tool extends Offer {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: () => ObjectSchema
  readonly outputSchema: () => ObjectSchema
  /** Runs the tool. Returns what `outputSchema` describes. */
  readonly use: (
    parameters: unknown,
    context: ToolContext
  ) => Effect.Effect<Readonly<Record<string, unknown>>, ReadonlyArray<Failure>>
}

/** The parameters of a tool, including those of every tool. */
export const parameters = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, ...placeParameters })

/** The parameters of a tool that changes an environment, which may be protected. */
export const changing = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  parameters({
    ...fields,
    reason: optional(
      Reason.annotations({ description: "why, for those who approve it", jsonSchema: { type: "string" } })
    )
  })

/** Sends the reason that a call gives. */
const withReasonOf = (given: object) =>
  Predicate.hasProperty(given, "reason") && typeof given.reason === "string" ? withReason(given.reason) : identity

const ruleOf = ({ sentence, type }: BrokenRule) => {
  if (type === "Missing") return " is required"
  return sentence === undefined ? " has the wrong type or form" : `: ${sentence}`
}

const decoder = <P, PI>(schema: Schema.Schema<P, PI> & { readonly fields: Schema.Struct.Fields }) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  const optional = new Set(
    SchemaAST.getPropertySignatures(SchemaAST.encodedAST(schema.ast)).flatMap(({ isOptional, name }) =>
      isOptional ? [String(name)] : []
    )
  )
  /** Models send null or an empty text for what they leave out. */
  const withoutEmpty = (given: unknown): unknown =>
    Predicate.isRecord(given)
      ? Object.fromEntries(
          Object.entries(given).filter(([name, value]) => !optional.has(name) || (value !== null && value !== ""))
        )
      : given
  const others = `the parameters are ${Object.keys(schema.fields).join(", ")}, and no others`
  return (given: unknown): Either.Either<P, BadParameters> =>
    Either.mapLeft(decode(withoutEmpty(given)), (error) => {
      const problems = brokenRules(error).map((rule) =>
        // Do not repeat an unknown parameter name: it may be a value in the wrong place.
        rule.type === "Unexpected" || rule.path.length === 0 ? others : `${String(rule.path[0])}${ruleOf(rule)}`
      )
      return new BadParameters({ message: Array.dedupe(problems).join("; ") })
    })
}

/** Declares a tool. */
export const tool = <
  Depth extends keyof Paths,
  P extends Scope,
  PI extends Scope,
  A,
  I extends Readonly<Record<string, unknown>>
>(definition: {
  readonly name: string
  readonly title: string
  /** Says what the tool returns and when to use it. */
  readonly description: string
  readonly hints: Hints
  readonly when?: Offer["when"]
  /** The action that the server requires a right for, if only people can have it. */
  readonly action?: Action
  readonly parameters: Schema.Schema<P, PI> & { readonly fields: Schema.Struct.Fields }
  /** The scope of the tool: the names that a call needs. */
  readonly at: Depth
  /** False if no credential is needed. */
  readonly credential?: false
  /** The names that come from parameters other than org, project and env. */
  readonly about?: (parameters: P) => Scope
  /** The question that a person must confirm first. */
  readonly confirm?: (path: Paths[Depth], parameters: P) => string
  readonly output: Schema.Schema<A, I>
  readonly run: (
    call: Call,
    path: Paths[Depth],
    parameters: P,
    context: RunContext
  ) => Effect.Effect<A, AnyApiError | ChangeRequested | ClientError | NotConfirmed>
}): Tool => {
  const { at, credential = true, description, hints, name, output, title } = definition
  const { action } = definition
  const when = { ...definition.when, ...(action !== undefined && isForPeople(action) && { person: true as const }) }
  const decode = decoder(definition.parameters)
  const encode = Schema.encodeUnknown(output)

  /** Prepares a run. A failure names everything that is wrong and everything that is missing. */
  const prepare = Effect.fnUntraced(function* (given: unknown, { connect, findSettings }: ToolContext) {
    const decoded = decode(given)
    const settings = yield* Effect.either(
      Either.match(decoded, {
        onLeft: () => findSettings(namesIn(given), {}),
        onRight: (right) => findSettings(right, definition.about?.(right) ?? {})
      })
    )
    const place =
      at === "env" ? Option.getOrUndefined(yield* Effect.option(Effect.flatMap(settings, pathsOf.env))) : undefined
    return yield* Effect.all(
      {
        decoded,
        path: Effect.flatMap(settings, pathsOf[at]),
        call: settings.pipe(
          Effect.flatMap(({ server }) => server),
          Effect.flatMap((server) => Effect.map(connect(server, credential, place), (call) => ({ call, server })))
        )
      },
      { mode: "validate" }
    ).pipe(
      Effect.mapError(({ call, decoded, path }) => {
        const failures: ReadonlyArray<Option.Option<Failure>> = [decoded, path, call]
        return Array.dedupe(Array.getSomes(failures))
      })
    )
  })

  return {
    name,
    title,
    description,
    annotations: hints,
    when,
    inputSchema: () => inputSchema(definition.parameters),
    outputSchema: () => outputSchema(output),
    use: Effect.fnUntraced(function* (given, context) {
      const {
        call: { call, server },
        decoded,
        path
      } = yield* prepare(given, context)
      const { confirm, visits, waitsFor } = context
      const running = { server, visits, waitsFor }
      const question = waitsFor === undefined ? definition.confirm?.(path, decoded) : undefined
      if (question !== undefined) yield* Effect.mapError(confirm(question), Array.of)
      const change = withReasonOf(decoded)(definition.run(call, path, decoded, running))
      const answer = yield* Effect.mapError(afterVotes(change, call, path.org_name, running), Array.of)
      return yield* Effect.orDie(encode(cleaned(answer)))
    })
  }
}
