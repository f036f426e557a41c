import { closeSync, openSync, readSync } from "node:fs"

/** How often the index is read, in milliseconds. The log begins again after a checkpoint, at most once in some commits. */
const everyMillis = 2
const frameHeader = 24
/** Offsets in the index of a write-ahead log, see https://sqlite.org/walformat.html */
const offsets = { commits: 8, pageSize: 14, frames: 16, salt: 32 }

/**
 * Counts the commits of a SQLite database and the bytes that they write to its log, whichever process or thread makes them. Reads the
 * index that all connections share, so that the measured server does nothing for it.
 */
export const watchLog = (database) => {
  const file = openSync(`${database}-shm`, "r")
  const header = Buffer.alloc(48)
  const read = () => {
    readSync(file, header, 0, header.length, 0)
    return {
      commits: header.readUInt32LE(offsets.commits),
      frame: header.readUInt16LE(offsets.pageSize) + frameHeader,
      frames: header.readUInt32LE(offsets.frames),
      salt: header.readUInt32LE(offsets.salt)
    }
  }
  let last = read()
  const first = last
  let frames = 0
  const look = () => {
    const now = read()
    frames += now.salt === last.salt ? Math.max(0, now.frames - last.frames) : now.frames
    last = now
  }
  const timer = setInterval(look, everyMillis)
  const counts = () => {
    look()
    return { commits: last.commits - first.commits, walBytes: frames * last.frame }
  }
  return {
    counts,
    /** Stops, and returns the counts. */
    stop: () => {
      clearInterval(timer)
      const found = counts()
      closeSync(file)
      return found
    }
  }
}
