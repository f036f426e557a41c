import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startWorld, type World } from "./World.js"

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe("the overview of an organization says what needs its caller", () => {
  it("counts the requests that wait for the caller's vote, and no others", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne({ needed: 2 })
    const { admin, ci, dev, guest, org, other, prod } = one
    const first = await propose(dev.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    await propose(ci.headers, "PUT", `${prod}/secrets/B`, { value: "two" })
    const waitingFor = async ({ headers }: { readonly headers: typeof admin.headers }) =>
      (await call(headers, "GET", `${org}/overview`)).body.waiting
    assert.deepStrictEqual([await waitingFor(admin), await waitingFor(other)], [2, 2])
    // The requesters, and those whom the protection does not name.
    assert.deepStrictEqual([await waitingFor(dev), await waitingFor(ci), await waitingFor(guest)], [0, 0, 0])
    await vote(one, admin.headers, first.id)
    assert.deepStrictEqual([await waitingFor(admin), await waitingFor(other)], [1, 2])
    await vote(one, other.headers, first.id, "refuse")
    assert.strictEqual(await waitingFor(other), 1)
  })

  it("names the first due secrets of environments whose keys the caller may list, and whether there are more", async () => {
    const { call, organization } = world
    const { dev, guest, org, owner, project } = await organization()
    await call(owner.headers, "POST", `${org}/acl`, {
      ...{
        subject_type: "user",
        email: owner.email,
        project_pattern: "webshop",
        env_pattern: "dev",
        permission: "read"
      }
    })
    const overviewOf = async ({ headers }: { readonly headers: typeof dev.headers }, query = "") =>
      (await call(headers, "GET", `${org}/overview${query}`)).body
    for (let number = 1; number <= 6; number++) {
      const secret = `${project}/envs/dev/secrets/KEY_${number}`
      assert.strictEqual((await call(dev.headers, "PUT", secret, { value: "x" })).status, 200)
      assert.strictEqual((await call(dev.headers, "PATCH", secret, { expires_at: `2020-01-0${number}` })).status, 200)
      assert.strictEqual((await overviewOf(owner)).more_due, number > 5)
    }
    const { due, more_due } = await overviewOf(dev)
    assert.deepStrictEqual(
      due.map(({ env, key, project }: Record<"env" | "key" | "project", string>) => `${project}/${env}/${key}`),
      [1, 2, 3, 4, 5].map((number) => `webshop/dev/KEY_${number}`)
    )
    assert.isTrue(more_due)
    assert.notInclude(JSON.stringify(due), '"value"')
    assert.deepInclude(await overviewOf(guest), { due: [], more_due: false, waiting: 0 })
    // A later page is of projects alone.
    assert.notProperty(await overviewOf(dev, "?after=o~aaa"), "due")
  })
})
