import type { OrgPath } from "@coffer/domain/api/Paths"
import { originOf, type Webhook, type WebhookDelivery, type WebhookWithKey } from "@coffer/domain/server/Webhook"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell, momentText } from "../../base/Moments.js"
import { CannotDo } from "../../base/Failures.js"
import { atOrg, type Call, group, wide, yes } from "../../grammar/Command.js"
import { note, printJson, write } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import {
  after,
  createFields,
  deliveryId,
  editFields,
  grace,
  id,
  limit,
  orgOfPlaces,
  patternsOf,
  placesProblem
} from "./WebhookOptions.js"
import { noteUnmatched, placePatternsOf } from "../access/UnmatchedPatterns.js"

const stateOf = ({ enabled, failed_at }: Webhook): string =>
  enabled ? "enabled" : failed_at === null ? "disabled" : `failed at ${momentText(failed_at)}`

const failingText = ({ reason, since, status, tries }: NonNullable<Webhook["failing"]>): string =>
  `since ${momentText(since)}: ${status === null ? (reason ?? "no response") : `status ${status}`}, ${tries} ${tries === 1 ? "try" : "tries"}`

const columns = {
  id: (webhook: Webhook) => webhook.id,
  url: (webhook: Webhook) => webhook.url,
  events: ({ events }: Webhook) => events.join(" "),
  environments: ({ environments }: Webhook) => environments.join(" "),
  state: stateOf,
  pending: ({ pending }: Webhook) => pending,
  // At the end: scripts take the others by their number.
  format: ({ format }: Webhook) => format,
  failing: ({ failing }: Webhook) => (failing === undefined ? "" : failingText(failing))
}

const list = atOrg("list", {
  description: "List the webhooks of the organization",
  examples: ["coffer webhook list"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("webhooks", (api) => api.list({ path })),
      (webhooks) =>
        listView(
          webhooks,
          columns,
          "there are no webhooks; make one with: coffer webhook create URL --event EVENT",
          ["id", "url", "state", "pending"],
          "look at one with: coffer webhook deliveries ID"
        )
    )
})

/** Prints only the key to standard output, for scripts. */
const printKey = Effect.fnUntraced(function* (webhook: WebhookWithKey, json: boolean, sentence: string) {
  const signing_key = Redacted.value(webhook.signing_key)
  yield* json ? printJson({ ...webhook, signing_key }) : write(`${signing_key}\n`)
  yield* note(`${sentence}; the signing key is shown this once: keep it where the receiver finds it`)
})

const create = atOrg("create", {
  description: "Send events to an address, and print the key that signs them, once",
  examples: [
    "coffer webhook create https://hooks.example.com/coffer --event 'secret.*' --at '*/prod'",
    "coffer webhook create https://hooks.slack.com/services/T0/B0/x --event 'secret.*' --format slack",
    "coffer webhook create https://hooks.example.com/ops --event secret.due --event service_account.expiring"
  ],
  options: createFields,
  place: orgOfPlaces,
  check: ({ events, places }) =>
    events.length === 0 ? "name at least one --event, such as 'secret.*'" : placesProblem({ places }),
  run: ({ call, exchange, json, options: { events, format, places, url }, path, settings }) =>
    Effect.gen(function* () {
      const environments = yield* patternsOf({ places }, settings)
      const payload = { url, events, ...(environments.length > 0 && { environments }), ...defined({ format }) }
      const made = yield* call("webhooks", (api) => api.create({ path, payload }))
      yield* noteUnmatched(exchange, path.org_name, environments.map(placePatternsOf))
      yield* printKey(made, json, `webhook ${made.id} to ${originOf(url)} created`)
    })
})

const edit = atOrg("edit", {
  description: "Change, disable or enable a webhook",
  examples: [
    "coffer webhook edit 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0 --event 'secret.*' --event 'member.*'",
    "coffer webhook edit 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0 --enable"
  ],
  options: editFields,
  place: orgOfPlaces,
  check: ({ disable, enable, events, format, places, skip, url }) => {
    if (enable && disable) return "give --enable or --disable, not both"
    const replaces = url !== undefined || format !== undefined || events.length > 0 || places.length > 0
    return enable || disable || skip || replaces
      ? placesProblem({ places })
      : "say what to change: --url, --event, --at, --format, --enable, --disable or --skip"
  },
  run: ({ call, exchange, options, path, settings }) =>
    Effect.gen(function* () {
      const { disable, enable, events, format, id: webhook_id, places, skip, url } = options
      const environments = yield* patternsOf({ places }, settings)
      const payload = {
        ...defined({
          url,
          format,
          enabled: enable ? true : disable ? false : undefined,
          skip: skip ? true : undefined
        }),
        ...(events.length > 0 && { events }),
        ...(environments.length > 0 && { environments })
      }
      const webhook = yield* call("webhooks", (api) =>
        api.update({ path: { ...path, webhook_id }, headers: {}, payload })
      )
      yield* noteUnmatched(exchange, path.org_name, environments.map(placePatternsOf))
      return doneView(`webhook ${webhook.id} to ${originOf(webhook.url)} is ${stateOf(webhook)}`, webhook)
    })
})

