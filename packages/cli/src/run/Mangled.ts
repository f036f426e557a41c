import * as Option from "effect/Option"
import { readFileSync } from "node:fs"

const read = Option.liftThrowable((path: string) => readFileSync(path))

const decode = Option.liftThrowable((bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes))

/** The strings of a file in which each ends with a NUL. */
const strings = (bytes: Buffer) => {
  const found: Array<Buffer> = []
  for (let at = 0; at < bytes.length;) {
    const next = bytes.indexOf(0, at)
    const end = next < 0 ? bytes.length : next
    found.push(bytes.subarray(at, end))
    at = end + 1
  }
  return found
}

const isMangled = (bytes: Buffer) => Option.isNone(decode(bytes))

const argumentsOfProcess = () => strings(Option.getOrElse(read("/proc/self/cmdline"), () => Buffer.alloc(0)))

/** Whether an argument of this process is not UTF-8, where there is a /proc to ask. */
export const hasMangledArgument = (): boolean => argumentsOfProcess().some(isMangled)

/**
 * Names the arguments and variables of this process that are not UTF-8, so that Node would alter them. None if there are
 * none, or no /proc.
 *
 * @param commandLength how many of the last arguments are the command.
 */
export const mangled = (commandLength: number): Option.Option<string> => {
  const position = argumentsOfProcess().slice(-commandLength).findIndex(isMangled)
  if (position === 0) return Option.some("the command's name is not UTF-8: Node cannot pass it on as it is")
  if (position > 0)
    return Option.some(`argument ${position} of the command is not UTF-8: Node cannot pass it on as it is`)
  const variables = strings(Option.getOrElse(read("/proc/self/environ"), () => Buffer.alloc(0)))
  const bad = variables.find(isMangled)
  if (bad === undefined) return Option.none()
  const name = JSON.stringify(bad.subarray(0, Math.max(0, bad.indexOf("="))).toString("utf8"))
  return Option.some(`the environment variable ${name} is not UTF-8: Node cannot pass it on as it is; unset it`)
}
