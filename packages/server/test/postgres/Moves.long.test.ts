import { afterAll, assert, beforeAll, it } from "vitest"
import {
  type Archive,
  comparable,
  countsIn,
  fillOrganization,
  finishImport,
  makeExport,
  sendImport,
  withoutMember
} from "../archives/Support.js"
import type { Pair } from "../authorization/Pair.js"
import { scenesOn, sceneSettings } from "../authorization/Scene.js"
import { startWatched } from "../support/Watched.js"
import { email } from "../support/Services.js"
import { startServers } from "../support/postgres/Running.js"

// An organization moves from a file to PostgreSQL and back, between servers with different master keys.

const settings = () => ({
  ...sceneSettings(),
  SERVICE_ORG_CREATION: "anyone",
  SERVICE_TRUSTED_PROXIES: "127.0.0.0/8,::1/128"
})
const otherKey = "f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff"

const start = async () => {
  const file = await startWatched(settings())
  const servers = await startServers(1, { ...settings(), SERVICE_MASTER_KEY: otherKey })
  const [server] = servers.servers
  if (server === undefined) return assert.fail("no server was started")
  return {
    file: await scenesOn<Pair["second"]>(file),
    postgres: await scenesOn<Pair["second"]>(server),
    stop: async () => {
      await file.stop()
      await servers.stop()
    }
  }
}
type World = Awaited<ReturnType<typeof start>>

let world: World

beforeAll(async () => {
  world = await start()
})

afterAll(async () => {
  await world.stop()
})

const move = async (to: World["file"], name: string, address: string, archive: Archive): Promise<Archive> => {
  const { headers } = await to.person(email(address))
  const made = await sendImport(to, headers, name, archive)
  await finishImport(to, headers, made, countsIn(archive))
  return makeExport(to, headers, name)
}

it("keeps an organization with 2,000 keys as it is, through both engines and keys", async () => {
  const owner = { ...(await world.file.person(email("owner@example.com"))), email: "owner@example.com" }
  const people = { admin: "admin@example.com", second: "second@example.com" }
  await fillOrganization(world.file, owner, "acme", people, 1_996)
  const before = await makeExport(world.file, owner.headers, "acme")
  assert.strictEqual(before.versions["webshop/prod"]!.length, 2_002)
  const there = await move(world.postgres, "acme", owner.email, before)
  assert.deepStrictEqual(comparable(there), comparable(before))
  const back = await move(world.file, "acme-again", "third@example.com", there)
  assert.deepStrictEqual(comparable(withoutMember(back, "third@example.com")), comparable(before))
})
