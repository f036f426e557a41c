import { once } from "node:events"
import { createServer } from "node:net"

/** Ports below those that the kernel gives out by itself (from 32768 on), so many for each worker of the tests. */
const ports = { first: 16_384, each: 1_024 }
const mine = ports.first + (Number(process.env["VITEST_POOL_ID"] ?? 0) % 16) * ports.each
let given = Math.floor(Math.random() * ports.each)

/**
 * A port for a program that cannot be asked which one it took. Nobody else is given it before that program listens: of the
 * kernel's own, which are given again at once, two servers had the same in one run of fifty.
 */
export const freePort = async (): Promise<number> => {
  const port = mine + (given++ % ports.each)
  const probe = createServer().listen(port, "127.0.0.1")
  const free = await once(probe, "listening").then(
    () => true,
    () => false
  )
  if (!free) return freePort()
  probe.close()
  await once(probe, "close")
  return port
}
