import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Bridge } from "../../../cli/test/support/Bridge.js"
import { type Workplace, workplace } from "../../../cli/test/support/Workplace.js"
import type { Options } from "../../src/Options.js"

/** A service account and its key. */
export interface Account {
  readonly id: string
  readonly apiKey: string
}

/** A real server behind a bridge that a test can close, with environments of `acme/webshop`. */
export interface Place extends Workplace {
  readonly bridge: Bridge
  /** Makes an environment with these values. */
  readonly environment: (env: string, values?: Readonly<Record<string, string>>) => Promise<void>
  /** Writes values to an environment. */
  readonly write: (env: string, body: object) => Promise<void>
  /** Makes an account that may read the environments of a pattern. */
  readonly account: (name: string, pattern?: string) => Promise<Account>
  /** The options for an environment. */
  readonly options: (env: string, account: Account, more?: Partial<Options>) => Options
}

export const testPlace = (variables?: (url: string) => Record<string, string>): Place => {
  const work = workplace("ada@example.com", variables)
  let bridge: Bridge | undefined
  beforeAll(async () => {
    bridge = await Bridge.to(work.server.url)
  })
  afterAll(() => bridge?.close())
  const call = (method: string, path: string, body?: unknown) =>
    work.server.call(method, `/api/orgs/acme${path}`, { body, token: work.home.token })
  const found = () => {
    if (bridge === undefined) throw new Error("the tests have not begun")
    return bridge
  }
  const write = (env: string, body: object) => call("PATCH", `/projects/webshop/envs/${env}/bundle`, body)
  return {
    get server() {
      return work.server
    },
    get home() {
      return work.home
    },
    get bridge() {
      return found()
    },
    ok: work.ok,
    prints: work.prints,
    write,
    environment: async (env, values) => {
      await call("POST", "/projects/webshop/envs", { name: env })
      if (values !== undefined) await write(env, { set: values })
    },
    account: async (name, pattern = "*") => {
      const { api_key: apiKey, id } = await call("POST", "/service-accounts", { name })
      await call("POST", "/acl", {
        subject_type: "service_account",
        subject_id: id,
        project_pattern: "webshop",
        env_pattern: pattern,
        permission: "read"
      })
      return { apiKey, id }
    },
    options: (env, { apiKey }, more) => ({
      server: found().url,
      place: `acme/webshop/${env}`,
      credential: { apiKey: Redacted.make(apiKey) },
      every: 200,
      ...more
    })
  }
}
