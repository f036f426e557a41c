import type { CurrentCaller } from "@coffer/domain/access/Actor"
import type { AskingHeader } from "@coffer/domain/api/AskingHeaders"
import { ChangeRequested, Reason } from "@coffer/domain/requests/ApprovalRequest"
import {
  type ApprovalRequired,
  type Forbidden,
  type LimitExceeded,
  type NotFound,
  type Unauthorized,
  ValidationError
} from "@coffer/domain/errors/Errors"
import type * as Headers from "@effect/platform/Headers"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ChangeMode } from "../../access/gate/GateDecision.js"
import { VotesMissing } from "../../access/gate/VotesMissing.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import type { CallRequest } from "./CallCodec.js"
import { Requests } from "./Requests.js"

const isReason = Schema.is(Reason)

/** The text of a header, which is percent-encoded UTF-8. */
const reasonIn = (headers: Headers.Headers, name: AskingHeader) => {
  const sent = headers[name]
  if (sent === undefined) return Effect.succeed(null)
  const wrong = new ValidationError({
    message: `the header ${name}: must be a reason of 1 to 500 characters on one line, as percent-encoded UTF-8`
  })
  return Effect.try({ try: () => decodeURIComponent(sent), catch: () => wrong }).pipe(
    Effect.filterOrFail(isReason, () => wrong)
  )
}

/** Whether a caller takes a 202 (RFC 7240, section 4.1). */
const prefersRequest = (headers: Headers.Headers, name: AskingHeader = "prefer"): boolean =>
  (headers[name] ?? "").split(",").some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference))

/** Whether a call only says what it would change. */
const isDryRun = ({ payload }: CallRequest): boolean =>
  Predicate.hasProperty(payload, "dry_run") && payload.dry_run === true

/** Whether votes would let the change through: it can be asked for. */
const isVotesMissing = <E>(error: E): error is E & VotesMissing => error instanceof VotesMissing

/** Errors of a request for a change, besides the errors of the change. */
type Asking = ChangeRequested | ApprovalRequired | ValidationError | LimitExceeded | NotFound | Forbidden | Unauthorized

/** The request of an endpoint of a group. */
export type RequestOf<
  Group extends HttpApiGroup.HttpApiGroup.Any,
  Name extends string
> = HttpApiEndpoint.HttpApiEndpoint.Request<
  HttpApiEndpoint.HttpApiEndpoint.WithName<HttpApiGroup.HttpApiGroup.Endpoints<Group>, Name>
>

/** The calls that change protected environments, by their names in the contract: each can be asked for, and made later. */
export class GatedHandlers extends Effect.Service<GatedHandlers>()("@coffer/server/GatedHandlers", {
  effect: Effect.gen(function* () {
    const requests = yield* Requests

    /**
     * Makes the handler of a call that passes the gate. Refused there, it becomes a request for those who take a 202. Whatever else
     * refuses it goes before the votes: nobody asks for what cannot be done.
     *
     * @param run makes the change. It runs again when the request is approved, in the transaction of the last vote
     * @param finish what follows the commit
     */
    const gated = <Request extends CallRequest, A, E, B = A>(
      call: string,
      run: (request: Request) => Effect.Effect<A, E, CurrentCaller>,
      finish?: (made: A) => Effect.Effect<B>
    ) => {
      requests.register(call, run, finish)
      const ask = (request: Request, { at }: VotesMissing, reason: string | null) =>
        Effect.gen(function* () {
          const { org, request: asked } = yield* requests.ask(call, request, run(request), at, reason)
          return yield* new ChangeRequested({ request: asked, location: `/api/orgs/${org}/requests/${asked.id}` })
        })
      return (request: Request): Effect.Effect<A, E | Asking, CurrentCaller | HttpServerRequest.HttpServerRequest> =>
        Effect.gen(function* () {
          const { headers } = yield* NodeRequest.current
          const glass = yield* reasonIn(headers, "x-coffer-break-glass")
          const reason = yield* reasonIn(headers, "x-coffer-reason")
          const mode = isDryRun(request)
            ? ({ kind: "dryRun" } as const)
            : glass === null
              ? ({ kind: "direct" } as const)
              : ({ kind: "breakGlass", reason: glass } as const)
          return yield* run(request).pipe(
            Effect.provideService(ChangeMode, mode),
            Effect.catchIf(isVotesMissing, (refused): Effect.Effect<never, Asking | E, CurrentCaller> =>
              prefersRequest(headers) ? ask(request, refused, reason) : requests.rehearse(run(request), refused)
            )
          )
        })
    }

    return { gated } as const
  }),
  dependencies: [Requests.Default]
}) {}
