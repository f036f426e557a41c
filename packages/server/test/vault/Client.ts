import type { Answer, CallOptions } from "../support/Program.js"
import { type Account, type Caller, nobody, type Service } from "../authorization/Service.js"

export const tokens = (token: string) => ({ "x-vault-token": token })

/** An account as a caller of the view, by whatever it has as its token. */
export const holding = (id: string, token: string): Caller => ({ id, headers: tokens(token) })

/** The calls of Vault's clients, as recorded from theirs: PUT with a body and no content type, lists by GET. */
export class Client {
  constructor(
    readonly service: Service,
    readonly namespace?: string
  ) {}

  #headers(token: string | null): Readonly<Record<string, string>> {
    return {
      "x-vault-request": "true",
      ...(token !== null && tokens(token)),
      ...(this.namespace !== undefined && { "x-vault-namespace": this.namespace })
    }
  }

  call(token: string | null, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    return this.service.call(nobody, method, `/v1/${path}`, { ...options, headers: this.#headers(token) })
  }

  get(token: string, path: string): Promise<Answer> {
    return this.call(token, "GET", path)
  }

  put(token: string | null, path: string, body?: unknown): Promise<Answer> {
    const bytes = Buffer.from(JSON.stringify(body ?? null))
    return this.call(token, "PUT", path, { raw: new Uint8Array(bytes) })
  }

  login(role: string, key: string): Promise<Answer> {
    return this.put(null, "auth/approle/login", { role_id: role, secret_id: key })
  }

  /** The token of a login that must succeed. */
  async token({ key, name }: Account): Promise<string> {
    return (await this.login(name, key)).body.auth.client_token
  }

  jwtLogin(method: "jwt" | "kubernetes", role: string, jwt: string): Promise<Answer> {
    return this.put(null, `auth/${method}/login`, { role, jwt })
  }
}
