import { settle, settleOrg, startCoffer, valuesOf } from "../support/coffer.mjs"
import { interleave, ratioOf } from "../support/load.mjs"
import { startOpenBao } from "../support/openbao.mjs"
import { startPostgres } from "../support/postgres.mjs"
import { bundleOf, compared, readsOf, writesOf } from "../support/requests.mjs"

/** One PostgreSQL for all rows that need it. */
export const shared = (context) => context.share("postgres", () => startPostgres().then((postgres) => ({ postgres })))

/** Coffer with the same data on each engine, shared by the rows of this file. */
const prepare = async (context) => {
  const { postgres } = await shared(context)
  const server = await startCoffer(context.folder("postgres"), { databaseUrl: await postgres.database("coffer") })
  const embedded = await startCoffer(context.folder("postgres-sqlite"))
  const coffer = { ...server, databaseMicros: postgres.cpuMicros }
  return { coffer, embedded, scene: await settle(coffer), sceneOfEmbedded: await settle(embedded) }
}

/** The processor time of a request, of which the capacity is computed. */
const cost = (kind, { cpu, databaseCpu, rate }) => ({
  row: `PostgreSQL: processor time of a ${kind}, database against server`,
  against: "server",
  measured: `${databaseCpu.toFixed(0)} µs`,
  base: `${cpu.toFixed(0)} µs`,
  ratio: databaseCpu / cpu,
  target: undefined,
  atLeast: false,
  cost: { kind, server: cpu, database: databaseCpu, rate }
})

/** With the processor time of server and database as one. */
export const together = ({ rounds, ...ours }) => ({
  ...ours,
  rounds: rounds.map(({ cpu, databaseCpu = 0, ...round }) => ({ ...round, cpu: cpu + databaseCpu }))
})

const spread = (ours) => ({
  row: "PostgreSQL: secret read, 99th percentile",
  against: "median",
  measured: `${ours.p99.toFixed(1)} ms`,
  base: `${ours.p50.toFixed(1)} ms`,
  ratio: ratioOf(ours, { rounds: ours.rounds.map(({ p50 }) => ({ p99: p50 })) }, "p99"),
  target: 3,
  atLeast: false,
  // Its rounds with --quick are too short for a percentile.
  watched: false
})

const engineRow = {
  name: "postgres",
  run: async (context) => {
    const { coffer, embedded, scene, sceneOfEmbedded } = await context.share("engines", prepare)
    const [read, theirRead, bundle] = await interleave(
      [
        { server: coffer, requests: readsOf(scene) },
        { server: embedded, requests: readsOf(sceneOfEmbedded) },
        { server: coffer, requests: bundleOf(scene) }
      ],
      context.pace
    )
    const [write, theirWrite] = await interleave(
      [
        { server: coffer, requests: writesOf(scene) },
        { server: embedded, requests: writesOf(sceneOfEmbedded) }
      ],
      context.pace
    )
    return [
      compared("PostgreSQL: secret read", "SQLite", together(read), theirRead, {
        kind: "PostgreSQL: read",
        target: 3.3
      }),
      compared("PostgreSQL: secret write, all to one environment", "SQLite", together(write), theirWrite, {
        kind: "PostgreSQL: write"
      }),
      spread(read),
      cost("read", read),
      cost("bundle of 100", bundle),
      cost("write", write)
    ]
  }
}

const openBaoRow = {
  name: "postgres-openbao",
  quick: false,
  needs: "openbao",
  run: async (context) => {
    const { coffer, scene } = await context.share("engines", prepare)
    const { postgres } = await shared(context)
    const bao = await startOpenBao(
      context.openbao,
      context.folder("postgres-openbao"),
      valuesOf(scene.keys.length),
      await postgres.database("openbao")
    )
    const theirs = { ...bao, databaseMicros: postgres.cpuMicros }
    const scenes = await context.share("organizations", async () => {
      const made = []
      for (let index = 0; index < 16; index++) {
        made.push(await settleOrg(coffer, scene.owner, { org: `org-${index}`, secrets: 6 }))
      }
      return made
    })
    try {
      const [read, theirRead] = await interleave(
        [
          { server: coffer, requests: readsOf(scene) },
          { server: theirs, requests: bao.reads }
        ],
        context.pace
      )
      const [write, spreadWrite, theirWrite] = await interleave(
        [
          { server: coffer, requests: writesOf(scene) },
          { server: coffer, own: scenes.map(writesOf) },
          { server: theirs, requests: bao.writes }
        ],
        context.pace
      )
      const row = `OpenBao ${bao.version} on PostgreSQL`
      const [ours, oursWrite, theirsWrite] = [read, write, theirWrite].map(together)
      return [
        compared(`${row}: secret read`, "Coffer's", together(theirRead), ours, { atLeast: true }),
        compared(`${row}: secret write`, "Coffer's, all to one environment", theirsWrite, oursWrite, {
          target: 2,
          atLeast: true
        }),
        compared(`${row}: secret write`, "Coffer's, each to its organization", theirsWrite, together(spreadWrite), {
          target: 2,
          atLeast: true
        })
      ]
    } finally {
      await bao.stop()
    }
  }
}

const clientCounts = [16, 128, 1_000]

const clientsRow = {
  name: "postgres-clients",
  quick: false,
  run: async (context) => {
    const { coffer, scene } = await context.share("engines", prepare)
    const requests = readsOf(scene)
    const loads = await interleave(
      clientCounts.map((connections) => ({ server: coffer, requests, connections })),
      context.pace
    )
    return clientCounts
      .slice(1)
      .map((connections, index) =>
        compared(
          `PostgreSQL: secret read, ${connections.toLocaleString("en")} connections`,
          "16 connections",
          together(loads[index + 1]),
          together(loads[0])
        )
      )
  }
}

export const rows = [engineRow, openBaoRow, clientsRow]
