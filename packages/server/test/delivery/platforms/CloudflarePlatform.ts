import { token } from "../KvServer.js"
import { type Answer, jsonOf, type Platform } from "./StandIn.js"

const account = "/client/v4/accounts/023e105f4ecef8ad9ca31a8372d0c353"
const ok = (result: unknown): Answer => ({ status: 200, json: { success: true, errors: [], messages: [], result } })
const refused = (status: number, code: number): Answer => ({
  status,
  json: { success: false, errors: [{ code, message: "as the test says: Canary" }] }
})

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/subresources/secrets/ */
export const workersPlatform = (): Platform => {
  const held = new Map<string, string>()
  const base = `${account}/workers/scripts/webshop/secrets`
  return {
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers.authorization !== `Bearer ${token}`) return refused(403, 9109)
      if (url.pathname === base && method === "GET")
        return ok([...held.keys()].map((name) => ({ name, type: "secret_text" })))
      if (url.pathname === base && method === "PUT") {
        const { name, text, type } = jsonOf(arrived)
        if (type !== "secret_text" || typeof name !== "string" || typeof text !== "string") return refused(400, 10021)
        held.set(name, text)
        return ok({ name, type })
      }
      const name = url.pathname.slice(base.length + 1)
      if (method === "DELETE") return held.delete(name) ? ok(null) : refused(404, 10056)
      return refused(404, 10007)
    },
    values: () => Object.fromEntries(held),
    write: (name, value) => {
      if (value === null) held.delete(name)
      else held.set(name, value)
    }
  }
}

/** https://developers.cloudflare.com/api/resources/pages/subresources/projects/methods/edit/: a PATCH merges, and null removes. */
export const pagesPlatform = (): Platform => {
  const held = new Map<string, string>()
  return {
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers.authorization !== `Bearer ${token}`) return refused(403, 9109)
      if (url.pathname !== `${account}/pages/projects/webshop`) return refused(404, 8000007)
      if (method === "PATCH") {
        const { deployment_configs } = jsonOf(arrived) as {
          deployment_configs: { production: { env_vars: Record<string, { type: string; value: string } | null> } }
        }
        for (const [name, variable] of Object.entries(deployment_configs.production.env_vars)) {
          if (variable === null) held.delete(name)
          else held.set(name, variable.value)
        }
      }
      const env_vars = Object.fromEntries([...held.keys()].map((name) => [name, { type: "secret_text", value: "" }]))
      return ok({ name: "webshop", deployment_configs: { production: { env_vars }, preview: { env_vars: null } } })
    },
    values: () => Object.fromEntries(held),
    write: (name, value) => {
      if (value === null) held.delete(name)
      else held.set(name, value)
    }
  }
}
