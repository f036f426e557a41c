import { assert } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import { publicUrl } from "../federations/Signer.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"

export const domain = "people.example.com"

export const patchOp = "urn:ietf:params:scim:api:messages:2.0:PatchOp"

export const startDirectory = (settings: Readonly<Record<string, string>> = {}): Promise<Pair> =>
  startPair({ ...sceneSettings(), SERVICE_SCIM_DOMAINS: domain, ...settings })

/** An organization with a project, an owner and a directory, whose requests go to a server by its number. */
export const directoryOf = async ({ first, second }: Pair) => {
  const org = `org-${word()}`
  const at = `/api/orgs/${org}`
  await first.asRoot("POST", "/api/orgs", { name: org })
  await first.asRoot("POST", `${at}/projects`, { name: "webshop" })
  const ownerEmail = `${word()}@${domain}`
  const owner = await first.person(email(ownerEmail))
  await first.asRoot("POST", `${at}/members`, { email: ownerEmail, role: "owner" })
  await first.do(owner.headers, "GET", at)
  const { token, path } = await first.do(owner.headers, "POST", `${at}/scim`)
  const headers = { authorization: `Bearer ${token}` }

  const scim = async (
    method: string,
    below: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
    server = second
  ) => server.send({ method, path: `${path}${below}`, headers: { ...headers, ...more }, body })

  /** A request that succeeds. */
  const ask = async (method: string, below: string, body?: unknown): Promise<Json> => {
    const { body: answer, status, text } = await scim(method, below, body)
    assert.isBelow(status, 300, `${method} ${below}: ${text}`)
    return answer
  }

  const add = async (name = word(), fields: object = {}): Promise<Json> =>
    ask("POST", "/Users", { userName: `${name}@${domain}`, active: true, ...fields })

  const setActive = (id: string, active: unknown) =>
    scim("PATCH", `/Users/${id}`, {
      schemas: [patchOp],
      Operations: [{ op: "replace", path: "active", value: active }]
    })

  /** Somebody of the directory, who has logged in. */
  const person = async () => {
    const address = `${word()}@${domain}`
    const caller = await first.person(email(address))
    const { id } = await ask("POST", "/Users", { userName: address, active: true })
    return { ...caller, address, scimId: id }
  }

  const members = async (): Promise<ReadonlyArray<Json>> => (await first.do(owner.headers, "GET", `${at}/members`)).data
  const entries = async (action: string): Promise<ReadonlyArray<Json>> =>
    (await first.do(owner.headers, "GET", `${at}/audit-logs?action=${action}`)).data

  return {
    ...{ org, at, path, owner, ownerEmail, token, scim, ask, add, setActive, person, members, entries },
    asOwner: (method: string, below: string, body?: unknown) => first.do(owner.headers, method, `${at}${below}`, body),
    try: (method: string, below: string, body?: unknown) =>
      first.send({ method, path: `${at}${below}`, headers: owner.headers, body })
  }
}

export type Directory = Awaited<ReturnType<typeof directoryOf>>

export { publicUrl, word }
