import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert } from "vitest"
import { useRuleBody } from "./Contract.js"
import type { Scene, Staged } from "./Scene.js"

/** The settings of a server that makes requests with secrets to an other side. */
export const otherSideSettings = { SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1" }

/** A server on loopback to which requests with secrets may go, and which counts them and their credentials. */
export const startOtherSide = async () => {
  const credentials: Array<string> = []
  const server = createServer(({ headers }, response) => {
    credentials.push(headers.authorization ?? "")
    response.end("{}")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = `localhost:${(server.address() as AddressInfo).port}`

  return {
    address,
    credentials: (): ReadonlyArray<string> => credentials,
    arrived: () => credentials.length,
    /** A request with the secret of a scene. */
    body: { method: "GET", url: `http://${address}/v1/x`, secrets: ["SHARED"] },
    /** Makes the rule under which the caller of a scene may send its secret here. */
    allow: async (stage: Staged, { caller, place }: Scene) => {
      const org = `/api/orgs/${place.org_name}`
      const isAccount = caller.kind === "account"
      const { data } = await stage.asRoot("GET", `${org}/${isAccount ? "service-accounts" : "members"}`)
      const found: { readonly name: string; readonly email?: string } =
        data.find((one: { id?: string; user_id?: string }) => (one.id ?? one.user_id) === caller.id) ??
        assert.fail("the caller is not in the organization")
      const rule = { ...useRuleBody, hosts: [address], accounts: [found.email ?? found.name] }
      const secret = `${org}/projects/webshop/envs/prod/secrets/SHARED`
      await stage.asRoot("PUT", secret, { value: "long enough" })
      await stage.asRoot("POST", `${secret}/use-rules`, rule)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export type OtherSide = Awaited<ReturnType<typeof startOtherSide>>
