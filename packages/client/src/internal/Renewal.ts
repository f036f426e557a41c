/** A resource that is opened again when its keys change. It runs on promises: the clients without Effect and for Effect 4 share it. */
import { MissingSecretError } from "../promise/CofferError.js"
import { countUses, type Used } from "./Uses.js"

/** The values of the keys, undefined for a key that does not exist. */
export type Texts = ReadonlyArray<string | undefined>

export interface RenewalOptions<A> {
  /** The keys' values as they are now. */
  readonly texts: () => Texts
  /** Opens the resource with the current values. The signal says that these have changed meanwhile. */
  readonly open: (signal: AbortSignal) => Promise<A>
  readonly close: (resource: A) => unknown
  /** Receives a sentence without values. */
  readonly warn: (sentence: string) => void
  /** The resource's name in warnings. */
  readonly name: string
}

export interface Renewal<A> {
  readonly current: () => Used<A>
  /** Looks whether the values have changed. */
  readonly look: () => void
  /** Ends the renewal. Closes the resource once nothing uses it. */
  readonly close: () => Promise<void>
}

/** The first wait after a failure, and the longest, in milliseconds. */
const [soonest, rarest] = [1_000, 60_000]

/** Between 0.8 and 1.2, so that not all processes try at once. */
const jitter = () => 0.8 + (0.4 * (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0)) / 255

const areSame = (one: Texts, other: Texts): boolean => one.every((text, index) => text === other[index])

const kindOf = (failure: unknown): string => {
  if (typeof failure !== "object" || failure === null) return "an error"
  if ("_tag" in failure && typeof failure._tag === "string") return failure._tag
  const code = "code" in failure && typeof failure.code === "string" ? ` ${failure.code}` : ""
  return failure instanceof Error ? `${failure.constructor.name}${code}` : "an error"
}

/** A failure may hold a value, such as the address of a database. The name of its kind and its code do not. */
export const nameOfFailure = (failure: unknown, texts: Texts): string => {
  // Its message names a key and a place.
  if (failure instanceof MissingSecretError) return failure.message
  const name = kindOf(failure)
  const hasText = texts.some((text) => text !== undefined && text !== "" && name.includes(text))
  return /^[\w ./-]{1,80}$/.test(name) && !hasText ? name : "an error"
}

/**
 * Opens a resource, and opens it again when a value has changed. The new one replaces the old one, which is closed once its
 * users have ended. While the new one cannot be opened, the old one stays, and the attempt is repeated.
 */
export const renewing = async <A>({ close, name, open, texts, warn }: RenewalOptions<A>): Promise<Renewal<A>> => {
  const attempt = async (signal: AbortSignal) => {
    const opened = texts()
    return { texts: opened, used: countUses(await open(signal)) }
  }
  const closing = new Set<Promise<void>>()
  const end = ({ resource, unused }: Used<A>) => {
    const ended = unused()
      .then(() => close(resource))
      .then(
        () => undefined,
        (failure: unknown) => warn(`the old ${name} was not closed properly: ${nameOfFailure(failure, texts())}`)
      )
      .finally(() => closing.delete(ended))
    closing.add(ended)
  }

  let current = await attempt(new AbortController().signal)
  /** The values that are in use or being tried. */
  let wanted = current.texts
  let trying: AbortController | undefined
  let timer: NodeJS.Timeout | undefined
  let isEnded = false

  const stop = () => {
    trying?.abort()
    clearTimeout(timer)
  }
  const renew = async (controller: AbortController, failures: number): Promise<void> => {
    const { signal } = controller
    try {
      const next = await attempt(signal)
      if (signal.aborted) return end(next.used)
      const { used } = current
      current = next
      end(used)
    } catch (failure) {
      if (signal.aborted) return
      warn(`${name} could not be opened again, so the old one stays: ${nameOfFailure(failure, wanted)}`)
      const wait = Math.min(soonest * 2 ** failures, rarest) * jitter()
      timer = setTimeout(() => void renew(controller, failures + 1), wait).unref()
    }
  }
  const look = () => {
    const now = texts()
    if (isEnded || areSame(now, wanted)) return
    stop()
    wanted = now
    if (areSame(now, current.texts)) return
    trying = new AbortController()
    void renew(trying, 0)
  }
  look()

  return {
    current: () => current.used,
    look,
    close: async () => {
      if (!isEnded) {
        isEnded = true
        stop()
        end(current.used)
      }
      await Promise.all(closing)
    }
  }
}
