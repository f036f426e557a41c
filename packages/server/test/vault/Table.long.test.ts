import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { columns, type Outcome } from "../authorization/Grid.js"
import { type Account, each, nobody, type Person, Service } from "../authorization/Service.js"
import { Client } from "./Client.js"

// The rights of each account under /v1 are those that it has in Coffer's own API, with whatever credential it comes.

type Rule = (typeof columns)[number]
const kinds = ["account", "scoped-here", "scoped-elsewhere", "blind"] as const
type Kind = (typeof kinds)[number]

/** The outcomes when an account reads values. The columns are the rules none, use, read, write, admin, elsewhere. */
const reads: Readonly<Record<Kind, ReadonlyArray<Outcome>>> = {
  account: [403, 403, "ok", "ok", "ok", 403],
  "scoped-here": [403, 403, "ok", "ok", "ok", 403],
  "scoped-elsewhere": [404, 404, 404, 404, 404, 404],
  blind: [403, 403, 403, 403, 403, 403]
}

/** The outcomes when an account asks about an environment without its values. */
const described = { ...reads, blind: reads.account }

/** The outcomes when an account lists the environments of a project that it may know of. */
const lists: Readonly<Record<Kind, Outcome>> = {
  account: "ok",
  "scoped-here": "ok",
  "scoped-elsewhere": 404,
  blind: "ok"
}

interface Cell {
  readonly kind: Kind
  readonly rule: Rule
  readonly account: Account
  readonly federated: string
}

const acme = "/api/orgs/acme"

let service: Service
let vault: Client
let ada: Person
let cells: ReadonlyArray<Cell>

const makeCell = async (kind: Kind, rule: Rule): Promise<Cell> => {
  const project = kind === "scoped-here" ? "webshop" : kind === "scoped-elsewhere" ? "other" : undefined
  const account = await service.account(ada, "acme", {
    ...(project !== undefined && { project }),
    ...(kind === "blind" && { reveal: false })
  })
  if (rule !== "none") {
    const [env, permission] = rule === "elsewhere" ? ["staging", "admin"] : ["prod", rule]
    await service.grant(ada, "acme", account, permission, "web*", env)
  }
  await service.federation(ada, "acme", account)
  const jwt = await service.podToken(account)
  const { body } = await vault.jwtLogin("kubernetes", `acme/${account.name}`, jwt)
  return { kind, rule, account, federated: body.auth.client_token }
}

beforeAll(async () => {
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  vault = new Client(service)
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  for (const name of ["webshop", "other"]) await service.do(ada, "POST", `${acme}/projects`, { name })
  await service.do(ada, "PUT", `${acme}/projects/webshop/envs/prod/secrets/SHARED`, { value: "shared" })
  cells = await each(
    kinds.flatMap((kind) => columns.map((rule) => [kind, rule] as const)),
    ([kind, rule]) => makeCell(kind, rule)
  )
})

afterAll(async () => {
  await service.remove()
})

/** Walks a path of the view with every credential of every account, and beside it the same call of the API. */
const walk = (path: string, twin: string, expected: (cell: Cell) => Outcome) =>
  each(cells, async (cell) => {
    const { account, federated, kind, rule } = cell
    const outcome = expected(cell)
    const credentials = { key: account.key, session: await vault.token(account), federated }
    for (const [credential, token] of Object.entries(credentials)) {
      const what = `${kind} with rule ${rule} by its ${credential}`
      const answer = await vault.get(token, path)
      assert.strictEqual(answer.status, outcome === "ok" ? 200 : outcome, `${what}: ${answer.text}`)
      const direct = await service.call(account, "GET", twin)
      assert.strictEqual(answer.status, direct.status, what)
      if (answer.status === 200) continue
      const prefix = answer.status === 403 ? "permission denied: " : ""
      assert.deepStrictEqual(answer.body, { errors: [`${prefix}${direct.body.error.message}`] }, what)
    }
  })

const readOf = ({ kind, rule }: Cell): Outcome => reads[kind][columns.indexOf(rule)]!

describe("the rights of accounts under /v1", () => {
  it("to an environment are those to its bundle", async () => {
    await walk("webshop/data/prod", `${acme}/projects/webshop/envs/prod/bundle`, readOf)
  })

  it("to the description of an environment are those to its revisions", async () => {
    const path = `${acme}/projects/webshop/envs/prod/revisions`
    await walk("webshop/metadata/prod", path, (cell) => described[cell.kind][columns.indexOf(cell.rule)]!)
  })

  it("to a list and to a mount are those to the list of environments", async () => {
    const twin = `${acme}/projects/webshop/envs`
    await walk("webshop/metadata?list=true", twin, ({ kind }) => lists[kind])
    await walk("sys/internal/ui/mounts/webshop/prod", twin, ({ kind }) => lists[kind])
  })

  it("are recorded alike: a refusal and a read by the view beside each by the API", async () => {
    const count = (entries: ReadonlyArray<{ readonly metadata: { readonly client?: string } }>) => {
      const viewed = entries.filter(({ metadata }) => metadata.client === "vault").length
      return [viewed, entries.length - viewed]
    }
    for (const action of ["access.denied", "secret.read"]) {
      const [viewed = 0, direct] = count(await service.entries(ada, `${acme}/audit-logs`, action))
      assert.isAbove(viewed, 0)
      assert.strictEqual(viewed, direct, action)
    }
  })

  it("give nothing without a token, and nothing to a person", async () => {
    for (const path of [
      "webshop/data/prod",
      "webshop/metadata?list=true",
      "webshop/metadata/prod",
      "sys/internal/ui/mounts/webshop",
      "auth/token/lookup-self"
    ]) {
      for (const token of [null, "", "nonsense", ada.token]) {
        assert.strictEqual((await vault.call(token, "GET", path)).status, 403, path)
      }
      assert.strictEqual((await service.call(ada, "GET", `/v1/${path}`)).status, 403, path)
      assert.strictEqual((await service.call(nobody, "GET", `/v1/${path}`)).status, 403, path)
    }
  })
})
