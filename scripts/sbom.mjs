/**
 * Prints a CycloneDX bill of materials of the production dependencies: npm's own, without development packages. (npm's
 * `--omit dev` also omits production packages that tests need too, such as `effect`.)
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === "cdx:npm:package:development" && value === "true")

const bill = JSON.parse(
  execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
    cwd: fileURLToPath(new URL("../", import.meta.url)),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"]
  })
)

/** npm names our own packages after their folders. */
const ownName = (component) => {
  const ref = component["bom-ref"]
  return /^(@coffer\/|coffer@)/.test(ref) ? { ...component, name: ref.slice(0, ref.lastIndexOf("@")) } : component
}

const components = bill.components.filter((component) => !isDevelopment(component)).map(ownName)
const kept = new Set([bill.metadata.component["bom-ref"], ...components.map((component) => component["bom-ref"])])
const metadata = { ...bill.metadata, component: ownName(bill.metadata.component) }
const dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ dependsOn = [], ref }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))

process.stdout.write(`${JSON.stringify({ ...bill, metadata, components, dependencies }, null, 2)}\n`)
