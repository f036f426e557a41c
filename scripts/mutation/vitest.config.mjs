import { defineConfig } from "vitest/config"
import workspace from "../../vitest.workspace.ts"
import { parts } from "./parts.mjs"

const { resolve, test } = workspace.find((project) => project.test.name === "server")

// The files of one run share their modules. Each run is a new thread, so that a mutant of a constant takes effect.
const poolOptions = { threads: { isolate: false, maxThreads: 1, minThreads: 1 } }

/** A mutant with which a file of tests cannot be loaded is killed. Stryker looks at tests alone, of which such a file has none. */
const loading = {
  onTestRunEnd: (modules) => {
    for (const { task: file } of modules) {
      if (file.tasks.length > 0 || file.result?.state !== "fail") continue
      file.tasks.push({ type: "test", mode: "run", name: "is loaded", file, suite: undefined, result: file.result })
    }
  }
}

/** The tests of one part, in threads, as Stryker demands: these cannot set the umask. */
export default defineConfig({
  test: {
    reporters: [loading],
    projects: [
      {
        resolve,
        test: {
          ...test,
          // A mutant that lets a test wait for ever fails it. Stryker's own limit costs a start of its worker.
          testTimeout: 15_000,
          hookTimeout: 15_000,
          include: parts[process.env.COFFER_MUTATED].tests.map((name) => `test/${name}{,.long}.test.ts`),
          setupFiles: [],
          globalSetup: [],
          poolOptions
        }
      }
    ],
    poolOptions
  }
})
