import { spawnSync } from "node:child_process"
import { appendFileSync, rmSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { freshFolder } from "../support/Program.js"

/** A disk of a few megabytes, in memory, which a test fills. */
export interface SmallDisk {
  readonly folder: string
  /** Whoever may not mount one cannot fill one. */
  readonly isMounted: boolean
  /** Leaves so many bytes of the disk, about. */
  readonly fill: (spare: number) => void
  readonly free: () => void
  readonly unmount: () => void
}

export const smallDisk = (mebibytes: number): SmallDisk => {
  const folder = freshFolder()
  const size = `size=${mebibytes}m,mode=700`
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", size, "tmpfs", folder]).status === 0
  const filler = join(folder, "filler")
  const free = () => {
    rmSync(filler, { force: true })
  }
  return {
    folder,
    isMounted,
    free,
    fill: (spare) => {
      free()
      try {
        for (;;) appendFileSync(filler, Buffer.alloc(4096))
      } catch {
        // Full now.
      }
      // Nothing is written again: a server that goes on may take what this leaves, never make it fail.
      truncateSync(filler, Math.max(0, statSync(filler).size - spare))
    },
    unmount: () => {
      if (isMounted) spawnSync("umount", ["--lazy", folder])
    }
  }
}
