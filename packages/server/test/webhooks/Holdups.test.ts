import { AuditLog } from "@coffer/server/audit/AuditLog"
import { EntryReader } from "@coffer/server/audit/EntryReader"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Access } from "@coffer/server/access/Access"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { deliveriesRepo } from "@coffer/server/edges/webhooks/DeliveriesRepo"
import { makeDeliveryWorkers } from "@coffer/server/edges/webhooks/DeliveryWorkers"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { asActor, envPath, orgPath, person, setSecret, transaction } from "../support/Services.js"
import { change, deliver, deliveriesOf, Hook, hooked, pass, withReceiver } from "./World.js"

const staging = envPath("staging")

const set = (name: string, path = envPath()) =>
  Effect.flatMap(person("ada@example.com"), (ada) => setSecret(ada, name, "a value", { path }))

describe("what holds back a webhook", () => {
  it.effect("a slow answer holds back its environment alone", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        yield* hooked()
        let answerSlow = () => {}
        hook.answer = (response, { event: { environment, key } }) => {
          if (environment === "prod") answerSlow = () => void response.writeHead(204).end()
          else response.writeHead(204).end()
          if (key === "LAST") answerSlow()
        }
        yield* set("SLOW")
        for (const name of ["A", "B", "LAST"]) yield* set(name, staging)
        yield* deliver
        assert.deepStrictEqual(
          hook.secrets.filter((text) => text.startsWith("staging")),
          ["staging A 1", "staging B 1", "staging LAST 1"]
        )
      })
    )
  )

  it.effect("a new address and --enable end the wait for the next try, with 8 tries anew", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const webhook = yield* hooked({ url: `${hook.url}/wrong` })
        hook.answer = (response, { path }) => void response.writeHead(path === "/wrong" ? 404 : 204).end()
        yield* set("A")
        yield* set("B")
        yield* pass(6)
        assert.isAbove((yield* deliveriesOf(webhook))[0]?.tries ?? 0, 4)
        yield* change(webhook, { enabled: true })
        yield* deliver
        assert.strictEqual((yield* deliveriesOf(webhook))[0]?.tries, 1)
        hook.received.length = 0
        yield* change(webhook, { url: `${hook.url}/right` })
        yield* deliver
        assert.deepStrictEqual(hook.secrets, ["prod A 1", "prod B 1"])
      })
    )
  )

  it.effect("no webhook waits for a removed organization", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const repo = yield* deliveriesRepo
        yield* hooked()
        hook.answer = (response) => void response.writeHead(500).end()
        yield* set("A")
        yield* deliver
        assert.isNotNull((yield* repo.oldest({})).oldest)
        const ada = yield* person("ada@example.com")
        const place = yield* (yield* Access).org(orgPath(), "org.delete").pipe(asActor(ada))
        yield* transaction((yield* Organizations).remove(place))
        assert.isNull((yield* repo.oldest({})).oldest)
      }).pipe(Effect.provide(Organizations.Default))
    )
  )

  it.effect("a long log and a log that cannot be read hold back no other webhook", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        yield* hooked()
        const ada = yield* person("ada@example.com")
        const { org } = yield* (yield* Access).org(orgPath(), "webhook.list").pipe(asActor(ada))
        const actor = { type: "user", id: ada.id, name: ada.email } as const
        const audit = yield* AuditLog
        yield* transaction(
          audit.change(
            { actor, orgId: org.id },
            ...Array.from(
              { length: 520 },
              () => ({ action: "secret.read", resource_type: "secret", resource_id: null }) as const
            )
          )
        )
        yield* set("A")
        const { fanOut } = yield* makeDeliveryWorkers
        assert.deepStrictEqual([yield* fanOut, yield* fanOut], [["more"], ["reached"]])
        yield* set("B")
        const broken = yield* makeDeliveryWorkers.pipe(
          Effect.provideService(
            EntryReader,
            EntryReader.make(
              Object.assign({}, yield* EntryReader, { following: () => Effect.dieMessage("an entry is damaged") })
            )
          )
        )
        assert.deepStrictEqual(yield* broken.fanOut, ["failed"])
        yield* deliver
        assert.deepStrictEqual(hook.secrets, ["prod A 1", "prod B 1"])
      })
    )
  )

  it.effect("a non-public address is refused at once, and a name that has one at each delivery", () =>
    withReceiver(
      Effect.gen(function* () {
        for (const url of [
          "https://10.0.0.1/hook",
          "https://[fd00::1]/",
          "https://169.254.169.254/",
          "http://127.0.0.1./"
        ]) {
          assert.strictEqual((yield* Effect.flip(hooked({ url })))._tag, "ValidationError")
        }
        const inside = yield* hooked({ url: "https://inside.example.com/hook" })
        assert.strictEqual(
          (yield* Effect.flip(change(inside, { url: "https://10.0.0.1/hook" })))._tag,
          "ValidationError"
        )
        yield* set("A")
        yield* deliver
        assert.deepStrictEqual(
          (yield* deliveriesOf(inside)).map(({ reason, status }) => [reason, status]),
          [["address refused", null]]
        )
      })
    ).pipe(
      Effect.provideService(NetworkAccess, {
        resolve: () => Promise.resolve([{ address: "169.254.169.254", family: 4 }]),
        certificates: null
      })
    )
  )
})
