import { ask, settle, startCoffer, valuesOf } from "../support/coffer.mjs"
import { interleave } from "../support/load.mjs"
import { compared } from "../support/requests.mjs"

const keys = 2_000
const references = 500

/** 2,000 values, of which 500 are references: half of them to one other environment, two steps away from the value. */
const prepare = async ({ folder }) => {
  const server = await startCoffer(folder("references"))
  const scene = await settle(server)
  const project = scene.env.replace(/prod$/, "")
  const by = { token: scene.owner }
  const write = (env, body) => ask(server, "PATCH", `${project}${env}/bundle`, { ...by, body })
  await write("staging", { set: valuesOf(references) })
  await write("staging", {
    references: Object.fromEntries(Array.from({ length: references }, (_, at) => [`LINK_${at}`, `\${KEY_${at}}`]))
  })
  await write("dev", { set: valuesOf(keys) })
  await write("prod", { set: valuesOf(keys) })
  const timed = async (body) => {
    const begun = performance.now()
    await write("prod", body)
    return performance.now() - begun
  }
  const other = valuesOf(references, (key) => `another value of ${key}`)
  const values = await timed({ set: other })
  const written = await timed({
    references: Object.fromEntries(
      Array.from({ length: references }, (_, at) => [
        `KEY_${at}`,
        at % 2 === 0 ? `value \${staging:LINK_${at}}` : `value \${KEY_${references + at}} of this environment`
      ])
    )
  })
  return { server, project, token: scene.owner, written, values }
}

const row = {
  name: "references",
  quick: false,
  run: async (context) => {
    const { project, server, token, values, written } = await context.share("references", prepare)
    const headers = { authorization: `Bearer ${token}` }
    const bundle = (env) => ({ server, requests: [{ path: `${project}${env}/bundle`, headers }], connections: 1 })
    const etag = (await ask(server, "GET", `${project}prod/bundle`, { token })).headers.get("etag")
    const unchanged = { path: `${project}prod/bundle`, headers: { ...headers, "if-none-match": etag } }
    const [referring, plain, same] = await interleave(
      [bundle("prod"), bundle("dev"), { server, requests: [unchanged], connections: 1 }],
      context.pace
    )
    await server.stop()
    return [
      compared(`bundle of ${keys} keys with ${references} references`, `one of ${keys} values`, referring, plain, {
        target: 1.5
      }),
      compared("the same, unchanged", "the bundle", same, referring),
      {
        row: `writing ${references} references in one change`,
        against: `writing ${references} values`,
        measured: `${written.toFixed(0)} ms`,
        base: `${values.toFixed(0)} ms`,
        ratio: written / values,
        target: undefined,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
