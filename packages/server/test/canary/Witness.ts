import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

const read = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch {
    // It was gone before it could be looked at.
    return Buffer.alloc(0)
  }
}

/** Returns the visible data of a process and its descendants: their arguments and environments. */
const processes = (pid: number): Buffer => {
  const children = read(`/proc/${pid}/task/${pid}/children`).toString().split(" ").filter(Boolean)
  return Buffer.concat([
    read(`/proc/${pid}/cmdline`),
    read(`/proc/${pid}/environ`),
    ...children.map((child) => processes(Number(child)))
  ])
}

/** Looks at the files that come and go beside a server, and at its processes, over and over until it is told to stop. */
export const watch = (pid: number, folders: ReadonlyArray<string>, known: (name: string) => boolean) => {
  const files = new Map<string, Buffer>()
  let seen = processes(pid)
  const look = () => {
    const now = processes(pid)
    if (!now.equals(seen.subarray(seen.length - now.length))) seen = Buffer.concat([seen, now])
    for (const folder of folders.filter((folder) => existsSync(folder))) {
      for (const name of readdirSync(folder)) {
        const path = join(folder, name)
        if (known(name)) continue
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
        if (size > (files.get(path)?.length ?? -1)) files.set(path, read(path))
      }
    }
  }
  const timer = setInterval(look, 3).unref()
  return {
    stop: () => {
      look()
      clearInterval(timer)
      return { files: [...files.entries()], processes: seen }
    }
  }
}