const remove = atOrg("delete", {
  description: "Delete a webhook with its signing keys",
  examples: ["coffer webhook delete 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0"],
  options: { id, yes },
  run: ({ call, options: { id: webhook_id, yes }, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Delete the webhook ${webhook_id}?`, yes)
      yield* call("webhooks", (api) => api.delete({ path: { ...path, webhook_id } }))
      return doneView(`webhook ${webhook_id} deleted`)
    })
})

const rotate = atOrg("rotate", {
  description: "Give a webhook a new signing key and print it, once",
  examples: ["coffer webhook rotate 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0 --grace 1h"],
  options: { id, grace },
  run: ({ call, json, options: { grace, id: webhook_id }, path }) =>
    Effect.gen(function* () {
      const payload = defined({ grace_seconds: grace })
      const webhook = yield* call("webhooks", (api) => api.rotateKey({ path: { ...path, webhook_id }, payload }))
      const until = webhook.old_key_until
      const old = until === null ? "the old one signs no more" : `the old one signs too until ${momentText(until)}`
      yield* printKey(webhook, json, `webhook ${webhook_id} has a new key; ${old}`)
    })
})

/** Describes the outcome of a delivery. */
const outcomeOf = ({ reason, state, status }: WebhookDelivery): string =>
  status === null ? (reason === null ? state : `${state}: ${reason}`) : `${state}: status ${status}`

const deliveryColumns = {
  id: (delivery: WebhookDelivery) => delivery.id,
  event: ({ event }: WebhookDelivery) => event.event,
  place: ({ event: { environment, key, project } }: WebhookDelivery) =>
    [project, environment, key].filter((name) => name !== null).join("/"),
  time: ({ event }: WebhookDelivery) => momentCell(event.time),
  outcome: outcomeOf,
  tries: ({ tries }: WebhookDelivery) => tries,
  "next try": ({ next_try_at }: WebhookDelivery) => momentCell(next_try_at)
}

const deliveries = atOrg("deliveries", {
  description: "List what was sent to a webhook, newest first, and what came of it",
  examples: ["coffer webhook deliveries 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0"],
  options: { id, limit, after, wide },
  run: ({ call, options: { after, id: webhook_id, limit }, path }) =>
    Effect.gen(function* () {
      const urlParams = defined({ limit, after })
      const page = yield* call("webhooks", (api) => api.deliveries({ path: { ...path, webhook_id }, urlParams }))
      const view = listView(
        page,
        deliveryColumns,
        "nothing was sent to it in the last 30 days",
        ["id", "outcome", "event", "time"],
        `send one again with: coffer webhook resend ${webhook_id} ID`
      )
      const { next_cursor } = page.pagination
      if (next_cursor === null) return view
      return { ...view, text: Effect.zipRight(view.text, note(`continue with --after ${next_cursor}`)) }
    })
})

const patience = "20 seconds"

/** Waits for the result of a delivery that is sent once. */
const resultOf = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath,
  webhook: Webhook["id"],
  sent: WebhookDelivery
) {
  const look = Effect.flatMap(Effect.sleep("500 millis"), () =>
    Effect.map(
      call("webhooks", (api) =>
        api.deliveries({ path: { ...path, webhook_id: webhook }, urlParams: { limit: maxPageSize } })
      ),
      ({ data }) => data.find((delivery) => delivery.id === sent.id) ?? sent
    )
  )
  const found = yield* look.pipe(
    Effect.repeat({ while: ({ state }) => state === "pending" }),
    Effect.timeoutTo({ duration: patience, onSuccess: (delivery) => delivery, onTimeout: () => sent })
  )
  if (found.state === "delivered") return doneView(`${found.event.event} was ${outcomeOf(found)}`, found)
  return yield* new CannotDo({
    message:
      found.state === "pending"
        ? `${found.event.event} was not sent within ${patience}: coffer webhook deliveries ${webhook} shows it`
        : `${found.event.event} was not taken: ${outcomeOf(found)}`
  })
})

const test = atOrg("test", {
  description: "Send a test event to a webhook, and say what came of it",
  examples: ["coffer webhook test 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0"],
  options: { id },
  run: ({ call, options: { id: webhook_id }, path }) =>
    Effect.flatMap(
      call("webhooks", (api) => api.test({ path: { ...path, webhook_id } })),
      (sent) => resultOf(call, path, webhook_id, sent)
    )
})

const resend = atOrg("resend", {
  description: "Send an event to a webhook again, once, and say what came of it",
  examples: ["coffer webhook resend 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dfe"],
  options: { id, deliveryId },
  run: ({ call, options: { deliveryId: delivery_id, id: webhook_id }, path }) =>
    Effect.flatMap(
      call("webhooks", (api) => api.sendAgain({ path: { ...path, webhook_id, delivery_id } })),
      (sent) => resultOf(call, path, webhook_id, sent)
    )
})

export const webhookCommand = group("webhook", "HTTP endpoints that receive events, by signed requests", [
  list,
  create,
  edit,
  rotate,
  test,
  deliveries,
  resend,
  remove
])
