import { ask, settle, startCoffer } from "../support/coffer.mjs"
import { startCounting } from "../support/counts.mjs"
import { bundleOf, readsOf, writesOf } from "../support/requests.mjs"

const delegatedReads = async (server, scene) => {
  const scope = { name: "agent", org: scene.org, project: "web", env: "prod", permission: "read", expires_in: 3_600 }
  const { body } = await ask(server, "POST", "/api/auth/delegations", { token: scene.owner, body: scope })
  return readsOf(scene).map(({ path }) => ({ path, headers: { authorization: `Bearer ${body.token}` } }))
}

const format = ({ allocated, commits, ofCommits, statements, walBytes }) =>
  [
    ...(ofCommits > 0 ? [`${ofCommits.toFixed(0)} of them by the group commit`] : []),
    `${statements.toFixed(0)} statements`,
    `${commits.toFixed(3)} commits`,
    `${(walBytes / 1000).toFixed(1)} KB of log`,
    `${allocated.toFixed(0)} KB allocated`
  ].join(", ")

const row = {
  name: "counts",
  quick: true,
  run: async (context) => {
    const folder = context.folder("counts")
    const first = await startCoffer(folder)
    const scene = await settle(first)
    const delegated = await delegatedReads(first, scene)
    const etag = (await ask(first, "GET", `${scene.env}/bundle`, { key: scene.key })).headers.get("etag")
    await first.stop()
    const { built, count, fibers, stepsAtOnce } = await startCounting(context.folder, folder, scene)
    const counted = async (kind, requests, target, isWrite = false) => {
      const { ofCommits, ...counted } = await count(requests, isWrite)
      return {
        row: `fiber steps: ${kind}`,
        against: "",
        measured: format({ ofCommits, ...counted }),
        base: "",
        ratio: counted.steps,
        kind,
        counted,
        target,
        atLeast: false
      }
    }
    const [bundle] = bundleOf(scene)
    const unchanged = { ...bundle, headers: { ...bundle.headers, "if-none-match": etag } }
    const writes = writesOf(scene)
    const results = [
      await counted("empty", [{ path: "/health" }], 70),
      await counted("read", readsOf(scene), 130),
      await counted("bundle", [bundle], 250),
      ...(context.quick
        ? []
        : [
            await counted("read by a delegation", delegated, undefined),
            // Before the writes, which make it another bundle.
            await counted("bundle, unchanged", [unchanged], undefined)
          ]),
      await counted("write", writes, 480, true)
    ]
    const atOnce = await stepsAtOnce(writes)
    await fibers.stop()
    await built.stop()
    return [
      ...results,
      {
        row: "fiber steps: write, 16 at once",
        against: "",
        measured: `${atOnce.ofCommits.toFixed(0)} of them by the group commit`,
        base: "",
        ratio: atOnce.steps,
        target: 350,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
