import * as Option from "effect/Option"
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs"

export type Lookup =
  | {
      readonly type: "found"
      readonly path: string
      /** Neither a program nor a script that names its interpreter: the shell runs it (POSIX, execvp). */
      readonly forShell: boolean
      /** Whether the kernel will surely take it. */
      readonly sure: boolean
    }
  | { readonly type: "not_found" }
  | { readonly type: "not_executable"; readonly path: string; readonly problem: string }

const stat = Option.liftThrowable((path: string) => statSync(path))
const mayExecute = Option.liftThrowable((path: string) => accessSync(path, constants.X_OK))

const open = Option.liftThrowable((path: string) => openSync(path, "r"))

const readHead = (path: string): Option.Option<Buffer> =>
  Option.flatMap(open(path), (descriptor) => {
    const buffer = Buffer.alloc(4096)
    const length = Option.liftThrowable(() => readSync(descriptor, buffer, 0, buffer.length, 0))()
    closeSync(descriptor)
    return Option.map(length, (count) => buffer.subarray(0, count))
  })

const isFile = (path: string) => Option.exists(stat(path), (found) => found.isFile())

const isExecutableFile = (path: string) => isFile(path) && Option.isSome(mayExecute(path))

/** The interpreter of a file without a shebang. */
export const shell = "/bin/sh"

const elf = Buffer.from("\x7fELF", "latin1")

/** Class, byte order and machine of an ELF header: what two programs of one kind of machine share. */
const machine = (head: Buffer) => `${head.subarray(4, 6).toString("hex")}${head.subarray(18, 20).toString("hex")}`

/** The loader that an ELF program asks for (PT_INTERP); "" where it asks for none, none where that is unknown. */
const loader = (head: Buffer): Option.Option<string> => {
  // 64 bits, least byte first: what Node's own machines are.
  if (head.length < 64 || head[4] !== 2 || head[5] !== 1) return Option.none()
  const offset = Number(head.readBigUInt64LE(32))
  const size = head.readUInt16LE(54)
  const count = head.readUInt16LE(56)
  if (size < 56 || offset + size * count > head.length) return Option.none()
  for (let at = offset; at < offset + size * count; at += size) {
    if (head.readUInt32LE(at) !== 3) continue
    const start = Number(head.readBigUInt64LE(at + 8))
    const end = start + Number(head.readBigUInt64LE(at + 32)) - 1
    return end > head.length ? Option.none() : Option.some(head.toString("latin1", start, end))
  }
  return Option.some("")
}

const isElf = (head: Buffer) => head.subarray(0, 4).equals(elf)

/** Mach-O, 64 bits, or for several machines. */
const isMachO = (head: Buffer) => ["cffaedfe", "cafebabe"].includes(head.subarray(0, 4).toString("hex"))

const isScript = (head: Buffer) => head.toString("latin1", 0, 2) === "#!"

const interpreter = (head: Buffer) => /^#![ \t]*([^ \t\n]+)[ \t\n]/.exec(head.toString("latin1", 0, 256))?.[1]

/**
 * Whether the kernel will surely start this file. `process.execve` does not come back when the kernel refuses, so what is
 * not sure is spawned instead.
 */
const isSure = (head: Buffer, depth = 0): boolean => {
  if (isMachO(head)) return process.platform === "darwin"
  if (isElf(head)) {
    const sameMachine = Option.exists(readHead(process.execPath), (node) => machine(node) === machine(head))
    return sameMachine && Option.exists(loader(head), (path) => path === "" || isExecutableFile(path))
  }
  const program = isScript(head) ? interpreter(head) : undefined
  // The kernel follows four scripts, one the interpreter of the other.
  if (program === undefined || depth > 3 || !isExecutableFile(program)) return false
  return Option.exists(readHead(program), (next) => isSure(next, depth + 1))
}

const look = (path: string): Lookup => {
  const found = stat(path)
  if (Option.isNone(found)) return { type: "not_found" }
  if (found.value.isDirectory()) return { type: "not_executable", path, problem: "it is a directory" }
  if (!found.value.isFile()) return { type: "not_executable", path, problem: "it is not a file" }
  if (Option.isNone(mayExecute(path))) {
    return { type: "not_executable", path, problem: "it is not executable; run: chmod +x" }
  }
  return Option.match(readHead(path), {
    // A file can be executable but not readable.
    onNone: () => ({ type: "found", path, forShell: false, sure: false }),
    onSome: (head) => {
      const forShell = !isElf(head) && !isMachO(head) && !isScript(head)
      return {
        type: "found",
        path,
        forShell,
        sure: forShell ? Option.exists(readHead(shell), (sh) => isSure(sh)) : isSure(head)
      }
    }
  })
}

/** Finds a command as `execvp` does, in the PATH that the command itself will see. */
export const findExecutable = (command: string, path: string | undefined): Lookup => {
  if (command === "") return { type: "not_found" }
  if (command.includes("/")) return look(command)
  let best: Lookup = { type: "not_found" }
  for (const directory of (path ?? "/bin:/usr/bin").split(":")) {
    const lookup = look(`${directory === "" ? "." : directory}/${command}`)
    if (lookup.type === "found") return lookup
    if (best.type === "not_found") best = lookup
  }
  return best
}

/** Whether a file that exists was not started because what should run it is missing. */
export const missingInterpreter = (path: string): string | undefined =>
  Option.getOrUndefined(
    Option.map(readHead(path), (head) => {
      const name = isScript(head) ? interpreter(head) : Option.getOrUndefined(loader(head))
      return name === undefined || name === "" || isExecutableFile(name) ? undefined : name
    })
  )
