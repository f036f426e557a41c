import * as Option from "effect/Option"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

const list = Option.liftThrowable(() => readdirSync("/proc/self/fd"))
const link = Option.liftThrowable((descriptor: number) => readlinkSync(`/proc/self/fd/${descriptor}`))
const info = Option.liftThrowable((descriptor: number) => readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))

const closeOnExec = 0o2000000
const accessMode = 0o3

const flagsOf = (descriptor: number): number =>
  Number.parseInt(/^flags:\s*([0-7]+)/m.exec(Option.getOrElse(info(descriptor), () => ""))?.[1] ?? "0", 8)

/** The jobserver of GNU make: both ends of a pipe, which `MAKEFLAGS` names. */
const jobserver = (makeFlags: string): ReadonlyArray<number> =>
  (/--jobserver-(?:auth|fds)=(\d+),(\d+)/.exec(makeFlags) ?? []).slice(1).map(Number)

/**
 * The descriptors above 2 that this process was started with and that Node closes in programs which it starts: Node marks
 * those from 3 up to the first gap above 16. Only Linux reports it. Call before anything opens a socket or a file.
 *
 * @param makeFlags the variable `MAKEFLAGS`.
 */
export const inheritedDescriptors = (makeFlags = ""): ReadonlyArray<number> => {
  const found = Option.getOrElse(list(), () => [])
    .map(Number)
    .filter((descriptor) => descriptor > 2)
    .flatMap((descriptor) => Option.toArray(Option.map(link(descriptor), (target) => ({ descriptor, target }))))
  const named = new Set(jobserver(makeFlags))
  const count = (text: string) => found.filter(({ target }) => target === text).length
  // Node itself has epoll and event descriptors, pipes of which it holds both ends, and /dev/null.
  const isOwn = (target: string, flags: number) =>
    /^anon_inode:\[(?:event|io_uring)/.test(target) ||
    (target.startsWith("pipe:") && count(target) > 1) ||
    (target === "/dev/null" && (flags & accessMode) === 0)
  return found
    .filter(({ descriptor, target }) => {
      const flags = flagsOf(descriptor)
      return (flags & closeOnExec) !== 0 && (named.has(descriptor) || !isOwn(target, flags))
    })
    .map(({ descriptor }) => descriptor)
    .sort((a, b) => a - b)
}
