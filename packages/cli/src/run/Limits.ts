import * as Option from "effect/Option"
import { readFileSync } from "node:fs"

/** The largest argument or variable that the kernel takes, its end included (MAX_ARG_STRLEN, execve(2)). */
const maxString = 128 * 1024

const read = Option.liftThrowable((path: string) => readFileSync(path, "utf8"))

/** How many bytes of arguments and variables the kernel takes in all: a quarter of the stack's limit, 6 MiB at most (execve(2)). */
export const totalLimit = (): number =>
  Option.match(read("/proc/self/limits"), {
    // Not Linux. macOS takes 1 MiB (its ARG_MAX).
    onNone: () => 1024 * 1024,
    onSome: (text) => {
      const soft = /^Max stack size +(\d+|unlimited)/m.exec(text)?.[1]
      const stack = soft === undefined || soft === "unlimited" ? Infinity : Number(soft)
      return Math.max(128 * 1024, Math.min(stack / 4, 6 * 1024 * 1024))
    }
  })

const bytes = (text: string) => Buffer.byteLength(text) + 1

/** Each string costs its bytes, and a pointer. */
const cost = (text: string) => bytes(text) + 8

/**
 * Why the kernel would not start a command with these arguments and variables, for people; none when it would. Names
 * variables, never their values.
 */
export const sizeProblem = (
  argv: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  limit: number
): Option.Option<string> => {
  const variables = Object.entries(env).map(([name, value]) => ({ name, size: cost(`${name}=${value}`) }))
  const large = variables.filter(({ size }) => size - 8 > maxString).map(({ name }) => name)
  if (large.length > 0) return Option.some(`${large.join(", ")}: no variable can be larger than 128 KiB`)
  const argument = argv.findIndex((text) => bytes(text) > maxString)
  if (argument >= 0) return Option.some(`argument ${argument} of the command is larger than 128 KiB`)
  // The kernel also counts the path and what it puts beside the strings; an interpreter's line may be added.
  const reserve = 8 * 1024
  const total =
    reserve + argv.reduce((sum, text) => sum + cost(text), 0) + variables.reduce((sum, { size }) => sum + size, 0)
  if (total <= limit) return Option.none()
  const largest = variables.sort((a, b) => b.size - a.size).slice(0, 3)
  return Option.some(
    `arguments and environment take ${Math.ceil(total / 1024)} KiB and the system allows ${Math.floor(limit / 1024)} KiB; ` +
      `the largest variables are ${largest.map(({ name }) => name).join(", ")}; choose fewer keys with --only`
  )
}
