import { createHash, randomUUID } from "node:crypto"

/** A question to a person, at which a call ends. The host repeats the call with the reply. */
export interface Question {
  readonly kind: "confirm" | "approve" | "votes"
  /** Tells it from other questions of the call: its text, or the id of what a page is for. */
  readonly about: string
}

/** Keeps the question of a call until the host repeats the call. */
export interface Questions {
  /** Returns the state that the host sends with the reply. `call` is the digest of the call. */
  readonly ask: (call: string, question: Question) => Promise<string>
  /** Returns the question of a state, once. Null if it is another call's or caller's, is too old, or was used before. */
  readonly redeem: (call: string, state: string) => Promise<Question | null>
}

/** How long a person has for a reply. */
export const replyMillis = 5 * 60_000

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const inOrder = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value

/** The digest of a call, whatever the order of its parameters. */
export const digestOf = (tool: string, parameters: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify([tool, parameters], inOrder))
    .digest("base64url")

const maxKept = 100

interface Kept {
  readonly call: string
  readonly question: Question
  readonly expires: number
}

/** Keeps the questions of one host in memory, for a process that answers no other host. */
export const questionsInMemory = (): Questions => {
  const kept = new Map<string, Kept>()
  return {
    ask: (call, question) => {
      const state = randomUUID()
      kept.set(state, { call, question, expires: performance.now() + replyMillis })
      const [oldest] = kept.keys()
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
      return Promise.resolve(state)
    },
    redeem: (call, state) => {
      const found = kept.get(state)
      kept.delete(state)
      return Promise.resolve(
        found !== undefined && found.call === call && found.expires >= performance.now() ? found.question : null
      )
    }
  }
}
