import { Effect, Exit, Queue, Scope } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { mailServer, readText, type Received } from "../mail/Servers.js"
import { asking, startWorld, type World } from "../requests/World.js"
import { word } from "../authorization/Service.js"
import { email } from "../support/Services.js"

// An organization mails a person once, by the invitation, before the person has accepted it.

const scope = Effect.runSync(Scope.make())
let world: World
let queue: Queue.Queue<Received>

beforeAll(async () => {
  const { port, received } = await Effect.runPromise(Scope.extend(mailServer(), scope))
  queue = received
  world = await startWorld({
    ...{ SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_FROM: "coffer@example.com" },
    SERVICE_TRASH_DAYS: "30"
  })
})
afterAll(async () => {
  await world.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Waits until a mail to a person says something. Returns whom the mails until then went to. */
const until = async (to: string, what: RegExp): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (;;) {
    const mail = await Effect.runPromise(Effect.timeout(Queue.take(queue), "20 seconds"))
    found.push(...mail.to)
    if (mail.to.includes(to) && what.test(readText(mail))) return found
  }
}

it("an owner who never accepted is mailed of nothing that happens there, and of all of it once accepted", async () => {
  const { call } = world
  const one = await world.organization()
  const { admin, dev, org, owner, prod } = one
  const victim = email(`a-${word()}@example.com`)
  const { headers } = await world.first.person(victim)
  await call(owner.headers, "POST", `${org}/members`, { email: victim, role: "owner" })
  await until(victim, /coffer login/)
  assert.strictEqual((await one.protect({ break_glass: [owner.email] })).status, 200)

  let round = 0
  /** All that mails owners. The mails of one thing go out in the order of addresses. */
  const happens = async () => {
    const key = `KEY_${++round}`
    const glass = { ...owner.headers, "x-coffer-break-glass": "INC-12" }
    assert.strictEqual((await call(glass, "PUT", `${prod}/secrets/${key}`, { value: "two" })).status, 200)
    const told = [...(await until(owner.email, /INC-12/))]
    assert.include([201, 202], (await call(owner.headers, "POST", `${org}/exports`, {})).status)
    told.push(...(await until(owner.email, /export/)))
    const { body, status } = await call({ ...dev.headers, ...asking }, "PUT", `${prod}/secrets/B`, {
      value: `${round}`
    })
    assert.strictEqual(status, 202, JSON.stringify(body))
    if (round === 1) told.push(...(await until(admin.email, /waits for your vote/)))
    return told
  }
  assert.notInclude(await happens(), victim)
  assert.strictEqual((await call(headers, "GET", org)).status, 200)
  assert.include(await happens(), victim)
})
