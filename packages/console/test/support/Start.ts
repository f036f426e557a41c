import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"
import type { TestProject } from "vitest/node"
import { startBuiltServer } from "../../../client/src/testing/BuiltServer.js"
import { freePort } from "../../../server/test/support/Port.js"
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the browser; undefined if there is none for this machine. */
    readonly browser: string | undefined
    readonly server: { readonly url: string; readonly log: string }
  }
}

/** Starts a server whose log goes into a file: login codes are read there. */
export const startServer = async (folder: string, variables: NodeJS.ProcessEnv = {}) => {
  const port = await freePort()
  // A name: browsers give no passkey to an IP address.
  const url = `http://localhost:${port}`
  const log = join(folder, "log")
  const { server } = await startBuiltServer(folder, {
    SERVICE_PORT: String(port),
    SERVICE_PUBLIC_URL: url,
    SUPERADMIN_EMAIL_0: "root@example.com",
    SUPERADMIN_EMAIL_1: "root-of-weights@example.com",
    BACKUP_DIR: folder,
    SERVICE_BROKER: "1",
    SERVICE_TRUSTED_PROXIES: "127.0.0.0/8,::1",
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
    SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8",
    ...variables
  })
  server.err.stream?.pipe(createWriteStream(log))
  return { url, log, stop: () => server.stop() }
}

/** Starts one server and one browser for all tests of the console. */
export const startAll = async (project: TestProject, variables: NodeJS.ProcessEnv = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-console-"))
  const path = chromiumPath()
  const server = await startServer(folder, variables)
  const browser =
    path === undefined ? undefined : await chromium.launchServer({ executablePath: path, args: chromiumFlags })
  project.provide("server", { url: server.url, log: server.log })
  project.provide("browser", browser?.wsEndpoint())
  return async () => {
    await browser?.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export const setup = (project: TestProject) => startAll(project)
