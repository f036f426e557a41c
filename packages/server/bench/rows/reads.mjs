import Sqlite from "better-sqlite3"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onServerCore } from "../support/machine.mjs"
import { start } from "../support/process.mjs"
import { ask, masterKey, settle, startCoffer } from "../support/coffer.mjs"
import { interleave, ratioOf } from "../support/load.mjs"
import { bundleOf, compared, handWritten, readsOf, writesOf } from "../support/requests.mjs"

const programOf = (name) => fileURLToPath(new URL(`../ceiling/${name}.mjs`, import.meta.url))

/** Starts the hand-written server on a copy of the same database, or the toolkit's, which has no database. */
const startCeiling = async (folder, name = "server") => {
  const database = join(folder, "service.db")
  const server = start(onServerCore([process.execPath, programOf(name)]), {
    cwd: folder,
    env: { PATH: process.env.PATH, CEILING_DB: database, CEILING_MASTER_KEY: masterKey },
    logFile: join(folder, `${name}.log`)
  })
  const [, url] = await server.said(/listening on (http:\/\/\S+)/)
  return { ...server, url, ...(name === "server" && { database }) }
}

/** Coffer and the hand-written server with the same data, shared by all rows of this file. */
const prepare = async ({ folder }) => {
  const ours = folder("reads-coffer")
  const theirs = folder("reads-ceiling")
  const first = await startCoffer(ours)
  const scene = await settle(first)
  await first.stop()
  cpSync(ours, theirs, { recursive: true })
  const [coffer, ceiling] = [await startCoffer(ours), await startCeiling(theirs)]
  const toolkit = await startCeiling(theirs, "toolkit")
  return { coffer, ceiling, toolkit, scene }
}

/** How long the slowest requests take. Rounds with --quick are too short for it. */
const tail = (kind, ours, theirs, target) => ({
  row: `${kind}, 99th percentile`,
  against: handWritten,
  measured: `${ours.p99.toFixed(1)} ms`,
  base: `${theirs.p99.toFixed(1)} ms`,
  ratio: ratioOf(ours, theirs, "p99"),
  target,
  watched: false,
  atLeast: false
})

/** The bytes of a server's database, and the number of its audit entries. */
const sizeOf = async (server, { org, owner }) => {
  const database = new Sqlite(server.database, { readonly: true })
  const bytes = database.pragma("page_count", { simple: true }) * database.pragma("page_size", { simple: true })
  database.close()
  const { body } = await ask(server, "GET", `/api/orgs/${org}/audit-logs?limit=1`, { token: owner })
  return { bytes, entries: body.pagination.total }
}

const readRow = {
  name: "read",
  quick: true,
  run: async (context) => {
    const { ceiling, coffer, scene } = await context.share("servers", prepare)
    const requests = readsOf(scene)
    const before = await sizeOf(coffer, scene)
    const [ours, hand] = await interleave(
      [
        { server: coffer, requests },
        { server: ceiling, requests }
      ],
      context.pace
    )
    const after = await sizeOf(coffer, scene)
    const entries = after.entries - before.entries
    const bytes = (after.bytes - before.bytes) / entries
    return [
      compared("secret read", handWritten, ours, hand, { kind: "read", target: 3.3 }),
      tail("secret read", ours, hand, 1.5),
      {
        row: "bytes of an audit entry of a read, with its index",
        against: "",
        measured: `of ${entries.toLocaleString("en")} entries`,
        base: "",
        ratio: bytes,
        target: undefined,
        atLeast: false
      }
    ]
  }
}

const emptyRow = {
  name: "empty",
  // It has no target.
  quick: false,
  run: async (context) => {
    const { ceiling, coffer, toolkit } = await context.share("servers", prepare)
    const requests = [{ path: "/health" }]
    const [ours, bare, empty] = await interleave(
      [coffer, ceiling, toolkit].map((server) => ({ server, requests })),
      context.pace
    )
    return [
      compared("empty endpoint of Coffer", "empty endpoint of node:http", ours, bare, { kind: "empty" }),
      compared("empty endpoint of the toolkit", "empty endpoint of node:http", empty, bare)
    ]
  }
}

const bundleRow = {
  name: "bundle",
  quick: true,
  run: async (context) => {
    const { ceiling, coffer, scene } = await context.share("servers", prepare)
    const requests = bundleOf(scene)
    const [bundle] = requests
    const etag = (await ask(coffer, "GET", bundle.path, { key: scene.key })).headers.get("etag")
    const unchanged = [{ ...bundle, headers: { ...bundle.headers, "if-none-match": etag } }]
    const [ours, hand, same, single] = await interleave(
      [
        { server: coffer, requests },
        { server: ceiling, requests },
        { server: coffer, requests: unchanged },
        { server: coffer, requests: readsOf(scene) }
      ],
      context.pace
    )
    const secrets = scene.keys.length
    return [
      compared("bundle of 100", handWritten, ours, hand, { kind: "bundle", target: 1.2 }),
      tail("bundle of 100", ours, hand, undefined),
      compared("bundle of 100", "100 reads", ours, single, { target: 0.2, times: secrets }),
      compared("bundle of 100, unchanged", "the bundle", same, ours, { kind: "bundle, unchanged", target: 0.2 })
    ]
  }
}

const writeRow = {
  name: "write",
  quick: true,
  run: async (context) => {
    const { ceiling, coffer, scene } = await context.share("servers", prepare)
    const requests = writesOf(scene)
    const [ours, hand] = await interleave(
      [
        { server: coffer, requests },
        { server: ceiling, requests }
      ],
      context.pace
    )
    return [
      compared("secret write", handWritten, ours, hand, { kind: "write", target: 2.5 }),
      tail("secret write", ours, hand, undefined)
    ]
  }
}

export const rows = [readRow, emptyRow, bundleRow, writeRow]
