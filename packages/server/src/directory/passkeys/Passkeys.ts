import type { UserActor } from "@coffer/domain/access/Actor"
import { Conflict, Forbidden, InvalidCode, LimitExceeded } from "@coffer/domain/errors/Errors"
import type { SessionId } from "@coffer/domain/base/Ids"
import { PasskeyId } from "@coffer/domain/base/Ids"
import {
  type AssertionOptions,
  isPasskeyTransport,
  maxPasskeys,
  type Passkey,
  passkeyAlgorithms,
  type PasskeyName,
  type ProvenSession,
  type RegistrationOptions
} from "@coffer/domain/directory/Passkey"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { notFound } from "../../access/place/NotFound.js"
import { loginTooOld } from "../../access/caller/RecentLogin.js"
import { refuse } from "../../access/place/RefusedAccess.js"
import { sessionLimits } from "../../access/caller/SessionLimits.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { afterCommit, Database } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { mintClientSecret } from "../../keys/ClientCodes.js"
import { hashToken } from "../../keys/Token.js"
import { CodeExpiry } from "../login/CodeExpiry.js"
import { registeredNotice, removedNotice } from "./PasskeyNotices.js"
import { type RelyingParty, relyingPartyOf } from "./RelyingParty.js"
import { type PasskeyRow, passkeysRepo } from "./Repo.js"
import { challengeIn, type RegisteredCredential } from "./WebAuthn.js"

const challengeMillis = 5 * 60_000

export const notAccepted = new InvalidCode({
  message: "this passkey was not accepted: its proof is wrong, used or older than 5 minutes; try again"
})

/** A challenge that a request has taken: nobody else gets it. */
export interface ClaimedChallenge {
  readonly challenge: string
  /** The session that it proves. */
  readonly target: SessionId
}

/** A proof that was verified: of a passkey, and what its authenticator counted. */
export interface Proof {
  readonly passkey: PasskeyRow
  readonly counter: number
}

const transportsIn = (json: string): ReadonlyArray<string> => {
  const found: unknown = JSON.parse(json)
  return Array.isArray(found) ? found.filter(Predicate.isString) : []
}

const descriptorOf = ({ credential_id, transports }: PasskeyRow) => ({
  id: credential_id,
  type: "public-key" as const,
  transports: transportsIn(transports)
})

const passkeyOf = ({ created_at, id, last_used_at, name }: PasskeyRow): Passkey => ({
  id,
  name,
  created_at,
  last_used_at
})

