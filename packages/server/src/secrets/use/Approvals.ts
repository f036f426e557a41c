import { actorName } from "@coffer/domain/access/Actor"
import { Approval } from "@coffer/domain/requests/Approval"
import { approvalMessage } from "@coffer/domain/requests/ApprovalMessage"
import { ApprovalNeeded, Conflict, LimitExceeded, UseRefused } from "@coffer/domain/errors/Errors"
import { ApprovalId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import { UseMethod } from "@coffer/domain/secrets/UseMethod"
import { StoreField } from "@coffer/domain/secrets/StoreField"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { type Place, sourceOf } from "../../access/Access.js"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { notFound } from "../../access/place/NotFound.js"
import { mayAlso } from "../../access/Rights.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { makeRequestMails, useWaits } from "../../directory/requests/RequestMails.js"
import { afterCommit, Database } from "../../database/Database.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { type ApprovalRow, useRepo } from "../use-rules/Repo.js"

const lifeMillis = Duration.toMillis(useWaits)
const maxPending = 20
const maxBodyBytes = 64 * 1024
const maxListed = 200

/** A request as its caller sent it. */
export interface AskedRequest {
  readonly method: UseMethod
  readonly url: string
  /** In lowercase. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  readonly store?: StoreField | undefined
}

/** The part of a request that a person sees and that an approval is bound to. */
const Shown = Schema.Struct({
  method: UseMethod,
  url: Schema.String,
  headers: Schema.Record({ key: Schema.String, value: Schema.String }),
  body: Schema.NullOr(Schema.String),
  secrets: Schema.Array(Approval.fields.secrets.from.value),
  store: optional(StoreField)
})

const decodeShown = Schema.decode(Schema.parseJson(Shown))

const hashOf = (place: Place<"secret.use">, asked: AskedRequest, granted: ReadonlyArray<PermittedSecret>): string => {
  const { body, method, store, url } = asked
  const headers = Object.entries(asked.headers).sort(([one], [other]) => (one < other ? -1 : 1))
  const rules = granted.map(({ rule, secretId }) => [secretId, rule.id, rule.updated_at]).sort()
  const bytes = body === null ? null : Buffer.from(body).toString("base64")
  const bound = [
    place.env.id,
    place.actor.id,
    method,
    url,
    headers,
    bytes,
    rules,
    ...(store === undefined ? [] : [store.pointer, store.key])
  ]
  return createHash("sha256").update(JSON.stringify(bound)).digest("hex")
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const shownBody = (base64: string | null): Effect.Effect<Pick<Approval, "body" | "body_base64">> =>
  base64 === null
    ? Effect.succeed({})
    : Effect.try(() => ({ body: utf8.decode(Buffer.from(base64, "base64")) })).pipe(
        Effect.orElseSucceed(() => ({ body_base64: base64 }))
      )

const approvalOf = (row: ApprovalRow): Effect.Effect<Approval> =>
  Effect.gen(function* () {
    const { body, ...shown } = yield* Effect.orDie(decodeShown(row.request))
    const { created_at, env, expires_at, id, project, state } = row
    const account = row.actor_name
    return { id, state, project, env, account, ...shown, ...(yield* shownBody(body)), created_at, expires_at }
  })

/** Requests that people approve, one by one. An approval is bound to the whole request, and is used once. */
export class Approvals extends Effect.Service<Approvals>()("@coffer/server/Approvals", {
  effect: Effect.gen(function* () {
    const repo = yield* useRepo
    const audit = yield* AuditLog
    const mails = yield* makeRequestMails
    const { clock } = yield* Database

    const needed = ({ org }: Place<"secret.use">, id: ApprovalId) =>
      new ApprovalNeeded({ message: approvalMessage(id, mails.pageOf(org.name, id)) })

    const ask = Effect.fnUntraced(function* (
      place: Place<"secret.use">,
      { body, headers, method, store, url }: AskedRequest,
      keys: ReadonlyArray<SecretKey>,
      hash: string,
      millis: number
    ) {
      const now = timestamp(millis)
      const { count } = yield* repo.pending({ envId: place.env.id, actorId: place.actor.id, now })
      if (count >= maxPending) {
        return new LimitExceeded({
          message: `at most ${maxPending} requests of yours wait for approval: wait for a decision`
        })
      }
      const id = ApprovalId.make(yield* uuidV7)
      const bytes = body === null ? null : Buffer.from(body).toString("base64")
      yield* repo.insertApproval({
        id,
        orgId: place.org.id,
        envId: place.env.id,
        actorId: place.actor.id,
        actorName: actorName(place.actor),
        hash,
        request: JSON.stringify({ method, url, headers, body: bytes, secrets: keys, store }),
        now,
        expiresAt: timestamp(millis + lifeMillis)
      })
      yield* audit.change(sourceOf(place), {
        action: "approval.request",
        resource_type: "approval",
        resource_id: id,
        metadata: { keys, method, host: new URL(url).host, path: new URL(url).pathname }
      })
      const { actor, env, org, project } = place
      const names = { project: project.name, env: env.name }
      const asker = { type: actor.type, name: actorName(actor) }
      yield* afterCommit(mails.waits("use", { id, org, ...names, asker, what: { Secrets: keys.join(", ") } }))
      return needed(place, id)
    })

    /** Uses the approval of a request, and returns null. Without one, asks for it and returns what to fail with after the commit. */
    const spend = Effect.fnUntraced(function* (
      place: Place<"secret.use">,
      asked: AskedRequest,
      granted: ReadonlyArray<PermittedSecret>
    ) {
      if ((asked.body?.length ?? 0) > maxBodyBytes) {
        return new UseRefused({ message: "the body of a request that a person approves has at most 64 KiB" })
      }
      const millis = yield* clock
      const now = timestamp(millis)
      const hash = hashOf(place, asked, granted)
      const known = yield* repo.sameRequest({ envId: place.env.id, actorId: place.actor.id, hash, now })
      if (known?.state === "approved" && (yield* repo.spend({ id: known.id, now })).length > 0) return null
      if (known?.state === "pending") return needed(place, known.id)
      if (known?.state === "refused") {
        return new UseRefused({ message: `a person refused this request (approval ${known.id}): do not repeat it` })
      }
      const keys = granted.map(({ key }) => key)
      return yield* ask(place, asked, keys, hash, millis)
    })

    const ownOf = Effect.fnUntraced(function* (place: Place<"approval.list">) {
      const now = timestamp(yield* clock)
      const rows = yield* repo.ofOrganization({ orgId: place.org.id, now, limit: maxListed })
      return rows.filter(({ env, project }) => mayAlso(place, "approval.decide", { org: place.org.name, project, env }))
    })

    /** The requests of environments in which the caller may decide, newest first. */
    const list = method("Approvals.list", function* (place: Place<"approval.list">) {
      return yield* forEachInSlices(yield* ownOf(place), approvalOf)
    })

    /** How many requests wait for a decision of the caller. */
    const countPending = Effect.fnUntraced(function* (place: Place<"approval.list">) {
      const rows = yield* ownOf(place)
      return rows.filter(({ state }) => state === "pending").length
    })

    /** Where a request would be made. */
    const whereIs = Effect.fnUntraced(function* (place: Place<"approval.list">, id: ApprovalId) {
      const row = yield* repo.findApproval({ orgId: place.org.id, id })
      return row ?? (yield* notFound(`approval ${id}`))
    })

    const decide = method(
      "Approvals.decide",
      function* (place: Place<"approval.decide">, id: ApprovalId, decision: "approve" | "refuse") {
        const millis = yield* clock
        const [decided] = yield* repo[decision]({
          id,
          by: actorName(place.actor),
          now: timestamp(millis),
          expiresAt: timestamp(millis + lifeMillis)
        })
        if (decided === undefined) {
          return yield* new Conflict({ message: `approval ${id} was decided already, or its 5 minutes are over` })
        }
        const row = yield* repo.findApproval({ orgId: place.org.id, id })
        if (row === undefined) return yield* notFound(`approval ${id}`)
        yield* audit.change(sourceOf(place), {
          action: `approval.${decision}`,
          resource_type: "approval",
          resource_id: id,
          metadata: { account: row.actor_name }
        })
        return yield* approvalOf(row)
      }
    )

    return { spend, list, countPending, whereIs, decide } as const
  }),
  dependencies: [ApprovalMails.Default]
}) {}
