import { hash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { makeFairQueue } from "../base/FairQueue.js"
import { sharedBounds } from "../base/SharedBounds.js"

/** How many credentials of requests that had to wait are remembered. */
const maxKnown = 10_000

const { total: turnMillis } = sharedBounds.requests

/** A digest of the credential that a request brings: the credential itself is not kept. */
const credentialOf = ({ headers }: IncomingMessage): string | undefined => {
  const credential = headers.authorization ?? headers["x-api-key"] ?? headers["x-vault-token"] ?? headers.cookie
  return credential === undefined ? undefined : hash("sha256", String(credential), "base64")
}

/** A request that waits for its turn. */
export interface Arrival {
  readonly source: IncomingMessage
  /** The client's network. */
  readonly network: string
  /** Begins the request, of the tenant that its credential had before. */
  readonly begin: (tenant: string) => void
  /** Calls back once the request has ended, with its tenant if it was authenticated. */
  readonly onEnd: (learn: (tenant: string) => void) => unknown
}

/**
 * Begins requests as they arrive. If more arrive than one turn of the event loop can begin, they wait, and the tenants are served in
 * turn: otherwise a request would wait for hundreds of another tenant's. Before the authentication, a request's tenant is the one
 * that its credential had before, or else the client's network. Strangers, however many networks they come from, get every other turn
 * at most while a tenant waits.
 */
export const makeTurns = (now = () => performance.now(), nextTurn: (turn: () => void) => void = setImmediate) => {
  const tenants = makeFairQueue<() => void>()
  const strangers = makeFairQueue<() => void>()
  let isStrangersTurn = false
  /** The tenants of credentials, the least recently used first. */
  const known = new Map<string, string>()
  let isOpen = false
  let began = 0

  const learn = (credential: string, tenant: string): void => {
    known.delete(credential)
    known.set(credential, tenant)
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  }

  const isIdle = (): boolean => tenants.isEmpty() && strangers.isEmpty()

  const takeNext = (): (() => void) | undefined => {
    const [first, second] = isStrangersTurn ? [strangers, tenants] : [tenants, strangers]
    isStrangersTurn = !isStrangersTurn
    return first.take() ?? second.take()
  }

  const turn = (): void => {
    isOpen = !isIdle()
    if (!isOpen) return
    nextTurn(turn)
    began = now()
    do takeNext()?.()
    while (!isIdle() && now() - began < turnMillis)
  }

  return ({ begin, network, onEnd, source }: Arrival): void => {
    if (!isOpen) {
      isOpen = true
      began = now()
      nextTurn(turn)
    }
    if (isIdle() && now() - began < turnMillis) {
      begin(network)
      return
    }
    const credential = credentialOf(source)
    const found = credential === undefined ? undefined : known.get(credential)
    const tenant = found ?? network
    const waiting = found === undefined ? strangers : tenants
    waiting.add(tenant, () => {
      if (credential !== undefined) {
        onEnd((learnt) => {
          learn(credential, learnt)
        })
      }
      begin(tenant)
    })
  }
}
