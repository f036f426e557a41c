import { rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { describeRecipes } from "./Recipes.js"
import { freshFolder, release } from "./Support.js"
import { describeSystemPackages, makePackages } from "./SystemPackages.js"

const folder = freshFolder()
const made = join(folder, "release")

beforeAll(() => release(["--packages", "--out", made]))
afterAll(() => rmSync(folder, { recursive: true }))

describeRecipes(made)

describeSystemPackages(made, async (work) => {
  await makePackages(made, join(work, "packages"))
  return join(work, "packages")
})
