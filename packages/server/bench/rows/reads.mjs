import { cpSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onServerCore } from "../support/machine.mjs"
import { start } from "../support/process.mjs"
import { ask, masterKey, settle, startCoffer } from "../support/coffer.mjs"
import { interleave, ratioOf } from "../support/load.mjs"
import { compared, handWritten, readsOf, writesOf } from "../support/requests.mjs"

const programOf = (name) => fileURLToPath(new URL(`../ceiling/${name}.mjs`, import.meta.url))

/** Starts the hand-written server on a copy of the same database, or the toolkit's, which has no database. */
const startCeiling = async (folder, name = "server") => {
  const server = start(onServerCore([process.execPath, programOf(name)]), {
    cwd: folder,
    env: { PATH: process.env.PATH, CEILING_DB: join(folder, "service.db"), CEILING_MASTER_KEY: masterKey },
    logFile: join(folder, `${name}.log`)
  })
  const [, url] = await server.said(/listening on (http:\/\/\S+)/)
  return { ...server, url }
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

const readRow = {
  name: "read",
  quick: true,
  run: async (context) => {
    const { ceiling, coffer, scene, toolkit } = await context.share("servers", prepare)
    const requests = readsOf(scene)
    const health = [{ path: "/health" }]
    const [ours, hand, empty, bare, toolkitEmpty] = await interleave(
      [
        { server: coffer, requests },
        { server: ceiling, requests },
        ...(context.quick
          ? []
          : [
              { server: coffer, requests: health },
              { server: ceiling, requests: health },
              { server: toolkit, requests: health }
            ])
      ],
      context.pace
    )
    return [
      compared("secret read, 16 connections", handWritten, ours, hand, 0.5),
      {
        row: "secret read, 99th percentile",
        against: "hand-written server",
        measured: `${ours.p99.toFixed(2)} ms`,
        base: `${hand.p99.toFixed(2)} ms`,
        ratio: ratioOf(ours, hand, "p99"),
        target: 3,
        atLeast: false
      },
      // These have no target, so --quick does not measure them: the hand-written server's own read would miss one.
      ...(context.quick
        ? []
        : [
            compared(
              "empty HttpApi endpoint of the toolkit",
              "empty node:http endpoint",
              toolkitEmpty,
              bare,
              undefined
            ),
            compared("secret read, 16 connections", "empty endpoint of Coffer", ours, empty, undefined),
            compared("hand-written server's read", "empty endpoint of Coffer", hand, empty, undefined),
            compared("empty endpoint of Coffer", "empty node:http endpoint", empty, bare, undefined)
          ])
    ]
  }
}

const bundleRow = {
  name: "bundle",
  quick: true,
  run: async (context) => {
    const { ceiling, coffer, scene } = await context.share("servers", prepare)
    const headers = { "x-api-key": scene.key }
    const path = `${scene.env}/bundle`
    const etag = (await ask(coffer, "GET", path, { key: scene.key })).headers.get("etag")
    const [ours, hand, unchanged, many, single, one, handSingle, handOne] = await interleave(
      [
        { server: coffer, requests: [{ path, headers }] },
        { server: ceiling, requests: [{ path, headers }] },
        { server: coffer, requests: [{ path, headers: { ...headers, "if-none-match": etag } }] },
        { server: coffer, requests: readsOf(scene) },
        ...(context.quick
          ? []
          : [
              { server: coffer, requests: readsOf(scene), connections: 1 },
              { server: coffer, requests: [{ path, headers }], connections: 1 },
              { server: ceiling, requests: readsOf(scene), connections: 1 },
              { server: ceiling, requests: [{ path, headers }], connections: 1 }
            ])
      ],
      context.pace
    )
    const secrets = scene.keys.length
    const faster = (row, against, quick, slow, times, target) => ({
      row,
      against,
      measured: `${(1000 / quick.rate).toFixed(2)} ms`,
      base: `${((1000 * times) / slow.rate).toFixed(2)} ms`,
      ratio: ratioOf(quick, slow) * times,
      target,
      atLeast: true
    })
    return [
      compared("bundle of 100", handWritten, ours, hand, 1.2),
      faster("bundle of 100, 16 connections", "100 single reads", ours, many, secrets, 5),
      // Not measured with --quick: the first ratio falls as reads get faster, so a miss is no regression.
      ...(context.quick
        ? []
        : [
            faster("bundle of 100, 1 connection", "100 single reads, in turn", one, single, secrets, 15),
            faster(
              "hand-written server's bundle, 1 connection",
              "its 100 single reads",
              handOne,
              handSingle,
              secrets,
              undefined
            )
          ]),
      faster("bundle, If-None-Match hit", "bundle of 100", unchanged, ours, 1, 5)
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
    return [compared("secret write, 16 connections", handWritten, ours, hand, 0.9)]
  }
}

export const rows = [readRow, bundleRow, writeRow]
