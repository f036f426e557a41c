import { Effect, Exit, Scope } from "effect"
import {
  type RenewedDatabase,
  renewedDatabase,
  renewerPassword
} from "../../../server/test/support/postgres/RenewedDatabase.js"
import type { Person } from "./Person.js"

/** A real PostgreSQL, whose users the server renews. */
export class Renewed {
  private constructor(
    readonly database: RenewedDatabase,
    private readonly scope: Scope.CloseableScope
  ) {}

  static async start(): Promise<Renewed> {
    const scope = await Effect.runPromise(Scope.make())
    const database = await Effect.runPromise(Scope.extend(renewedDatabase, scope))
    await database.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
    return new Renewed(database, scope)
  }

  stop(): Promise<void> {
    return Effect.runPromise(Scope.close(this.scope, Exit.void))
  }

  /** Gives an environment a connection, a rotation, a role and a lease. Returns the name of the leased user. */
  async fill(person: Person, env: string): Promise<string> {
    const { ca, port } = this.database
    await person.call("PATCH", `${env}/bundle`, { set: { RENEWER: renewerPassword } })
    await person.call("POST", `${env}/connections`, {
      ...{ name: "shop-db", host: "127.0.0.1", port, tls: "verify-ca", ca },
      ...{ database: "postgres", user: "renewer", password_key: "RENEWER" }
    })
    await person.call("POST", `${env}/rotations`, {
      ...{ name: "shop-app", connection: "shop-db", users: ["app_a", "app_b"], every: "30d" },
      writes: { DATABASE_URL: `postgres://{user}:{password}@127.0.0.1:${port}/postgres` }
    })
    await person.call("POST", `${env}/roles`, { name: "app-role", connection: "shop-db" })
    const { username } = await person.call("POST", `${env}/roles/app-role/leases`, { ttl: "10m" })
    return username
  }
}
