import { failed, type Finding, ok, warning } from "./Finding.js"

const mebibyte = 1024 * 1024

/** A disk with this much free space has enough, however large it is. */
const plenty = 10 * 1024 * mebibyte

/** The bytes of a disk, and of the database on it. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
  readonly database: number
}

/** Judges the free space. A backup, a rotation and a migration each need room for a copy of the database. */
export const judgeSpace = ({ database, free, total }: DiskSpace): Finding => {
  const message = `the disk has ${Math.floor(free / mebibyte)} MiB free, and the database is ${Math.ceil(database / mebibyte)} MiB large`
  if (free < database + 16 * mebibyte) {
    return failed("disk", message, "make room: docs/operations/full-disk.md")
  }
  return (free < total / 4 && free < plenty) || free < 2 * database
    ? warning("disk", message, "make room, or a larger disk, before it is full")
    : ok("disk", message)
}
