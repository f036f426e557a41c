import { ownPart } from "./WorkerShare.js"

/** How much of a bound one holder may have: a number, or as much as it leaves free, which is half at most. */
export type Each = number | "as much as it leaves free"

/** A resource that all tenants of a process share. A tenant may have to wait for it, or be refused. */
export interface SharedBound {
  /** The thing, as docs/internals/architecture.md names it. */
  readonly what: string
  readonly unit: string
  readonly total: number
  /** The most that one holder may have at once. */
  readonly each: Each
  /** On whose behalf it is held. */
  readonly holder: "tenant" | "network" | "caller" | "log"
  /** The behavior beyond the share or the whole. */
  readonly beyond: string
  /** Whether the workers of a server have equal parts of it, instead of the whole each. */
  readonly isDivided?: true
}

/** A bound whose whole is a setting, or a part of one. */
export interface SizedBound extends Omit<SharedBound, "total" | "each"> {
  readonly total: string
  readonly each: string
  readonly sized: (size: number) => SharedBound
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

const half = "as much as it leaves free"

const inTurn = "waits, the tenants in turn"
const refused = "503"

/** The largest body, of a bundle, is half of it. */
const leastBodies = 32 * mebibyte

/** Returns one holder's share of a bound that is held only for a moment: one in five is kept for others. */
const fourFifths = (size: number): number => Math.max(1, size - Math.ceil(size / 5))

/** A bound of the server: this process has its part, and at least what the largest request of one holder needs. */
const divided = (bound: Omit<SharedBound, "isDivided">, least = 1): SharedBound => ({
  ...bound,
  total: Math.max(least, ownPart(bound.total)),
  each: typeof bound.each === "number" ? ownPart(bound.each) : bound.each,
  isDivided: true
})

/** A bound whose whole is a setting, which is divided before. */
const sized = (bound: Omit<SizedBound, "sized" | "isDivided">): SizedBound => ({
  ...bound,
  isDivided: true,
  sized: (size) => ({ ...bound, total: size, each: fourFifths(size) })
})

/**
 * All that tenants share in a process. Semaphores, budgets and queues are made from these entries, and a test finds one that is
 * not. A bound that is held for long takes `half`, so that one tenant, or some, leave a share for the next one. Memory, slots and
 * statements are divided among workers; what belongs to a process, such as its event loop, is not.
 */
export const sharedBounds = {
  eventLoop: {
    what: "the event loop, for work longer than a turn",
    unit: "ms a turn",
    total: 5,
    each: 5,
    holder: "tenant",
    beyond: "waits, fibers that hold a lock first (16 turns of 17), then the tenants in turn"
  },
  requests: {
    what: "requests that begin",
    unit: "ms a turn",
    total: 3,
    each: 3,
    holder: "tenant",
    beyond: `${inTurn}: before the authentication, the tenant that the credential had before, or the network`
  },
  bodies: divided(
    {
      what: "memory of request bodies",
      unit: "MiB",
      total: 64 * mebibyte,
      each: half,
      holder: "tenant",
      beyond: refused
    },
    leastBodies
  ),
  strangersBodies: divided({
    what: "memory of request bodies without a credential",
    unit: "MiB",
    total: 4 * mebibyte,
    each: mebibyte,
    holder: "network",
    beyond: refused
  }),
  forms: divided({
    what: "memory of the forms of login pages",
    unit: "KiB",
    total: mebibyte,
    each: 128 * kibibyte,
    holder: "network",
    beyond: refused
  }),
  directoryBodies: divided(
    {
      what: "memory of the bodies of directories (SCIM)",
      unit: "MiB",
      total: 16 * mebibyte,
      each: half,
      holder: "tenant",
      beyond: refused
    },
    4 * mebibyte
  ),
  bodyParser: {
    what: "the thread that parses bodies above 64 KiB",
    unit: "body",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  largeResponses: {
    what: "large responses that are built",
    unit: "responses",
    total: 2,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  responses: {
    what: "memory of responses above 64 KiB, while they are built and until they are sent",
    unit: "MiB",
    total: 32 * mebibyte,
    each: half,
    holder: "tenant",
    beyond:
      "the response that has waited longest for its client, for a second or more, is cut, of the tenant or of all; else 503"
  },
  compressions: {
    what: "responses that are compressed, each in a thread of Node's",
    unit: "responses",
    total: 2,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  largeChanges: {
    what: "changes of more than 50 keys that are prepared",
    unit: "changes",
    total: 4,
    each: 2,
    holder: "tenant",
    beyond: `${inTurn}; 503 after 30 seconds`
  },
  writer: {
    what: "the writer of SQLite",
    unit: "change",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: `${inTurn}; the commit of a group comes last, or after 25 ms`
  },
  snapshots: {
    what: "snapshots of SQLite",
    unit: "snapshots",
    total: 6,
    each: half,
    holder: "tenant",
    beyond: inTurn
  },
  connections: sized({
    what: "connections of PostgreSQL",
    unit: "connections",
    total: "the pool",
    each: "four of five",
    holder: "tenant",
    beyond: `${inTurn}; 503 after 4 seconds`
  }),
  connectionSnapshots: sized({
    what: "connections of PostgreSQL with snapshots",
    unit: "connections",
    total: "half of the pool",
    each: "four of five",
    holder: "tenant",
    beyond: inTurn
  }),
  scopeLine: divided({
    what: "changes of a scope on PostgreSQL: an organization, a person, an address, the list of users",
    unit: "changes",
    total: 400,
    each: half,
    holder: "tenant",
    beyond: `${inTurn}; 503 after 4 seconds, and beyond the share at once`
  }),
  scopeTurn: {
    what: "changes of a scope that run at once, in a process",
    unit: "change",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  attemptTurn: {
    what: "attempts of a subject that run at once",
    unit: "attempt",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  attempts: divided({
    what: "attempts of a subject that a rate limit counts",
    unit: "attempts",
    total: 66,
    each: half,
    holder: "tenant",
    beyond: "wait without a connection; 503 beyond the share"
  }),
  deviceLogins: {
    what: "logins of programs that wait for their codes",
    unit: "logins",
    total: 10_000,
    each: 10_000,
    holder: "network",
    beyond: "the oldest of the network that has most is ended"
  },
  clientDocuments: divided({
    what: "documents of programs that ask for consent, while they are fetched",
    unit: "documents",
    total: 8,
    each: half,
    holder: "tenant",
    beyond: `${inTurn}; 503 after 4 seconds`
  }),
  uses: divided({
    what: "requests with secrets",
    unit: "requests",
    total: 16,
    each: half,
    holder: "tenant",
    beyond: `${inTurn}; 503 after 4 seconds`
  }),
  usesOfAccount: {
    what: "requests with secrets, of one account",
    unit: "requests",
    total: 4,
    each: 4,
    holder: "caller",
    beyond: "429"
  },
  useStreams: divided({
    what: "requests with secrets whose responses come as streams",
    unit: "requests",
    total: 32,
    each: half,
    holder: "tenant",
    beyond: `${inTurn}; an error in the stream after 4 seconds`
  }),
  useStreamsOfAccount: {
    what: "streams of requests with secrets, of one account",
    unit: "requests",
    total: 8,
    each: 8,
    holder: "caller",
    beyond: "an error in the stream"
  },
  scrubs: divided({
    what: "responses to requests with secrets that are searched for values",
    unit: "responses",
    total: 4,
    each: 2,
    holder: "tenant",
    beyond: inTurn
  }),
  deliveries: {
    what: "deliveries of webhooks in flight",
    unit: "deliveries",
    total: 256,
    each: half,
    holder: "tenant",
    beyond: inTurn
  },
  pushes: divided({
    what: "calls of platforms that secrets are pushed to",
    unit: "calls",
    total: 32,
    each: half,
    holder: "tenant",
    beyond: inTurn
  }),
  pushTurns: {
    what: "pushes by the server itself, each with the values of an environment",
    unit: "pushes",
    total: 8,
    each: half,
    holder: "tenant",
    beyond: inTurn
  },
  renewals: {
    what: "turns of rotations in other databases",
    unit: "turns",
    total: 16,
    each: half,
    holder: "tenant",
    beyond: inTurn
  },
  renewedDatabase: {
    what: "logins to one database of connections",
    unit: "logins",
    total: 2,
    each: 2,
    holder: "tenant",
    beyond: `${inTurn}; 503 to a caller who waits for 10 seconds`
  },
  leaseRemovals: {
    what: "removals of leased users",
    unit: "removals",
    total: 16,
    each: half,
    holder: "tenant",
    beyond: inTurn
  },
  verifications: divided({
    what: "verifications of logs",
    unit: "logs",
    total: 16,
    each: half,
    holder: "tenant",
    beyond: `${inTurn}; one of a log at a time`
  }),
  indexBatches: {
    what: "the search index of the audit log",
    unit: "batch of 2,000 entries",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: inTurn
  },
  pendingEntries: divided({
    what: "audit entries that wait for the database",
    unit: "groups",
    total: 20_000,
    each: half,
    holder: "log",
    beyond: "counted, and noted in the log as missing"
  }),
  pendingCharacters: divided({
    what: "text of audit entries that wait for the database",
    unit: "MiB",
    total: 32 * mebibyte,
    each: half,
    holder: "log",
    beyond: "counted, and noted in the log as missing"
  }),
  approvalMails: {
    what: "requests whose deciders are looked up",
    unit: "request",
    total: 1,
    each: 1,
    holder: "tenant",
    beyond: `${inTurn}; beyond 20 of an organization no mail is sent`
  },
  loginMails: divided({
    what: "mails with login codes that wait for the mail server",
    unit: "mails",
    total: 1_000,
    each: half,
    holder: "tenant",
    beyond: "not sent, and logged"
  }),
  otherMails: divided({
    what: "notices, and invitations, that wait for the mail server",
    unit: "mails each",
    total: 200,
    each: half,
    holder: "tenant",
    beyond: "not sent, and logged; notices are queued again"
  }),
  lastUses: divided({
    what: "last uses of credentials that are not written yet",
    unit: "uses",
    total: 1_000,
    each: 1_000,
    holder: "caller",
    beyond: "recorded with the next use"
  })
} as const satisfies Record<string, SharedBound | SizedBound>

/** Whether a holder of `own` may take `amount` of a bound of which `all` is held. */
export const mayTake = (
  { each, total }: Pick<SharedBound, "each" | "total">,
  own: number,
  all: number,
  amount: number
): boolean => {
  const rest = total - all - amount
  // A whole that is not in use takes anything: it would never be taken otherwise.
  if (rest < 0) return all === 0
  return own === 0 || (typeof each === "number" ? own + amount <= each : own + amount <= rest)
}
