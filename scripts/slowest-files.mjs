/** A reporter of vitest: prints the files of tests that took longest, at the end of a run. */
import { relative } from "node:path"

const shown = 20

const secondsOf = (module) => {
  const { collectDuration, duration, setupDuration } = module.diagnostic()
  return (collectDuration + duration + setupDuration) / 1_000
}

export default class SlowestFiles {
  onTestRunEnd(modules) {
    const files = modules
      .map((module) => ({
        seconds: secondsOf(module),
        name: `${module.project.name}  ${relative(process.cwd(), module.moduleId)}`
      }))
      .sort((one, other) => other.seconds - one.seconds)
      .slice(0, shown)
    process.stdout.write(`\nThe slowest files, in seconds:\n`)
    for (const { name, seconds } of files) process.stdout.write(`${seconds.toFixed(1).padStart(7)}  ${name}\n`)
  }
}
