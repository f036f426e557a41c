import { Array, Effect, Schema } from "effect"
import { type Parameter, Statements } from "../database/Client.js"
import { rowsBy } from "../database/Rows.js"
import type { LogEnd } from "./Append.js"
import type { Draft, Head, Stamp } from "./Chain.js"
import { type NamedPlace, placeKey, placesOf } from "./Places.js"

const EndRow = Schema.Struct({
  seq: Schema.NullOr(Schema.Number),
  chain: Schema.NullOr(Schema.String),
  created_at: Schema.NullOr(Schema.String),
  mac: Schema.NullOr(Schema.String),
  last_seq: Schema.NullOr(Schema.Number),
  last_chain: Schema.NullOr(Schema.String),
  position: Schema.Number
})

const IdRow = Schema.Struct({ id: Schema.Number })

/** An entry as it is appended, with its link of the chain. */
export interface LinkedEntry {
  /** In the order of commit, over all logs. */
  readonly position: number
  readonly entry: Draft
  readonly stamp: Stamp
  readonly chain: string
}

const valuesOf = ({ chain, entry, position, stamp }: LinkedEntry): ReadonlyArray<Parameter> => [
  position,
  entry.id,
  entry.log,
  stamp.seq,
  entry.org_id,
  entry.actor_type,
  entry.actor_id,
  entry.actor_name,
  entry.action,
  entry.resource_type,
  entry.resource_id,
  entry.ip_address,
  entry.metadata,
  stamp.created_at,
  chain
]

/** Several rows a statement: what may abort keeps what it changes to the side first, page by page, for each statement anew. */
const inserts = [16, 4, 1].map((rows) => ({
  rows,
  statement: `INSERT INTO audit_entries (position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
    resource_id, ip_address, metadata, created_at, chain)
    VALUES ${Array.makeBy(rows, () => "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`
}))

/** The audit tables' statements, for use inside a transaction. No statement updates or deletes an entry. */
export class AuditRepo extends Effect.Service<AuditRepo>()("@coffer/server/AuditRepo", {
  effect: Effect.gen(function* () {
    const { atCommit, run, savepoint } = yield* Statements
    const ends = rowsBy(run)(EndRow)

    const end = (log: string): LogEnd => {
      const [row] = ends(
        `SELECT h.seq, h.chain, h.created_at, h.mac, e.seq AS last_seq, e.chain AS last_chain,
            coalesce((SELECT max(position) FROM audit_entries), 0) AS position
          FROM (SELECT 1) LEFT JOIN audit_heads h ON h.log = ? LEFT JOIN audit_entries e
            ON e.log = ? AND e.seq = (SELECT max(seq) FROM audit_entries WHERE log = ?)`,
        [log, log, log]
      )
      const { chain = null, created_at = null, last_chain = null, last_seq = null, mac = null, seq = null } = row ?? {}
      return {
        position: row?.position ?? 0,
        head:
          seq === null || chain === null || created_at === null || mac === null
            ? null
            : { log, seq, chain, created_at, mac },
        last: last_seq === null || last_chain === null ? null : { seq: last_seq, chain: last_chain }
      }
    }

    const insert = (entries: ReadonlyArray<LinkedEntry>): void => {
      let at = 0
      for (const { rows, statement } of inserts) {
        for (; at + rows <= entries.length; at += rows) {
          const values: Array<Parameter> = []
          for (const entry of entries.slice(at, at + rows)) values.push(...valuesOf(entry))
          run(statement, values)
        }
      }
    }

    const byKind = (drafts: ReadonlyArray<Draft>) =>
      Object.values(Array.groupBy(drafts, (entry) => `${entry.actor_id} ${entry.action} ${entry.resource_type}`))

    const places = rowsBy(run)(IdRow)

    /** The id of a place, which is made when it is new. */
    const placeId = (log: string, { actor_name, env, keys, members, project }: NamedPlace): number => {
      const values = [log, project, env, keys, actor_name]
      const find = `SELECT id FROM audit_places
        WHERE log = ? AND project = ? AND env = ? AND keys = ? AND actor_name = ?`
      const [found] = places(find, values)
      if (found !== undefined) return found.id
      run(`INSERT INTO audit_places (log, project, env, keys, actor_name) VALUES (?, ?, ?, ?, ?)`, values)
      const [made] = places(find, values)
      const id = made?.id ?? 0
      for (const key of members) run(`INSERT INTO audit_place_keys (key, log, place) VALUES (?, ?, ?)`, [key, log, id])
      return id
    }

    /** Posts entries of one log at their places, so that they are found by names. */
    const post = (entries: ReadonlyArray<LinkedEntry>): void => {
      const posted = new Map<string, { readonly place: NamedPlace; readonly entries: Array<LinkedEntry> }>()
      const actors = new Map<string, Draft>()
      for (const linked of entries) {
        const { entry } = linked
        actors.set(`${entry.actor_id} ${entry.actor_name}`, entry)
        for (const place of placesOf(entry)) {
          const key = placeKey(place)
          const known = posted.get(key)
          if (known === undefined) posted.set(key, { place, entries: [linked] })
          else known.entries.push(linked)
        }
      }
      for (const { actor_id, actor_name, log } of actors.values()) {
        run(`INSERT OR IGNORE INTO audit_actors (actor_name, log, actor_id) VALUES (?, ?, ?)`, [
          actor_name,
          log,
          actor_id ?? ""
        ])
      }
      for (const { entries, place } of posted.values()) {
        const id = placeId(entries[0]?.entry.log ?? "", place)
        for (const { entry, position } of entries) {
          run(
            `INSERT OR IGNORE INTO audit_postings (place, actor_id, action, resource_type, position) VALUES (?, ?, ?, ?, ?)`,
            [id, entry.actor_id ?? "", entry.action, entry.resource_type, position]
          )
        }
        for (const [first, ...rest] of byKind(entries.map(({ entry }) => entry))) {
          run(
            `INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (place, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`,
            [id, first.actor_id ?? "", first.action, first.resource_type, 1 + rest.length]
          )
        }
      }
    }

    const count = (drafts: ReadonlyArray<Draft>): void => {
      for (const [first, ...rest] of byKind(drafts)) {
        run(
          `INSERT INTO audit_counters (log, actor_id, action, resource_type, entries) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (log, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`,
          [first.log, first.actor_id ?? "", first.action, first.resource_type, 1 + rest.length]
        )
      }
    }

    const setHead = (head: Head & { readonly mac: string }) =>
      run(
        `INSERT INTO audit_heads (log, seq, chain, created_at, mac) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
          mac = excluded.mac`,
        [head.log, head.seq, head.chain, head.created_at, head.mac]
      )

    return { end, insert, count, post, setHead, savepoint, atCommit } as const
  })
}) {}
