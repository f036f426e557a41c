import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const isLong = ({ moduleId }: TestSpecification) => /\.long\.test\.tsx?$/.test(moduleId)

/** Starts a project's long files first: the last file of a project keeps all workers but one waiting. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({ test: { sequence: { sequencer: LongFirst } } })
