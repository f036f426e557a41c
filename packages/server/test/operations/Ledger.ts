import { Array } from "effect"
import { assert } from "vitest"
import type { Json, Program } from "../support/Program.js"

/** A write that was sent: its value is its own, so that what became of it can be told from the database alone. */
interface Sent {
  readonly keys: ReadonlyArray<string>
  readonly value: string
  /** The server's answer, once it has come: the version of each key. */
  acknowledged: ReadonlyMap<string, number> | null
}

/** A removal that was sent, of a key whose last value was this. */
interface Removal {
  readonly key: string
  readonly value: string
  acknowledged: boolean
}

/** A version as the database has it. */
export interface Found {
  readonly key: string
  readonly version: number
  readonly value: string
  readonly removed: boolean
}

const env = "/api/orgs/acme/projects/webshop/envs/prod"

/** A record of the answers to writers, kept outside the server that is killed. */
export class Ledger {
  readonly sent: Array<Sent> = []
  readonly removals: Array<Removal> = []
  #values = 0

  /** Sets keys to a fresh value: one by PUT, more by one PATCH. */
  async #set(server: Program, token: string, ...keys: ReadonlyArray<string>): Promise<string> {
    const [key = ""] = keys
    const value = `value ${++this.#values} of ${keys.join()}`
    const entry: Sent = { keys, value, acknowledged: null }
    this.sent.push(entry)
    const answer =
      keys.length === 1
        ? await server.call("PUT", `${env}/secrets/${key}`, { token, body: { value } })
        : await server.call("PATCH", `${env}/bundle`, {
            token,
            body: { set: Object.fromEntries(keys.map((name) => [name, value])) }
          })
    assert.oneOf(answer.status, [200, 201], answer.text)
    const versions: ReadonlyArray<Json> = keys.length === 1 ? [answer.body] : answer.body.data
    entry.acknowledged = new Map(versions.map(({ key, version }) => [key, version]))
    return value
  }

  /** Writes without an end, in keys of its own, until the server is gone. */
  async write(server: Program, token: string, writer: number): Promise<void> {
    const [one, two, three] = ["ONE", "TWO", "THREE"].map((name) => `W${writer}_${name}`) as [string, string, string]
    try {
      for (let round = writer; ; round++) {
        await this.#set(server, token, one)
        await this.#set(server, token, two, three)
        if (round % 3 > 0) continue
        const removal: Removal = { key: one, value: await this.#set(server, token, one), acknowledged: false }
        this.removals.push(removal)
        const answer = await server.call("DELETE", `${env}/secrets/${one}`, { token })
        assert.strictEqual(answer.status, 204, answer.text)
        removal.acknowledged = true
      }
    } catch (error) {
      // The connection broke when the server was killed; everything else is a failure of the test.
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** Holds the ledger against the database: nothing that was acknowledged is lost, nothing is half-done, nothing is more. */
  check(found: ReadonlyArray<Found>): void {
    const byValue = new Map(Object.entries(Array.groupBy(found, ({ value }) => value)))
    for (const { acknowledged, keys, value } of this.sent) {
      const versions = byValue.get(value) ?? []
      byValue.delete(value)
      if (acknowledged === null && versions.length === 0) continue
      assert.sameMembers(
        versions.map(({ key }) => key),
        [...keys],
        `${value} is there whole, or not at all`
      )
      for (const { key, version } of versions) {
        if (acknowledged !== null) assert.strictEqual(version, acknowledged.get(key), `${value}: its version`)
      }
    }
    assert.deepStrictEqual([...byValue.keys()], [], "nothing is there that nobody wrote")
    for (const { acknowledged, key, value } of this.removals) {
      const removed = found.find((version) => version.key === key && version.value === value)?.removed
      if (acknowledged) assert.isTrue(removed, `${key} with ${value} was removed`)
    }
  }
}
