/** The forms of a test run: `npm test`, what CI runs, and `npm run test:soak`. */
const factors = new Map([
  ["fast", 1 / 4],
  ["ci", 1],
  ["soak", 20]
])

const form = process.env["COFFER_RUNS"] ?? "fast"
const factor = factors.get(form)
if (factor === undefined) throw new Error(`COFFER_RUNS is one of ${[...factors.keys()].join(", ")}, and not ${form}`)

/** How often a property runs, by how often it runs in CI: a quarter of it in `npm test`, and 20 times as often in a soak. */
export const runs = (inCi: number): number => Math.ceil(inCi * factor)

/** Whether this is a soak: tests that take minutes each then run too, and others with more load. */
export const isSoak = form === "soak"
