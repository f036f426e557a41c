import { settle, startCoffer } from "../support/coffer.mjs"
import { addAuditEntries } from "../support/audit-data.mjs"
import { addPeople, addSecrets } from "../support/data.mjs"
import { interleave } from "../support/load.mjs"
import { bundleOf, compared, readsOf, writesOf } from "../support/requests.mjs"
import { fillPostgres } from "../support/stores.mjs"
import { comparePages } from "./audit.mjs"
import { shared, together } from "./postgres.mjs"
import { compareStart } from "./startup.mjs"

const smallEntries = 1_000
const env = { SUPERADMIN_EMAIL_0: "ada@example.com" }

/** Starts a server with a database of its own, filled while the server is stopped. */
const serverWith = async (context, postgres, name, add) => {
  const files = context.folder(`scale-${name}`)
  const databaseUrl = await postgres.database(name)
  const first = await startCoffer(files, { databaseUrl, env })
  const scene = await settle(first)
  await first.stop()
  const begun = performance.now()
  await fillPostgres(databaseUrl, (store) => add(store, scene.org))
  const seconds = (performance.now() - begun) / 1000
  const server = await startCoffer(files, { databaseUrl, env })
  return {
    databaseUrl,
    files,
    scene,
    seconds,
    server: { ...server, databaseMicros: postgres.cpuMicros },
    gibibytes: (await postgres.size(databaseUrl)) / 2 ** 30
  }
}

/** The processor time of a request in a large database against a small one, of the server and PostgreSQL together. */
const costs = (kind, loads) => {
  const [large, small] = loads.map(together)
  return compared(`PostgreSQL at scale: ${kind}`, "an empty database", large, small, { target: 1.2 })
}

/** Lists of environments all over the table of secrets, and the same number of lists of one environment. */
const listsOf = ({ scene }, environments) =>
  Array.from({ length: 100 }, (_, index) => {
    const name = environments === 0 ? "prod" : `bulk-${1 + Math.floor((index / 100) * environments)}`
    return {
      path: `/api/orgs/${scene.org}/projects/web/envs/${name}/secrets`,
      headers: { authorization: `Bearer ${scene.owner}` }
    }
  })

const row = {
  name: "postgres-scale",
  quick: false,
  run: async (context) => {
    const { postgres } = await shared(context)
    const environments = Math.round((10_000_000 * context.scale) / 100)
    const entries = Math.round(100_000_000 * context.scale)
    const large = await serverWith(context, postgres, "large", async (store, org) => {
      await addAuditEntries(store, org, entries)
      await addPeople(store, org, { members: 1_000, projects: 1_000, rules: 10_000 })
      await addSecrets(store, { bytes: 32, environments })
    })
    const small = await serverWith(context, postgres, "small", (store, org) =>
      addAuditEntries(store, org, smallEntries)
    )
    const sides = [large, small]
    const secrets = (environments * 100).toLocaleString("en")
    process.stderr.write(
      `${secrets} secrets and ${entries.toLocaleString("en")} audit entries: ${large.gibibytes.toFixed(1)} GiB, loaded in ${large.seconds.toFixed(0)} s\n`
    )
    const loaded = async (requestsOf) =>
      interleave(
        sides.map((side) => ({ server: side.server, requests: requestsOf(side) })),
        context.pace
      )
    // Before the loads, whose entries would go to the small log too.
    const pages = await comparePages(sides, {
      against: `${smallEntries.toLocaleString("en")} entries`,
      prefix: "PostgreSQL, ",
      size: entries,
      turns: 60
    })
    const results = [
      {
        row: `PostgreSQL at scale: loading ${secrets} secrets and ${entries.toLocaleString("en")} audit entries`,
        against: "10 and 100 million",
        measured: `${large.gibibytes.toFixed(1)} GiB in ${large.seconds.toFixed(0)} s`,
        base: "",
        ratio: context.scale,
        target: undefined,
        atLeast: true
      },
      costs("read", await loaded(({ scene }) => readsOf(scene))),
      costs("bundle of 100", await loaded(({ scene }) => bundleOf(scene))),
      costs(
        `list of 100, over all environments`,
        await loaded((side) => listsOf(side, side === large ? environments : 0))
      ),
      costs("write", await loaded(({ scene }) => writesOf(scene)))
    ]
    for (const { server } of sides) await server.stop()
    return [...results, ...pages, await compareStart("PostgreSQL at scale", large.files, 11, large.databaseUrl)]
  }
}

export const rows = [row]
