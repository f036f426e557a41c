import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import type { TestProject } from "vitest/node"
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the browser; undefined if there is none for this machine. */
    readonly browser: string | undefined
    readonly server: { readonly url: string; readonly log: string }
  }
}

const program = fileURLToPath(new URL("../../../server/bin/coffer-server.js", import.meta.url))

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const address = probe.address()
  probe.close()
  await once(probe, "close")
  return typeof address === "object" ? (address?.port ?? 0) : 0
}

/** Starts a server whose log goes into a file: login codes are read there. */
export const startServer = async (folder: string, variables: NodeJS.ProcessEnv = {}) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const log = join(folder, "log")
  const file = openSync(log, "w")
  const child: ChildProcess = spawn(process.execPath, [program], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      SERVICE_MASTER_KEY: "c0ffee".padEnd(64, "0"),
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SMTP_HOST: "log",
      SUPERADMIN_EMAIL_0: "root@example.com",
      BACKUP_DIR: folder,
      SERVICE_BROKER: "1",
      SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
      ...variables
    },
    stdio: ["ignore", "ignore", file]
  })
  closeSync(file)
  while (!readFileSync(log, "utf8").includes("listening on")) {
    if (child.exitCode !== null) throw new Error(readFileSync(log, "utf8"))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const stop = async () => {
    child.kill("SIGTERM")
    if (child.exitCode === null) await once(child, "exit")
  }
  return { url, log, stop }
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
