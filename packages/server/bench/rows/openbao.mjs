import { settle, startCoffer, valuesOf } from "../support/coffer.mjs"
import { interleave, ratioOf } from "../support/load.mjs"
import { startOpenBao } from "../support/openbao.mjs"
import { perSecond, readsOf, writesOf } from "../support/requests.mjs"

const result = (row, ours, theirs, times, target) => ({
  row,
  against: "OpenBao",
  measured: perSecond(ours),
  base: times === 1 ? perSecond(theirs) : `${(theirs.rate / times).toFixed(1)}/s`,
  ratio: ratioOf(ours, theirs) * times,
  target,
  atLeast: true
})

/** Comparison with OpenBao. Needs `--openbao PATH`, a built `bao`. */
const row = {
  name: "openbao",
  quick: false,
  needs: "openbao",
  run: async (context) => {
    const coffer = await startCoffer(context.folder("openbao-coffer"))
    const scene = await settle(coffer)
    const bao = await startOpenBao(context.openbao, context.folder("openbao"), valuesOf(scene.keys.length))
    const bundle = [{ path: `${scene.env}/bundle`, headers: { "x-api-key": scene.key } }]
    try {
      const [read, theirRead, whole] = await interleave(
        [
          { server: coffer, requests: readsOf(scene) },
          { server: bao, requests: bao.reads },
          { server: coffer, requests: bundle }
        ],
        context.pace
      )
      const [write, theirWrite] = await interleave(
        [
          { server: coffer, requests: writesOf(scene) },
          { server: bao, requests: bao.writes }
        ],
        context.pace
      )
      return [
        result(`secret read, 16 connections (OpenBao ${bao.version})`, read, theirRead, 1, 3),
        result("secret write, 16 connections", write, theirWrite, 1, 3),
        result("environment of 100 secrets, 16 connections: a bundle, or 100 reads", whole, theirRead, 100, 30)
      ]
    } finally {
      await coffer.stop()
      await bao.stop()
    }
  }
}

export const rows = [row]
