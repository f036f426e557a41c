import { assert } from "vitest"
import { clusterFederation, podClaims, publicUrl, Signer } from "../federations/Signer.js"
import { type Answer, type CallOptions, Program, type Variables, type Json } from "../support/Program.js"

/** Someone who calls, with whatever credential. */
export interface Caller {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Person extends Caller {
  readonly email: string
  readonly token: string
}

export interface Account extends Caller {
  readonly name: string
  readonly key: string
}

export const nobody: Caller = { id: "", headers: {} }

export const people = (token: string) => ({ authorization: `Bearer ${token}` })
export const machines = (key: string) => ({ "x-api-key": key })

export type Role = "member" | "developer" | "admin" | "owner"

/** How an access rule names its subject. */
export const subjectOf = (caller: Person | Account) =>
  "email" in caller
    ? { subject_type: "user", email: caller.email }
    : { subject_type: "service_account", subject_id: caller.id }

let words = 0
/** A word that was not used before: good as a name of anything. */
export const word = (): string => `w${String(++words).padStart(5, "0")}`

/** A real server as a process, and the calls that every test begins with. */
export class Service {
  readonly signer = Signer.make()
  readonly #audiences = new Map<string, string>()

  private constructor(readonly program: Program) {}

  /** With each entry of the audit log committed before its answer: what is looked for afterwards is there. */
  static async start(variables: Variables = {}): Promise<Service> {
    return new Service(
      await Program.start({
        SERVICE_AUDIT_REQUIRED: "1",
        SERVICE_PUBLIC_URL: publicUrl,
        SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
        SERVICE_SCIM_DOMAINS: "example.com",
        ...variables
      })
    )
  }

  async remove(): Promise<void> {
    await this.program.remove()
  }

  async call(caller: Caller, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    return this.program.call(method, path, { ...options, headers: { ...caller.headers, ...options.headers } })
  }

  /** A call that must succeed; answers its body. */
  async do(caller: Caller, method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.call(caller, method, path, { body })
    assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
    return answer.body
  }

  /** A call's status, and nothing else of it. */
  async status(caller: Caller, method: string, path: string, body?: unknown): Promise<number> {
    return (await this.call(caller, method, path, { body })).status
  }

  async person(email: string): Promise<Person> {
    const token = await this.program.login(email)
    const headers = people(token)
    const { id } = await this.do({ id: "", headers }, "GET", "/api/auth/me")
    return { id, email, token, headers }
  }

  /** Invites a person, who logs in and accepts. */
  async member(inviter: Caller, org: string, email: string, role: Role): Promise<Person> {
    await this.do(inviter, "POST", `/api/orgs/${org}/members`, { email, role })
    const person = await this.person(email)
    await this.do(person, "GET", `/api/orgs/${org}`)
    return person
  }

  async account(creator: Caller, org: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Account> {
    const made = await this.do(creator, "POST", `/api/orgs/${org}/service-accounts`, { name: word(), ...fields })
    return { id: made.id, name: made.name, key: made.api_key, headers: machines(made.api_key) }
  }

  /** Lets an account sign in with the tokens of a cluster; returns the federation. */
  async federation(creator: Caller, org: string, account: Account, name = word()): Promise<Json> {
    const path = `/api/orgs/${org}/service-accounts/${account.id}/federations`
    const made = await this.do(creator, "POST", path, clusterFederation(await this.signer, name))
    this.#audiences.set(account.id, made.audience)
    return made
  }

  /** A token of the cluster for an account. */
  async podToken({ id }: Account): Promise<string> {
    return (await this.signer).sign(podClaims(this.#audiences.get(id) ?? "", Math.floor(Date.now() / 1000)))
  }

  /** The account with a session of its federation as its credential. */
  async signedIn(org: string, account: Account): Promise<Account> {
    const body = { token: await this.podToken(account), account: `${org}/${account.name}` }
    const { token } = await this.do(nobody, "POST", "/api/auth/federate", body)
    return { ...account, headers: people(token) }
  }

  /** Grants a permission; answers the rule. */
  async grant(
    granter: Caller,
    org: string,
    subject: Person | Account,
    permission: string,
    project_pattern = "*",
    env_pattern = "*",
    keys: { readonly key_pattern?: string; readonly denies?: boolean } = {}
  ): Promise<Json> {
    const patterns = { project_pattern, env_pattern, ...keys }
    return this.do(granter, "POST", `/api/orgs/${org}/acl`, { ...subjectOf(subject), ...patterns, permission })
  }

  /** Every entry of a log that bears an action, newest first. */
  async entries(caller: Caller, log: string, action: string): Promise<ReadonlyArray<Json>> {
    const found: Array<Json> = []
    let after: string | null = ""
    while (after !== null) {
      const cursor: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`
      const page: Json = await this.do(caller, "GET", `${log}?action=${action}&limit=100${cursor}`)
      found.push(...page.data)
      after = page.pagination.next_cursor
    }
    return found
  }
}

/** Works through many things, a few at a time, in their order. */
export const each = async <A, B>(
  things: ReadonlyArray<A>,
  work: (thing: A) => Promise<B>,
  atOnce = 8
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  let next = 0
  const worker = async () => {
    while (next < things.length) {
      const index = next++
      results[index] = await work(things[index]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, things.length) }, worker))
  return results
}