/** A person's passkeys: the second factor for what needs a recent login. */
export class Passkeys extends Effect.Service<Passkeys>()("@coffer/server/Passkeys", {
  effect: Effect.gen(function* () {
    const ages = yield* CodeExpiry
    const audit = yield* AuditLog
    const mailer = yield* Mailer
    const repo = yield* passkeysRepo
    const { clock } = yield* Database
    const found = relyingPartyOf(yield* ServerConfig)

    /** Fails with Forbidden, which says why, where passkeys are off. */
    const relyingParty: Effect.Effect<RelyingParty, Forbidden> = Predicate.isString(found)
      ? new Forbidden({ message: found })
      : Effect.succeed(found)

    /** The session of a person's request. Delegations, which have none, never come here. */
    const sessionOf = ({ sessionId }: UserActor) =>
      sessionId === null ? Effect.dieMessage("a person without a session") : Effect.succeed(sessionId)

    /**
     * Fails unless the person logged in within 15 minutes, in a terminal too: whoever found its session would otherwise register a
     * passkey, and then pass wherever one is required.
     */
    const requireLoginOfNow = (person: UserActor) => (person.mayRecover ? Effect.void : loginTooOld(person, "now"))

    const list = traced("Passkeys.list")((person: UserActor) =>
      Effect.map(repo.ofUser({ userId: person.id }), (rows) => rows.map(passkeyOf))
    )

    const tooMany = (rows: ReadonlyArray<PasskeyRow>) =>
      rows.length < maxPasskeys
        ? Effect.void
        : new LimitExceeded({ message: `a person has at most ${maxPasskeys} passkeys: remove one of them first` })

    /** Issues a challenge for the session of the request. Only its hash is stored. */
    const issue = Effect.fnUntraced(function* (person: UserActor, purpose: "register" | "prove", targetId: SessionId) {
      const sessionId = yield* sessionOf(person)
      const challenge = Redacted.value(yield* mintClientSecret)
      const id = hashToken(challenge)
      const millis = yield* clock
      const times = { now: timestamp(millis), expiresAt: timestamp(millis + challengeMillis) }
      yield* repo.insertChallenge({ id, sessionId, purpose, targetId, ...times })
      yield* ages.note(id, challengeMillis)
      return { challenge, timeout: challengeMillis }
    })

    /** Begins a registration. Call it in a transaction of the person's scope, as all that follows. */
    const begin = method("Passkeys.begin", function* (person: UserActor) {
      const party = yield* relyingParty
      yield* requireLoginOfNow(person)
      const rows = yield* repo.ofUser({ userId: person.id })
      yield* tooMany(rows)
      const options: RegistrationOptions = {
        ...(yield* issue(person, "register", yield* sessionOf(person))),
        rp: { id: party.id, name: "Coffer" },
        user: { id: Buffer.from(person.id).toString("base64url"), name: person.email, displayName: person.name },
        pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ alg, type: "public-key" })),
        excludeCredentials: rows.map(descriptorOf),
        authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
        attestation: "none"
      }
      return options
    })

    /** Issues a challenge for a session of the person: that of the request, or one of a program. */
    const challenge = method("Passkeys.challenge", function* (person: UserActor, asked?: SessionId) {
      const party = yield* relyingParty
      const rows = yield* repo.ofUser({ userId: person.id })
      if (rows.length === 0) return yield* notFound("a passkey of yours")
      const own = yield* sessionOf(person)
      if (asked !== undefined && asked !== own) {
        const program = yield* repo.program({ id: asked, userId: person.id, ...(yield* sessionLimits) })
        if (program === undefined) return yield* notFound(`session ${asked} of a program of yours`)
      }
      const options: AssertionOptions = {
        ...(yield* issue(person, "prove", asked ?? own)),
        rpId: party.id,
        allowCredentials: rows.map(descriptorOf),
        userVerification: "required"
      }
      return options
    })

    /**
     * Takes the challenge of a response, so that no other request can use it. Null if the session of the request has no such
     * challenge. Call it in a transaction of its own, before the proof is verified.
     */
    const claim = method(
      "Passkeys.claim",
      function* (person: UserActor, purpose: "register" | "prove", clientDataJSON: string) {
        yield* relyingParty
        const challenge = challengeIn(clientDataJSON)
        if (challenge === null) return null
        const sessionId = yield* sessionOf(person)
        const [row] = yield* repo.claimChallenge({ id: hashToken(challenge), sessionId, purpose })
        if (row === undefined || (yield* ages.isExpired(row, yield* clock))) return null
        const claimed: ClaimedChallenge = { challenge, target: row.target_id }
        return claimed
      }
    )

    /** Keeps a credential that was verified. The session of the request counts as proven by it. */
    const create = method(
      "Passkeys.create",
      function* (
        person: UserActor,
        name: PasskeyName,
        credential: RegisteredCredential,
        transports: ReadonlyArray<string>
      ) {
        yield* requireLoginOfNow(person)
        const rows = yield* repo.ofUser({ userId: person.id })
        yield* tooMany(rows)
        if (rows.some((row) => row.name === name)) {
          return yield* new Conflict({ message: `you have a passkey of the name ${name}: choose another` })
        }
        const id = PasskeyId.make(yield* uuidV7)
        const now = timestamp(yield* clock)
        const taken = () => new Conflict({ message: "this passkey is registered already: remove it there first" })
        yield* repo
          .insert({
            id,
            userId: person.id,
            name,
            credentialId: credential.id,
            publicKey: credential.publicKey,
            counter: credential.counter,
            transports: JSON.stringify(transports.filter(isPasskeyTransport)),
            now
          })
          .pipe(orTaken(taken))
        yield* repo.proveSession({ id: yield* sessionOf(person), userId: person.id, now })
        yield* audit.change(actorSource(person), {
          action: "passkey.create",
          resource_type: "passkey",
          resource_id: id,
          metadata: { name }
        })
        yield* afterCommit(mailer.sendNotice(registeredNotice(person, name)))
        const made: Passkey = { id, name, created_at: now, last_used_at: null }
        return made
      }
    )

    /** The passkey of a person that a credential's id names. */
    const named = (person: UserActor, credentialId: string) =>
      Effect.map(repo.ofUser({ userId: person.id }), (rows) =>
        rows.find(({ credential_id }) => credential_id === credentialId)
      )

    /**
     * Proves the session of a challenge. Returns the failure with InvalidCode instead of failing with it, so that its entry is
     * kept: `proof` is null if it was refused. A counter that went back may be that of a copied authenticator.
     */
    const prove = method(
      "Passkeys.prove",
      function* (person: UserActor, claimed: ClaimedChallenge | null, proof: Proof | null) {
        const now = timestamp(yield* clock)
        const failed = (reason: string) =>
          Effect.as(
            audit.change(actorSource(person), {
              action: "auth.verify_failed",
              resource_type: "user",
              resource_id: person.id,
              metadata: { method: "passkey", reason, ...(proof !== null && { passkey: proof.passkey.name }) }
            }),
            notAccepted
          )
        if (claimed === null) return yield* failed("the challenge is unknown, used or expired")
        if (proof === null) return yield* failed("the proof is wrong")
        const { counter, passkey } = proof
        const used = yield* repo.use({ id: passkey.id, userId: person.id, counter, now })
        if (used.length === 0) return yield* failed("the counter went back, or the passkey was removed")
        const [session] = yield* repo.proveSession({ id: claimed.target, userId: person.id, now })
        if (session === undefined) return yield* failed("the session has ended")
        yield* audit.change(actorSource(person), {
          action: "auth.verify",
          resource_type: "session",
          resource_id: session.id,
          metadata: { method: "passkey", passkey: passkey.name }
        })
        const proven: ProvenSession = { session_id: claimed.target, passkey_at: now }
        return Effect.succeed(proven)
      }
    )

    /** Removes a passkey. A login without one is enough, unless an organization of the person forbids that. */
    const remove = method("Passkeys.remove", function* (person: UserActor, id: PasskeyId) {
      const isRecovery = !person.loginIsRecent
      const forbidding = isRecovery ? yield* repo.forbidsRecovery({ userId: person.id }) : undefined
      if (forbidding !== undefined) {
        return yield* refuse(
          audit,
          actorSource(person),
          { resource_type: "passkey", resource_id: id, metadata: { action: "passkey.delete" } },
          `organization ${forbidding.name} wants a proof with a passkey for this: ask the operator of the server, if you have none left`
        )
      }
      const [removed] = yield* repo.remove({ id, userId: person.id })
      if (removed === undefined) return yield* notFound(`passkey ${id}`)
      const { name } = removed
      yield* audit.change(actorSource(person), {
        action: "passkey.delete",
        resource_type: "passkey",
        resource_id: id,
        metadata: { name, ...(isRecovery && { recovery: true }) }
      })
      yield* afterCommit(mailer.sendNotice(removedNotice(person, name, isRecovery)))
    })

    return { begin, challenge, claim, create, list, named, prove, relyingParty, remove } as const
  }),
  dependencies: [CodeExpiry.Default]
}) {}
