import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { basename } from "node:path"
import { must } from "./Support.js"

interface Published {
  readonly name: string
  readonly version: string
}

/** The part of a registry of npm that an installation asks for: a document for each package, and its tarball. */
export const startRegistry = async (tarballs: ReadonlyArray<string>) => {
  const packages = await Promise.all(
    tarballs.map(async (path) => {
      const manifest: Published = JSON.parse(await must("tar", ["-xzOf", path, "package/package.json"]))
      return { manifest, path, integrity: `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}` }
    })
  )
  const asked: Array<string> = []
  const documentOf = (name: string, url: string) => {
    const found = packages.find(({ manifest }) => manifest.name === name)
    if (found === undefined) return undefined
    const { integrity, manifest, path } = found
    const dist = { integrity, tarball: `${url}/tarballs/${basename(path)}` }
    return { name, "dist-tags": { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1)
    asked.push(path)
    const tarball = tarballs.find((one) => path === `tarballs/${basename(one)}`)
    const document = documentOf(path, `http://${request.headers.host}`)
    if (tarball !== undefined) response.end(readFileSync(tarball))
    else if (document !== undefined) response.end(JSON.stringify(document))
    else response.writeHead(404).end("{}")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { asked, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
