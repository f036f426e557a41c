import { cpSync } from "node:fs"
import { ask, logIn, settle, startCoffer } from "../support/coffer.mjs"
import { addGroups, addOwnRules, addPeople } from "../support/data.mjs"
import { fill } from "../support/stores.mjs"
import { interleave, median } from "../support/load.mjs"
import { compared, readsOf } from "../support/requests.mjs"

const row = {
  name: "rules",
  quick: true,
  run: async (context) => {
    const [one, many, own, ends] = ["one", "many", "own", "ends"].map((name) => context.folder(`rules-${name}`))
    const first = await startCoffer(one)
    const scene = await settle(first)
    await first.stop()
    for (const folder of [many, own, ends]) cpSync(one, folder, { recursive: true })
    await fill(many, (store) => addPeople(store, scene.org, { members: 1_000, projects: 1_000, rules: 10_000 }))
    await fill(own, (store) => addOwnRules(store, scene.org, scene.accountId, 1_000))
    await fill(ends, (store) => addOwnRules(store, scene.org, scene.accountId, 1_000, Date.now() + 86_400_000))
    const servers = []
    for (const folder of [many, own, ends, one]) servers.push(await startCoffer(folder))
    const requests = readsOf(scene)
    const [large, matched, ending, small] = await interleave(
      servers.map((server) => ({ server, requests })),
      context.pace
    )
    for (const server of servers) await server.stop()
    return [
      compared("read beside 10,000 rules, 1,000 members, 1,000 projects", "one of each", large, small, { target: 1.2 }),
      {
        ...compared("what 1,000 own rules with patterns add to a read", "a read with one rule", matched, small),
        ratio: median(matched.rounds.map(({ cpu }, index) => cpu / small.rounds[index].cpu - 1)),
        target: 2
      },
      compared("read with 1,000 own rules that end", "1,000 that last", ending, matched, { target: 1.1 })
    ]
  }
}

const keyRules = {
  name: "key-rules",
  quick: true,
  run: async (context) => {
    const [none, many] = ["none", "many"].map((name) => context.folder(`key-rules-${name}`))
    const first = await startCoffer(none)
    const scene = await settle(first)
    await first.stop()
    cpSync(none, many, { recursive: true })
    const servers = [await startCoffer(many), await startCoffer(none)]
    const place = { project_pattern: "*", env_pattern: "*", permission: "write" }
    for (let index = 0; index < 50; index++) {
      // Half of them give, and half of them deny.
      const keys = { key_pattern: `PART_${index}_*`, denies: index % 2 === 1 }
      const body = { subject_type: "service_account", subject_id: scene.accountId, ...place, ...keys }
      await ask(servers[0], "POST", `/api/orgs/${scene.org}/acl`, { token: scene.owner, body })
    }
    const requests = readsOf(scene)
    const [narrow, plain] = await interleave(
      servers.map((server) => ({ server, requests })),
      context.pace
    )
    for (const server of servers) await server.stop()
    return [compared("read with 50 own rules for some keys", "with none", narrow, plain, { target: 1.1 })]
  }
}

const groups = {
  name: "groups",
  quick: true,
  run: async (context) => {
    const [none, many] = ["none", "many"].map((name) => context.folder(`groups-${name}`))
    const first = await startCoffer(none)
    const scene = await settle(first)
    const email = "grace@example.com"
    const org = `/api/orgs/${scene.org}`
    await ask(first, "POST", `${org}/members`, { token: scene.owner, body: { email, role: "developer" } })
    const rule = { subject_type: "user", email, project_pattern: "web", env_pattern: "prod", permission: "read" }
    await ask(first, "POST", `${org}/acl`, { token: scene.owner, body: rule })
    const token = await logIn(first, email)
    await first.stop()
    cpSync(none, many, { recursive: true })
    await fill(many, (store) => addGroups(store, scene.org, email, 50))
    const servers = [await startCoffer(many), await startCoffer(none)]
    const headers = { authorization: `Bearer ${token}` }
    const requests = scene.keys.map((key) => ({ path: `${scene.env}/secrets/${key}`, headers }))
    const [grouped, alone] = await interleave(
      servers.map((server) => ({ server, requests })),
      context.pace
    )
    for (const server of servers) await server.stop()
    return [compared("read by a member of 50 groups", "of none", grouped, alone, { target: 1.1 })]
  }
}

const delegations = {
  name: "delegations",
  quick: true,
  run: async (context) => {
    const server = await startCoffer(context.folder("delegations"))
    const scene = await settle(server)
    const scope = { name: "agent", org: scene.org, project: "web", env: "prod", permission: "read", expires_in: 3_600 }
    const { body } = await ask(server, "POST", "/api/auth/delegations", { token: scene.owner, body: scope })
    const readsBy = (token) =>
      scene.keys.map((key) => ({
        path: `${scene.env}/secrets/${key}`,
        headers: { authorization: `Bearer ${token}` }
      }))
    const [delegated, owned] = await interleave(
      [body.token, scene.owner].map((token) => ({ server, requests: readsBy(token) })),
      context.pace
    )
    await server.stop()
    return [
      compared("read by a delegation", "by the session of its person", delegated, owned, {
        kind: "read by a delegation",
        target: 1.1
      })
    ]
  }
}

export const rows = [row, keyRules, groups, delegations]
