import { settle, startCoffer, valuesOf } from "../support/coffer.mjs"
import { interleave } from "../support/load.mjs"
import { startOpenBao } from "../support/openbao.mjs"
import { bundleOf, compared, readsOf, writesOf } from "../support/requests.mjs"

/** Comparison with OpenBao. Needs `--openbao PATH`, a built `bao`. */
const row = {
  name: "openbao",
  quick: false,
  needs: "openbao",
  run: async (context) => {
    const coffer = await startCoffer(context.folder("openbao-coffer"))
    const scene = await settle(coffer)
    const bao = await startOpenBao(context.openbao, context.folder("openbao"), valuesOf(scene.keys.length))
    try {
      const [read, theirRead, whole] = await interleave(
        [
          { server: coffer, requests: readsOf(scene) },
          { server: bao, requests: bao.reads },
          { server: coffer, requests: bundleOf(scene) }
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
      const theirs = `OpenBao ${bao.version}`
      return [
        compared(`${theirs}: secret read`, "Coffer's", theirRead, read, { target: 2, atLeast: true }),
        compared(`${theirs}: secret write`, "Coffer's", theirWrite, write, { target: 2, atLeast: true }),
        compared(`${theirs}: 100 secret reads`, "Coffer's bundle of 100", theirRead, whole, {
          target: 30,
          times: 1 / scene.keys.length,
          atLeast: true
        })
      ]
    } finally {
      await coffer.stop()
      await bao.stop()
    }
  }
}

export const rows = [row]
