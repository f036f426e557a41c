/** Compressed copies of the files that the server serves, so that it compresses nothing itself. */
import { writeFile } from "node:fs/promises"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"

/** Smaller files fit into one packet as they are. */
const worthCompressing = 700

/** Writes `{path}.br` and `{path}.gz`. Quality 11 makes brotli ten times slower than 9 does, and its result a tenth smaller. */
export const writeCompressed = async (path, content, quality) => {
  if (content.length < worthCompressing) return
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await Promise.all([
    promisify(brotliCompress)(content, { params }).then((bytes) => writeFile(`${path}.br`, bytes)),
    promisify(gzip)(content, { level: 9 }).then((bytes) => writeFile(`${path}.gz`, bytes))
  ])
}
