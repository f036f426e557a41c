import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext
} from "@modelcontextprotocol/server"
import { abilitiesOf, formOf, isTicked, programOf, replyOf } from "./Elicitation.js"
import type { Question, Questions } from "./Questions.js"
import type { Host, Reply } from "./ToolResult.js"

const never = new Promise<never>(() => undefined)

const refused = () =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "requestState belongs to another call or caller, is older than 5 minutes, or was used before: call again without it",
    { reason: "invalid_request_state" }
  )

/**
 * The host of the revision 2026-07-28: a question ends the call with a result that asks for input, and the host repeats the
 * call with the reply and the state of the question. A reply counts only for the question that the state names.
 */
export const hostOfRounds = async ({ mcpReq }: ServerContext, call: () => string, questions: Questions) => {
  const { envelope = {}, inputResponses, signal } = mcpReq
  const sent: Readonly<Record<string, unknown>> = { ...envelope }
  const { canAsk, canVisit } = abilitiesOf(sent[CLIENT_CAPABILITIES_META_KEY])
  const state: unknown = mcpReq.requestState()
  const returned = typeof state === "string" ? await questions.redeem(call(), state) : undefined
  if (returned === null) return Promise.reject(refused())

  const ended = new AbortController()
  let end: (asked: InputRequiredResult) => void = () => undefined
  const asked = new Promise<InputRequiredResult>((resolve) => {
    end = (result) => {
      resolve(result)
      ended.abort()
    }
  })
  const replied = ({ about, kind }: Question): Reply | undefined => {
    if (returned?.kind !== kind || returned.about !== about) return undefined
    const view = inputResponse(inputResponses, kind)
    return view.kind === "elicit" ? replyOf(view.action, kind !== "confirm" || isTicked(view.content)) : undefined
  }
  const put = async (question: Question, input: ReturnType<typeof inputRequired.elicit>): Promise<Reply> => {
    const reply = replied(question)
    if (reply !== undefined) return reply
    const requestState = await questions.ask(call(), question)
    end(inputRequired({ inputRequests: { [question.kind]: input }, requestState }))
    return never
  }
  const host: Host = {
    signal: AbortSignal.any([signal, ended.signal]),
    ask: canAsk
      ? (message) => put({ kind: "confirm", about: message }, inputRequired.elicit(formOf(message)))
      : undefined,
    visits: canVisit
      ? {
          propose: ({ id, kind, message, url }) => put({ kind, about: id }, inputRequired.elicitUrl({ message, url })),
          complete: () => Promise.resolve()
        }
      : undefined,
    waitsFor: returned?.kind === "votes" ? returned.about : undefined,
    program: programOf(sent[CLIENT_INFO_META_KEY])
  }
  return { host, asked } as const
}
